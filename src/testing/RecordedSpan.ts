/**
 * A span that remembers what was done to it, for assertions. How a whole trace is compared is in `TraceTree`.
 */
import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"

/**
 * How a span ended, or that it has not: `ok` after success, `interrupted` when interruption was the only cause,
 * `error` after any other failure, `open` while it runs.
 */
export type Status = "open" | "ok" | "error" | "interrupted"

/** One event of a span; `time` in nanoseconds since the epoch. */
export interface SpanEvent {
  readonly name: string
  readonly time: bigint
  readonly attributes: Readonly<Record<string, unknown>>
}

/** A native span of Effect (name, kind, parent, attributes, links, times, exit) that also counts how often it was ended. */
export class RecordedSpan extends Tracer.NativeSpan {
  /** How often `end` was called: 1 on a span that is right. */
  endCount = 0

  override end(endTime: bigint, exit: Exit.Exit<unknown, unknown>): void {
    this.endCount++
    super.end(endTime, exit)
  }
}

/** How the span ended. */
export const status = (span: RecordedSpan): Status => {
  if (span.status._tag === "Started") return "open"
  const exit = span.status.exit
  if (Exit.isSuccess(exit)) return "ok"
  return Cause.hasInterruptsOnly(exit.cause) ? "interrupted" : "error"
}

/** The text beside the status of a failed span, as Effect's exporters write it: the message of the first error. */
export const statusDescription = (span: RecordedSpan): string | undefined =>
  span.status._tag === "Ended" && Exit.isFailure(span.status.exit) && status(span) === "error"
    ? Cause.prettyErrors(span.status.exit.cause)[0]?.message
    : undefined

/** The events of the span, in order. */
export const events = (span: RecordedSpan): ReadonlyArray<SpanEvent> =>
  span.events.map(([name, time, attributes]) => ({ name, time, attributes }))

/** The span that this one is a child of, recorded here or not. */
export const parent = (span: RecordedSpan): Tracer.AnySpan | undefined => Option.getOrUndefined(span.parent)

/** What identifies a span. Spans are compared by it, since a parent can be a stand-in for the span that was recorded. */
export const id = (span: Tracer.AnySpan): string => `${span.traceId}/${span.spanId}`
