/**
 * The results that the runtime gives the model in place of a handler's. In upstream's words, where upstream has some.
 */
import * as AiError from "effect/ai/AiError"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as ErrorType from "../signals/ErrorType.ts"
import type { CallResult } from "./RunStore.ts"

const failed = (result: unknown): CallResult => ({ result, isFailure: true })

/** A human, a rule or a timer said no. */
export const denied = (reason: string | undefined): CallResult =>
  failed({ type: "execution-denied", ...(reason !== undefined && { reason }) })

/** It was not run, or was stopped. */
export const interrupted = (reason: string): CallResult => failed({ type: "execution-interrupted", reason })

/** The answer ended before the call was whole. */
export const incomplete = (finishReason: string): CallResult =>
  interrupted(
    `Tool call execution was interrupted because the response finished with reason "${finishReason}"`
  )

/** The runtime will not run it. */
export const refused = (reason: string): CallResult => failed({ type: "execution-refused", reason })

/** It may have run. */
export const unknown: CallResult = failed({
  type: "outcome-unknown",
  error: "ToolOutcomeUnknown",
  reason:
    "The call was started, and nobody recorded how it ended: it may have had its effect, or not. It was not run again. Find out before calling it again"
})

const encodeAiError = Schema.encodeUnknownSync(AiError.AiError)

/** What the toolkit said of a call that never reached its handler, as a tool with failure mode `return` would give it. */
export const fromAiError = (error: AiError.AiError): CallResult => failed(encodeAiError(error))

/** A handler that failed for the program and not for the model: no more than what kind of error it was, and its message. */
export const broken = (error: unknown): CallResult =>
  failed({
    type: "execution-failed",
    error: ErrorType.fromUnknown(error),
    reason: messageOf(error) ?? "The tool failed"
  })

/** The message of an error, without its stack. */
export const messageOf = (error: unknown): string | undefined => {
  try {
    if (typeof error === "string") return error
    return Predicate.hasProperty(error, "message") &&
      typeof error.message === "string" &&
      error.message !== ""
      ? error.message
      : undefined
  } catch {
    return undefined
  }
}
