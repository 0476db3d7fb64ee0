/**
 * The tracer of one call of a model: the tracer in force, but for the span of the turn.
 *
 * Upstream opens that span itself, and under `streamText` it never makes it current. So the span is opened before upstream is called, is
 * current there, and is what upstream gets when it asks for it. It is upstream's span all the same: with its name, its attributes, its end.
 */
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"

type SpanOptions = Parameters<Tracer.Tracer["span"]>[0]

/** What may be answered with another span than a new one. */
export interface Turns {
  /** Name of the span that upstream asks for. */
  readonly spanName: string
  /** The span that is current where upstream asks. */
  readonly current: Tracer.Span
  /** The span to answer with; undefined if it is not the turn's that is asked for. `open` makes a new one. */
  readonly answer: (open: () => Tracer.Span) => Tracer.Span | undefined
}

/** The tracer; `base` makes all other spans, and enters their contexts. */
export const make = (base: Tracer.Tracer, { answer, current, spanName }: Turns): Tracer.Tracer =>
  Tracer.make({
    span: (options) =>
      (options.name === spanName && Option.getOrUndefined(options.parent) === current
        ? answer(() => base.span(beside(current, options)))
        : undefined) ?? base.span(options),
    context: base.context
  })

/** The options of a span that stands where `current` stands. */
const beside = (current: Tracer.Span, options: SpanOptions): SpanOptions => ({
  ...options,
  parent: current.parent
})
