/**
 * The tracer of one call of a model: the tracer in force, but for the span of the turn.
 *
 * Upstream opens that span itself, and under `streamText` it never makes it current. So the span is opened before upstream is called, is
 * current there, and is what upstream gets when it asks for it. It is upstream's span all the same: with its name, its attributes, its end.
 */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
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
  /** Whether the span was asked for. */
  readonly isAnswered: () => boolean
}

const TypeId = "~toolspan/instrumentation/TurnTracer"

/** The tracer; `base` makes all other spans, and enters their contexts. */
export const make = (base: Tracer.Tracer, turns: Turns): Tracer.Tracer =>
  Object.assign(
    Tracer.make({
      span: (options) =>
        (options.name === turns.spanName && Option.getOrUndefined(options.parent) === turns.current
          ? turns.answer(() => base.span(beside(turns.current, options)))
          : undefined) ?? base.span(options),
      context: base.context
    }),
    { [TypeId]: turns }
  )

/** Whether a turn with this span is under way here already, and upstream has not asked for it yet: a model is observed twice. */
export const isAwaited = (
  tracer: Tracer.Tracer,
  spanName: string,
  current: Tracer.AnySpan | undefined
): boolean => {
  if (!Predicate.hasProperty(tracer, TypeId)) return false
  // Nobody else has the key.
  const turns = tracer[TypeId] as Turns
  return turns.spanName === spanName && turns.current === current && !turns.isAnswered()
}

/** The options of a span that stands where `current` stands. */
const beside = (current: Tracer.Span, options: SpanOptions): SpanOptions => ({
  ...options,
  parent: current.parent
})
