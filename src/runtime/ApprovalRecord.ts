/**
 * A request for an approval, as the store keeps it: what exactly is asked for, and how it was decided.
 */
import * as Schema from "effect/Schema"

/** How it was decided. `expired`: nobody did in time, and the call is denied. */
export const Decision = Schema.Literals(["approved", "denied", "expired"])
export type Decision = typeof Decision.Type

/** What was decided. */
export const Decided = Schema.Struct({
  decision: Decision,
  /** Milliseconds since the epoch. */
  at: Schema.Number,
  /** Who decided, as the application's own authentication knows them. */
  approver: Schema.optionalKey(Schema.String),
  reason: Schema.optionalKey(Schema.String)
})
export type Decided = typeof Decided.Type

/** A decision as it is kept. `at`: milliseconds since the epoch. */
export const decided = (
  decision: Decision,
  at: number,
  { approver, reason }: { readonly approver?: string | undefined; readonly reason?: string | undefined }
): Decided => ({
  decision,
  at,
  ...(approver !== undefined && { approver }),
  ...(reason !== undefined && { reason })
})

export const Approval = Schema.Struct({
  approvalId: Schema.String,
  runId: Schema.String,
  conversation: Schema.String,
  agent: Schema.String,
  toolName: Schema.String,
  toolCallId: Schema.String,
  /** The exact parameters, encoded, as the model made them. */
  params: Schema.Unknown,
  /** Milliseconds since the epoch. */
  requestedAt: Schema.Number,
  /** When it expires, if it does. */
  expiresAt: Schema.optionalKey(Schema.Number),
  decided: Schema.optionalKey(Decided)
})
export type Approval = typeof Approval.Type
