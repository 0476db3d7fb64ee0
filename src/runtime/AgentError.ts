/**
 * What the runtime fails with: one error, with a reason that says which.
 *
 * How a run itself ends, limits and failures of tools and models included, is no error but its outcome: see `Outcome.ts`.
 */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"

/** No such agent was given to this runtime. */
export class AgentNotFound extends Schema.TaggedClass<AgentNotFound>()("AgentNotFound", {
  agent: Schema.String,
  known: Schema.Array(Schema.String)
}) {
  get message() {
    return `no agent "${this.agent}" runs here; known: ${this.known.join(", ") || "none"}. Provide the layer of the agent`
  }
}

/** No such run is in the store. */
export class RunNotFound extends Schema.TaggedClass<RunNotFound>()("RunNotFound", { runId: Schema.String }) {
  get message() {
    return `there is no run "${this.runId}" in the store`
  }
}

/** The conversation has another run that has not ended. */
export class ConversationBusy extends Schema.TaggedClass<ConversationBusy>()("ConversationBusy", {
  conversation: Schema.String,
  runId: Schema.String
}) {
  get message() {
    return `conversation "${this.conversation}" is busy: its run "${this.runId}" has not ended. Resume or cancel that one first`
  }
}

/** A run of this id exists, and was begun with something else. */
export class RunMismatch extends Schema.TaggedClass<RunMismatch>()("RunMismatch", {
  runId: Schema.String,
  field: Schema.String
}) {
  get message() {
    return `run "${this.runId}" exists with another ${this.field}: a run id stands for one run. Leave it out, or take another`
  }
}

/** Another worker has the run. */
export class RunBusy extends Schema.TaggedClass<RunBusy>()("RunBusy", { runId: Schema.String }) {
  get message() {
    return `run "${this.runId}" is worked on by another worker`
  }
}

/** Another worker has taken the run over. What this one would write is refused. */
export class Superseded extends Schema.TaggedClass<Superseded>()("Superseded", { runId: Schema.String }) {
  get message() {
    return `run "${this.runId}" was taken over by another worker`
  }
}

/** No such approval is in the store. */
export class ApprovalNotFound extends Schema.TaggedClass<ApprovalNotFound>()("ApprovalNotFound", {
  approvalId: Schema.String
}) {
  get message() {
    return `there is no approval "${this.approvalId}" in the store`
  }
}

/** The approval was decided before; the first decision stands. */
export class AlreadyDecided extends Schema.TaggedClass<AlreadyDecided>()("AlreadyDecided", {
  approvalId: Schema.String,
  decision: Schema.Literals(["approved", "denied", "expired"]),
  approver: Schema.optionalKey(Schema.String)
}) {
  get message() {
    const by = this.approver === undefined ? "" : ` by ${this.approver}`
    return `approval "${this.approvalId}" was ${this.decision} before${by}: the first decision stands`
  }
}

/** What was to be decided is not what was asked for. */
export class DecisionMismatch extends Schema.TaggedClass<DecisionMismatch>()("DecisionMismatch", {
  approvalId: Schema.String,
  field: Schema.String
}) {
  get message() {
    const other = this.field === "arguments" ? "other arguments" : `another ${this.field}`
    return `approval "${this.approvalId}" is for ${other} than the decision: look at it again, and decide on what it asks for`
  }
}

/** The store has no call of this id whose outcome is unknown. */
export class CallNotUnknown extends Schema.TaggedClass<CallNotUnknown>()("CallNotUnknown", {
  conversation: Schema.String,
  toolCallId: Schema.String
}) {
  get message() {
    return `conversation "${this.conversation}" has no call "${this.toolCallId}" whose outcome is unknown`
  }
}

/** The store failed. */
export class StoreFailed extends Schema.TaggedClass<StoreFailed>()("StoreFailed", {
  operation: Schema.String,
  cause: Schema.Defect()
}) {
  get message() {
    const said = Predicate.hasProperty(this.cause, "message")
      ? String(this.cause.message)
      : String(this.cause)
    return `the store failed (${this.operation}): ${said}`
  }
}

/** Any reason. */
export type Reason = typeof Reason.Type
export const Reason = Schema.Union([
  AgentNotFound,
  RunNotFound,
  ConversationBusy,
  RunMismatch,
  RunBusy,
  Superseded,
  ApprovalNotFound,
  AlreadyDecided,
  DecisionMismatch,
  CallNotUnknown,
  StoreFailed
])

/** The error of the runtime. */
export class AgentError extends Schema.TaggedError<AgentError>()("AgentError", { reason: Reason }) {
  override get message() {
    return this.reason.message
  }
}

/** Whether this is the error, for that reason. */
export const is = (error: unknown, reason: Reason["_tag"]): error is AgentError =>
  error instanceof AgentError && error.reason._tag === reason
