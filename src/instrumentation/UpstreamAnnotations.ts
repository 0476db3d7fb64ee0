/**
 * Keeps upstream's two writes off every span.
 *
 * `Toolkit.handle` annotates the current span with the raw call: `tool` (the name) and, next, `parameters`. Unredacted, and with parallel
 * calls the last one wins. While `handle` runs, that pair does not reach the span, however often it comes (a caller may retry) and whatever
 * was made of the parameters before. The handler runs after `handle`: its own annotations stay, whatever their keys.
 */
import * as Predicate from "effect/Predicate"
import type * as Tracer from "effect/Tracer"

type Write = (key: string, value: unknown) => void

/** The `attribute` method of a span under which calls are being handled. */
interface Guard extends Write {
  /** The tools of these calls. One span can be the current one of many. */
  readonly tools: Array<string>
  /** Gives the span its own method back. */
  readonly remove: () => void
}

/**
 * Guards the span until the function that is returned is called for the first time. Undefined if the span cannot be changed (a frozen
 * one): then upstream must not see it.
 */
export const guard = (span: Tracer.Span, toolName: string): (() => void) | undefined => {
  const { attribute } = span
  const installed = isGuard(attribute) ? attribute : install(span)
  if (installed === undefined) return undefined
  const { remove, tools } = installed
  tools.push(toolName)
  let guarding = true
  return () => {
    if (!guarding) return
    guarding = false
    tools.splice(tools.indexOf(toolName), 1)
    if (tools.length === 0) remove()
  }
}

const isGuard = (write: Write): write is Guard => Predicate.hasProperty(write, "tools")

const install = (span: Tracer.Span): Guard | undefined => {
  const { attribute } = span
  const tools: Array<string> = []
  let toolWritten = false
  const write: Write = (key, value) => {
    const isPair = toolWritten && key === "parameters"
    toolWritten = key === "tool" && typeof value === "string" && tools.includes(value)
    if (!isPair && !toolWritten) attribute.call(span, key, value)
  }
  const guard: Guard = Object.assign(write, {
    tools,
    remove: () => {
      // Somebody may have put a method of theirs on top meanwhile.
      if (span.attribute === guard) span.attribute = attribute
    }
  })
  try {
    span.attribute = guard
    return guard
  } catch {
    return undefined
  }
}
