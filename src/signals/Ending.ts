/**
 * How a tool call ended, read from what `handle` and its result stream gave: the outcomes of the telemetry contract.
 */

import * as AiError from "effect/ai/AiError"
import type * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import type { ToolOutcome } from "../semconv/Attributes.ts"
import * as ErrorType from "./ErrorType.ts"

/** The end of a call. `failure` is there for the outcomes that count as errors. */
export interface Ending {
  readonly outcome: ToolOutcome
  readonly failure: Failure | undefined
}

/** A failed call. */
export interface Failure {
  readonly errorType: string
  readonly origin: Tool.FailureOrigin | undefined
  /** What failed: content, so only for the content policy. */
  readonly error: unknown
}

/** A final result that is no failure. */
export const success: Ending = { outcome: "success", failure: undefined }
/** Interrupted from outside before its final result. */
export const cancelled: Ending = { outcome: "cancelled", failure: undefined }
/** Its consumer stopped reading before the final result. */
export const abandoned: Ending = { outcome: "abandoned", failure: undefined }

/** It waits for an approval, or was cut off, before it began. */
export const notStarted: Ending = { outcome: "not_started", failure: undefined }

/** The part of a `Tool.HandlerResult` that says how the call went. */
export interface Result {
  readonly result: unknown
  readonly encodedResult: unknown
  readonly isFailure: boolean
  readonly failureOrigin?: Tool.FailureOrigin
  readonly preliminary: boolean
}

/** The end that a final result means: with failure mode `"return"`, failures come as results. */
export const fromResult = (result: Result): Ending =>
  result.isFailure ? failed(result.result, result.failureOrigin ?? "handler") : success

/** The end that a failed `handle`, or a failed result stream, means. */
export const fromCause = (cause: Cause.Cause<unknown>): Ending => {
  let interrupted = false
  let defect: Cause.Die | undefined
  for (const reason of cause.reasons) {
    switch (reason._tag) {
      case "Fail":
        return failed(reason.error, originOf(reason))
      case "Die":
        defect ??= reason
        break
      case "Interrupt":
        interrupted = true
    }
  }
  if (defect === undefined && interrupted) return cancelled
  const error = defect?.defect
  return { outcome: "defect", failure: { errorType: ErrorType.fromUnknown(error), origin: undefined, error } }
}

const failed = (error: unknown, origin: Tool.FailureOrigin | undefined): Ending => ({
  outcome: outcomeOf(error, origin),
  failure: { errorType: ErrorType.fromUnknown(error), origin, error }
})

const outcomeOf = (error: unknown, origin: Tool.FailureOrigin | undefined): ToolOutcome => {
  switch (origin) {
    case "parameters":
      return "invalid_arguments"
    case "result":
      return "invalid_result"
    case "handler":
      return "failure"
    case undefined:
      return reasonTag(error) === "ToolNotFoundError" ? "unknown_tool" : "failure"
  }
}

/**
 * Upstream annotates where most failures come from. Where the annotation is missing, or was lost on the way through somebody's code, the
 * failure tells: these reasons are upstream's own, and everything else is the handler's.
 */
const originOf = (reason: Cause.Fail<unknown>): Tool.FailureOrigin | undefined => {
  const annotations = Cause.reasonAnnotations(reason)
  if (annotations.mapUnsafe.has(Toolkit.FailureOrigin.key))
    return Context.get(annotations, Toolkit.FailureOrigin)
  switch (reasonTag(reason.error)) {
    case "ToolNotFoundError":
      return undefined
    case "ToolParameterValidationError":
      return "parameters"
    case "InvalidToolResultError":
    case "ToolResultEncodingError":
      return "result"
    default:
      return "handler"
  }
}

const reasonTag = (error: unknown): string | undefined =>
  AiError.isAiError(error) ? error.reason._tag : undefined
