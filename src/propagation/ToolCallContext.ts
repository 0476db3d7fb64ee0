/**
 * The stamp: where in a trace, and when, a model asked for a tool call. It is written on the tool-call part and travels with the
 * conversation, through JSON and any store, so that a call that runs days later in another process is traced where it was asked for.
 *
 * The stamp is `toolspan: { traceparent, tracestate?, requestedAt }` among the options of a part of a prompt, which are the metadata of the
 * part of a response. Other entries are untouched. Reading never throws, and says why there is nothing to read: the caller counts.
 */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Tracer from "effect/Tracer"
import type { Origin } from "./Origin.ts"
import * as TraceContext from "./TraceContext.ts"

/** The key of the stamp among the options of a part. */
export const KEY = "toolspan"

/** What a stamp says. */
export interface ToolCallContext {
  /** The span of the turn that asked. */
  readonly span: Tracer.ExternalSpan
  /** When it asked, in milliseconds since the epoch. */
  readonly requestedAt: number
}

/** Why a stamp says nothing: there is none, or it is none of ours. */
export type Unreadable = "no_stamp" | "bad_stamp"

/** A stamp, as JSON. */
export interface Stamp extends TraceContext.TraceContext {
  /** ISO 8601, UTC, in milliseconds. */
  readonly requestedAt: string
}

/** The stamp of a call that the turn of this span asks for now (`now`: milliseconds since the epoch). Undefined if it is in no trace. */
export const stamp = (turn: Tracer.AnySpan, now: number): Stamp | undefined => {
  const context = TraceContext.fromSpan(turn)
  return context && { ...context, requestedAt: new Date(now).toISOString() }
}

/** Reads the stamp from the options of a tool-call part. */
export const read = (
  options: Readonly<Record<string, unknown>> | undefined
): Result.Result<ToolCallContext, Unreadable> => {
  try {
    if (options === undefined || !Object.hasOwn(options, KEY)) return Result.fail("no_stamp")
    const found = options[KEY]
    if (!Predicate.hasProperty(found, "traceparent")) return Result.fail("bad_stamp")
    const span = TraceContext.toSpan(found)
    const requestedAt = Predicate.hasProperty(found, "requestedAt") ? time(found.requestedAt) : undefined
    return span === undefined || requestedAt === undefined
      ? Result.fail("bad_stamp")
      : Result.succeed({ span, requestedAt })
  } catch {
    return Result.fail("bad_stamp")
  }
}

/**
 * The origin of a call, from its part in a prompt or a response: to be provided as `Origin.ToolCallOrigin` around `handle` by a loop that
 * resolves calls itself. Undefined if the part has no stamp.
 */
export const origin = (part: {
  readonly options?: Readonly<Record<string, unknown>>
  readonly metadata?: Readonly<Record<string, unknown>>
}): Origin | undefined => {
  try {
    const found = read(part.options ?? part.metadata)
    return Result.isSuccess(found) ? { parent: found.success.span } : undefined
  } catch {
    return undefined
  }
}

const isoTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?Z$/

/** Milliseconds since the epoch, of an ISO 8601 time in UTC that is after it. */
export const time = (value: unknown): number | undefined => {
  if (typeof value !== "string" || value.length > 32 || !isoTime.test(value)) return undefined
  const millis = Date.parse(value)
  return millis >= 0 ? millis : undefined
}
