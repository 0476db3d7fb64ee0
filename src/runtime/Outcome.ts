/**
 * How a run stands when a stretch of it ends: finished, waiting for approvals, at a limit, failed or cancelled.
 */
import * as Schema from "effect/Schema"
import { Approval } from "./ApprovalRecord.ts"

/** The limits of a run, each of which ends it: see `Limits.ts`. */
export const LimitName = Schema.Literals(["turns", "toolCalls", "tokens", "duration"])
export type LimitName = typeof LimitName.Type

/** What the run has used so far. */
export const Usage = Schema.Struct({
  /** Answers of the model. */
  turns: Schema.Int,
  /** Calls of tools that the model made and the client ran, answered or refused. */
  toolCalls: Schema.Int,
  /** Tokens, as far as the provider told. */
  inputTokens: Schema.Int,
  outputTokens: Schema.Int,
  /** Milliseconds in which the run was worked on; waiting does not count. */
  activeMillis: Schema.Number
})
export type Usage = typeof Usage.Type

const common = { runId: Schema.String, conversation: Schema.String, usage: Usage }

/** The model answered without calling a tool. */
export const Finished = Schema.TaggedStruct("Finished", {
  ...common,
  /** The text of its last answer. */
  text: Schema.String,
  /** Why the model stopped: `stop`, or `length`, `content-filter` … where the answer is incomplete. */
  finishReason: Schema.String
})

/** Calls of the last turn wait for decisions. Other calls of that turn have run. */
export const Waiting = Schema.TaggedStruct("Waiting", { ...common, approvals: Schema.Array(Approval) })

/** The run used what it was allowed to. Its conversation is whole: every call has a result. */
export const LimitReached = Schema.TaggedStruct("LimitReached", { ...common, limit: LimitName })

/** The model failed, or a tool with failure mode `error` did, or the tool died. */
export const Failed = Schema.TaggedStruct("Failed", {
  ...common,
  error: Schema.Struct({
    /** The reason's tag of an `AiError`, else the tag or class of the error. */
    type: Schema.String,
    message: Schema.String
  })
})

/** It was told to stop. */
export const Cancelled = Schema.TaggedStruct("Cancelled", common)

export const Outcome = Schema.Union([Finished, Waiting, LimitReached, Failed, Cancelled])
export type Outcome = typeof Outcome.Type
export type Waiting = typeof Waiting.Type
