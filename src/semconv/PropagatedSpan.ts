/**
 * Which span is the parent of a new one.
 *
 * Both who opens a span and who makes it active for OpenTelemetry ask this, so it stands in the room that both may import.
 */
import * as Context from "effect/Context"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"

/** The span itself, or its nearest ancestor, that takes part in traces, as upstream finds the parent of a new span. */
export const propagated = (span: Tracer.AnySpan | undefined): Tracer.AnySpan | undefined => {
  let current = span
  while (current !== undefined && Context.get(current.annotations, Tracer.DisablePropagation)) {
    current = current._tag === "Span" ? Option.getOrUndefined(current.parent) : undefined
  }
  return current
}
