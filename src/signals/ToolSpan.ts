/**
 * Opens a span, of a tool call or of what is around it, on whatever tracer is in force.
 *
 * Follows what `Effect.withSpan` does with the references of its scope (annotations, links, levels, timing), and adds two things: the
 * attributes are there when the span is created (for samplers, with the tracer of `sdk/`; other tracers get them right after), and a
 * tracer that throws costs the span, not the call.
 */
import * as Context from "effect/Context"
import type * as Fiber from "effect/Fiber"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import * as References from "effect/References"
import * as Tracer from "effect/Tracer"
import { InitialAttributes, StartAttributes } from "../semconv/SpanStart.ts"

/**
 * The tracer that records for somebody, or undefined: tracing is off, or there is only Effect's default tracer, whose spans nobody
 * reads.
 */
export const activeTracer = (fiber: Fiber.Fiber<unknown, unknown>): Tracer.Tracer | undefined => {
  const { tracer, tracerEnabled } = fiber.cache
  return tracerEnabled && tracer !== Tracer.nativeTracer ? tracer : undefined
}

/** What a span begins with. */
export interface Start {
  readonly name: string
  readonly kind: Tracer.SpanKind
  readonly parent: Tracer.AnySpan | undefined
  readonly link: Tracer.AnySpan | undefined
  /** In nanoseconds since the epoch. */
  readonly startTime: bigint
  readonly attributes: StartAttributes["attributes"]
}

/** Opens the span, in the scope that `context` is of. Undefined when the tracer throws. */
export const open = (
  tracer: Tracer.Tracer,
  context: Context.Context<never>,
  { attributes, kind, link, name, parent, startTime }: Start
): Tracer.Span | undefined => {
  const start = new StartAttributes(attributes)
  const scoped = Context.get(context, References.TracerSpanLinks)
  let span: Tracer.Span
  try {
    span = tracer.span({
      name,
      parent: parent === undefined ? Option.none() : Option.some(parent),
      annotations: Context.add(noAnnotations, InitialAttributes, start),
      links: link === undefined ? scoped.slice() : [...scoped, { span: link, attributes: {} }],
      startTime,
      kind,
      root: false,
      sampled:
        parent?.sampled !== false &&
        !LogLevel.isGreaterThan(
          Context.get(context, Tracer.MinimumTraceLevel),
          Context.get(context, Tracer.CurrentTraceLevel)
        )
    })
  } catch {
    return undefined
  }
  setAll(span, Context.get(context, References.TracerSpanAnnotations))
  if (!start.taken) setAll(span, attributes)
  return span
}

/** Adding to it makes no map, as `Context.make` would for each span. */
const noAnnotations = Context.empty()

const setAll = (span: Tracer.Span, attributes: Readonly<Record<string, unknown>>): void => {
  try {
    for (const key in attributes) span.attribute(key, attributes[key])
  } catch {
    // The rest is lost with a tracer that throws; the span is open, and will be ended.
  }
}

/** A span whose events nobody reads: for whoever has no other, when nobody traces. */
export const unread = (name: string): Tracer.Span =>
  Tracer.nativeTracer.span({
    name,
    parent: Option.none(),
    annotations: noAnnotations,
    links: [],
    startTime: 0n,
    kind: "internal",
    root: true,
    sampled: false
  })
