/**
 * The approvals of a store: which wait, and the decisions on them, from any process that has the store.
 *
 * Decide where you have authenticated who decides: nothing that a model or a tool says gets here.
 */
import * as Effect from "effect/Effect"
import type { AgentError } from "./AgentError.ts"
import type { Approval } from "./ApprovalRecord.ts"
import * as CanonicalJson from "./CanonicalJson.ts"
import { RunStore } from "./RunStore.ts"

/** What is said of a decision. */
export interface By {
  /** Who decided, as your own authentication knows them. Left out: not known, or nobody (a rule, a timer). */
  readonly approver?: string | undefined
  /** Why. The model is told the reason of a denial. */
  readonly reason?: string | undefined
}

/** The approvals that wait, oldest first. */
export const pending: Effect.Effect<ReadonlyArray<Approval>, AgentError, RunStore> = Effect.flatMap(
  RunStore,
  (store) => store.pending
)

/** One approval, decided or not. `ApprovalNotFound`. */
export const get = (approvalId: string): Effect.Effect<Approval, AgentError, RunStore> =>
  Effect.flatMap(RunStore, (store) => store.approval(approvalId))

/**
 * Lets the call run. Given the approval as it was shown to whoever decides, the decision is for exactly that tool and those arguments.
 *
 * Fails with `AlreadyDecided` (the first decision stands; one that has expired is decided), `DecisionMismatch` or `ApprovalNotFound`.
 */
export const approve = (
  approval: Approval | string,
  by: By = {}
): Effect.Effect<Approval, AgentError, RunStore> => decide("approved", approval, by)

/** Refuses the call: the model gets the result `execution-denied`, with the reason. Fails as {@link approve} does. */
export const deny = (
  approval: Approval | string,
  by: By = {}
): Effect.Effect<Approval, AgentError, RunStore> => decide("denied", approval, by)

const decide = (decision: "approved" | "denied", approval: Approval | string, { approver, reason }: By) =>
  Effect.flatMap(RunStore, (store) =>
    typeof approval === "string"
      ? store.decide(approval, { decision, approver, reason })
      : store.decide(approval.approvalId, {
          decision,
          approver,
          reason,
          toolName: approval.toolName,
          arguments: CanonicalJson.stringify(approval.params)
        })
  )
