/**
 * What happens in a run, in its order: the elements of the stream that `Agent.run` gives.
 *
 * All but the deltas are kept by a durable store, so that an observer elsewhere sees them, too.
 */
import * as Schema from "effect/Schema"
import { Approval, Decision } from "./ApprovalRecord.ts"
import { Outcome } from "./Outcome.ts"

/** A piece of the model's text. Only where the run is worked on. */
export const TextDelta = Schema.TaggedStruct("TextDelta", { delta: Schema.String })
/** A piece of the model's reasoning. Only where the run is worked on. */
export const ReasoningDelta = Schema.TaggedStruct("ReasoningDelta", { delta: Schema.String })

/** The model has answered. Its tool calls come next. */
export const TurnFinished = Schema.TaggedStruct("TurnFinished", {
  /** From 1. */
  turn: Schema.Int,
  text: Schema.String,
  finishReason: Schema.String,
  toolCalls: Schema.Int
})

const call = { toolCallId: Schema.String, toolName: Schema.String }

/** A call is handed to its handler. */
export const ToolCallStarted = Schema.TaggedStruct("ToolCallStarted", {
  ...call,
  params: Schema.Unknown,
  /** From 1. */
  attempt: Schema.Int
})

/** A preliminary result, encoded. Only where the run is worked on. */
export const ToolCallProgress = Schema.TaggedStruct("ToolCallProgress", { ...call, result: Schema.Unknown })

/** A call has its result, encoded: of its handler, of an earlier run of it, or in place of one. */
export const ToolCallFinished = Schema.TaggedStruct("ToolCallFinished", {
  ...call,
  result: Schema.Unknown,
  isFailure: Schema.Boolean,
  /** The result was stored before; the handler did not run again. */
  replayed: Schema.Boolean
})

/** A call needs an approval. */
export const ApprovalAsked = Schema.TaggedStruct("ApprovalAsked", { approval: Approval })

/** An approval was decided, and the run acts on it. */
export const ApprovalDecided = Schema.TaggedStruct("ApprovalDecided", {
  ...call,
  approvalId: Schema.String,
  decision: Decision,
  approver: Schema.optionalKey(Schema.String)
})

/** The stretch is over; always the last one. */
export const Ended = Schema.TaggedStruct("Ended", { outcome: Outcome })

/** The events that a store keeps. */
export const Stored = Schema.Union([
  TurnFinished,
  ToolCallStarted,
  ToolCallFinished,
  ApprovalAsked,
  ApprovalDecided,
  Ended
])
export type Stored = typeof Stored.Type

/** One of them, with its number among those of its run: from 1. */
export interface Numbered {
  readonly number: number
  readonly event: Stored
}

/** The events that only somebody who looks on where the run is worked on is told of. */
export type Passing = typeof TextDelta.Type | typeof ReasoningDelta.Type | typeof ToolCallProgress.Type

export type AgentEvent = Stored | Passing
