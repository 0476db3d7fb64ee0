/**
 * Hears of the events and the end of a span that somebody else made.
 *
 * A wrapper around the span would break its maker, who knows its own spans by class, symbol or private field. So the span stays the
 * object that it is, and two methods of this one instance are replaced: each calls the original first, with the same `this`, and gives
 * back what it gave.
 */
import type * as Exit from "effect/Exit"
import type * as Tracer from "effect/Tracer"
import { quietly } from "./Quietly.ts"

/** What is heard, up to the first end. What a listener throws is swallowed. */
export interface SpanListener {
  readonly onEvent: (name: string, attributes: Readonly<Record<string, unknown>> | undefined) => void
  readonly onEnd: (exit: Exit.Exit<unknown, unknown>) => void
}

/** Starts listening. False if the span does not allow it (it is frozen): it is then left as it was. */
export const listen = (span: Tracer.Span, listener: SpanListener): boolean => {
  const { end, event } = span
  // Let go of at the end: a program may hold its spans for long.
  let hearing: SpanListener | undefined = listener
  const replaced = replace(span, "end", function (this: Tracer.Span, ...args) {
    const returned = end.apply(this, args)
    const told = hearing
    hearing = undefined
    quietly(() => told?.onEnd(args[1]))
    return returned
  })
  if (!replaced) return false
  replace(span, "event", function (this: Tracer.Span, ...args) {
    const returned = event.apply(this, args)
    quietly(() => hearing?.onEvent(args[0], args[2]))
    return returned
  })
  return true
}

/** Not enumerable, so that copies and comparisons of the span are the same as before. False where the property cannot be set. */
const replace = <K extends "end" | "event">(span: Tracer.Span, name: K, value: Tracer.Span[K]): boolean =>
  Reflect.defineProperty(span, name, { value, configurable: true, writable: true, enumerable: false })
