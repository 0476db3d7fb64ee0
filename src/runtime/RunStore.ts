/**
 * What the runtime keeps of runs: conversations, calls, approvals, events. The truth that every worker goes by.
 *
 * Two implementations: `MemoryRunStore.ts` and `SqlRunStore.ts`. Every write of a worker names the epoch under which it took the run; a
 * worker whose run was taken by another is refused ({@link AgentError} `Superseded`). A call is recorded as started, and that is committed,
 * before its handler runs.
 */
import * as Prompt from "effect/ai/Prompt"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { type AgentError, AlreadyDecided, DecisionMismatch, RunMismatch } from "./AgentError.ts"
import type { Numbered } from "./AgentEvent.ts"
import type { Approval, Decision } from "./ApprovalRecord.ts"
import * as CanonicalJson from "./CanonicalJson.ts"
import { type Outcome, Usage } from "./Outcome.ts"

/** A place in a trace, as `propagation/TraceContext.ts` reads and writes it. */
export const Trace = Schema.Struct({
  traceparent: Schema.String,
  tracestate: Schema.optionalKey(Schema.String)
})
export type Trace = typeof Trace.Type

/** The result of a call, encoded, as it stands in the conversation. */
export const CallResult = Schema.Struct({
  result: Schema.Unknown,
  isFailure: Schema.Boolean,
  modelOutput: Schema.optionalKey(Schema.Array(Prompt.ToolModelOutputPart))
})
export type CallResult = typeof CallResult.Type

/** What a run carries from one stretch to the next. */
export const Progress = Schema.Struct({
  usage: Usage,
  /** How many stretches have begun. */
  stretches: Schema.Int,
  /** The span that `run` was called under. */
  caller: Schema.optionalKey(Trace),
  /** The spans of the first and of the latest stretch. */
  first: Schema.optionalKey(Trace),
  latest: Schema.optionalKey(Trace),
  /** Results of calls of the open turn, by their place in it: it is over, for the conversation, when all are there. */
  settled: Schema.Record(Schema.String, CallResult),
  /** Approvals that were asked for in the open turn, by the place of their call. */
  asked: Schema.Record(Schema.String, Schema.String)
})
export type Progress = typeof Progress.Type

/** `ready`: begun, or decided upon, and to be worked on. */
export type Status = "ready" | "running" | "waiting" | "ended"

export interface Run {
  readonly runId: string
  readonly conversation: string
  readonly agent: string
  readonly status: Status
  /** Grows each time a worker takes the run. */
  readonly epoch: number
  readonly progress: Progress
  /** How its latest stretch ended. */
  readonly outcome: Outcome | undefined
  /** Somebody wants it to stop. */
  readonly cancelled: boolean
}

/** A new run. */
export interface NewRun {
  readonly runId: string
  readonly conversation: string
  readonly agent: string
  /** What is said to the agent: appended to the conversation. */
  readonly messages: ReadonlyArray<Prompt.Message>
  readonly caller: Trace | undefined
  /** Approvals of calls that are open in `messages`, some of them decided; and which call, by its place among the open ones, each is for. */
  readonly approvals?: ReadonlyArray<Approval> | undefined
  readonly asked?: Progress["asked"] | undefined
}

/** What a worker that wants a run is given. */
export interface Claim {
  readonly run: Run
  /** Whether the run is in its hands now. If not, `run` says why. */
  readonly taken: boolean
  /** The status that it was found in; `running` and taken: the worker before was lost. */
  readonly found: Status
  readonly messages: ReadonlyArray<Prompt.Message>
  /** All approvals of the run. */
  readonly approvals: ReadonlyArray<Approval>
  /** Number of the last event that is stored of the run; 0 if none is. */
  readonly lastEvent: number
}

/** What a worker writes at once. */
export interface Change {
  readonly progress: Progress
  readonly status: Status
  readonly outcome?: Outcome | undefined
  /** Appended to the conversation. */
  readonly messages?: ReadonlyArray<Prompt.Message> | undefined
  readonly approvals?: ReadonlyArray<Approval> | undefined
  readonly events?: ReadonlyArray<Numbered> | undefined
}

/** One call: the four that make the key. */
export interface CallKey {
  readonly conversation: string
  readonly toolCallId: string
  readonly toolName: string
  /** Canonical JSON: see `CanonicalJson.ts`. */
  readonly arguments: string
}

/** What the store says to a worker that wants to run a call. */
export type Begun =
  /** It is recorded as started by this worker: run it. */
  | { readonly _tag: "Run"; readonly attempt: number }
  /** It has run: here is its result. */
  | { readonly _tag: "Replay"; readonly result: CallResult }
  /** The id stands for another call. */
  | { readonly _tag: "Conflict"; readonly toolName: string; readonly arguments: string }
  /** Somebody else is running it, for as long as its lease lasts or is renewed. */
  | { readonly _tag: "Busy" }
  /** Somebody began it, and was lost. `attempt` is the lost one. */
  | { readonly _tag: "Lost"; readonly attempt: number; readonly startedAt: number }

/** How a worker stands with its run. */
export type Standing = "holds" | "superseded" | "cancelled"

/** A call whose outcome is not known. */
export interface UnknownCall extends CallKey {
  readonly runId: string
  readonly startedAt: number
  readonly attempt: number
  /** What the operator said of it, once one has. */
  readonly resolved: CallResult | undefined
}

/** What a decision says. */
export interface Verdict {
  readonly decision: Decision
  readonly approver?: string | undefined
  readonly reason?: string | undefined
  /** What the one who decides has seen; where given, it must be what was asked for. */
  readonly toolName?: string | undefined
  readonly arguments?: string | undefined
}

/** Whose runs are asked for. */
export type Of = { readonly agent: string } | { readonly conversation: string }

export interface Service {
  /** Whether another process may see what is written: then leases are kept, and events stored. */
  readonly isShared: boolean
  /** How long a lease lasts, in milliseconds, if it is not renewed. */
  readonly leaseMillis: number

  /**
   * Records a new run, once for its id: a run that exists with the same agent and conversation is returned as it is (`RunMismatch` if they
   * differ). `ConversationBusy` while another run of the conversation has not ended.
   */
  readonly begin: (run: NewRun) => Effect.Effect<Run, AgentError>
  /** `RunNotFound`. */
  readonly get: (runId: string) => Effect.Effect<Run, AgentError>
  /**
   * Takes a run to work on it: status `running`, the next epoch, a new lease. Not taken, and given as it is: an ended run, a waiting one of
   * which nothing is decided (nor cancelled), and a running one whose worker's lease is not over (where the store is not shared: that was
   * not released).
   */
  readonly claim: (runId: string) => Effect.Effect<Claim, AgentError>
  /** Writes, all or nothing. `Superseded`. */
  readonly commit: (runId: string, epoch: number, change: Change) => Effect.Effect<void, AgentError>
  /** Renews the lease of the run and of its calls that this worker runs; says how it stands. */
  readonly renew: (runId: string, epoch: number) => Effect.Effect<Standing, AgentError>
  /** Lets go of a run that this worker can't work on any more: its lease, and those of its calls, are over. Others see it as lost. */
  readonly release: (runId: string, epoch: number) => Effect.Effect<void, AgentError>
  /** Asks that a run stops; false if it has ended. A run that nobody works on becomes `ready`, so that a worker ends it. */
  readonly cancel: (runId: string) => Effect.Effect<boolean, AgentError>
  /**
   * The runs of these agents that a worker should take: ready ones; waiting ones of which an approval was decided, or has expired (and is
   * now recorded as such); running ones whose lease is over.
   */
  readonly due: (agents: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<Run>, AgentError>
  /** The runs of an agent, or of a conversation (one at most), that have not ended. */
  readonly unfinished: (of: Of) => Effect.Effect<ReadonlyArray<Run>, AgentError>
  /** The conversation so far. Empty if there is none. */
  readonly messages: (conversation: string) => Effect.Effect<ReadonlyArray<Prompt.Message>, AgentError>
  /** Stored events of a run after the given number, which is 0 for all. */
  readonly events: (runId: string, after: number) => Effect.Effect<ReadonlyArray<Numbered>, AgentError>

  /**
   * Records that a call starts, unless it did before. `rerun`: the lost attempt that this one is made in place of, for a tool that may run
   * again; or for the next attempt of a retry. `Superseded`.
   */
  readonly beginCall: (
    runId: string,
    epoch: number,
    call: CallKey,
    rerun?: number | undefined
  ) => Effect.Effect<Begun, AgentError>
  /**
   * Records the result of an attempt: false if it no longer counts, since the call was given up for lost. Not refused to a worker that was
   * superseded: what it knows is the truth.
   */
  readonly endCall: (call: CallKey, attempt: number, result: CallResult) => Effect.Effect<boolean, AgentError>
  /** Records that nobody knows how a lost attempt ended, with the result that the model is given. False if it has ended after all. */
  readonly giveUpCall: (
    call: CallKey,
    attempt: number,
    result: CallResult
  ) => Effect.Effect<boolean, AgentError>
  /** The calls whose outcome is unknown, oldest first; also those that an operator has resolved. */
  readonly unknownCalls: Effect.Effect<ReadonlyArray<UnknownCall>, AgentError>
  /** What an operator found out about a call: the result, if the call is ever asked for again. `CallNotUnknown`. */
  readonly resolveCall: (
    conversation: string,
    toolCallId: string,
    result: CallResult
  ) => Effect.Effect<void, AgentError>

  /** `ApprovalNotFound`. */
  readonly approval: (approvalId: string) => Effect.Effect<Approval, AgentError>
  /** The approvals that wait, oldest first. One that has expired waits no more. */
  readonly pending: Effect.Effect<ReadonlyArray<Approval>, AgentError>
  /** How many approvals of each tool wait, and since when the oldest does (milliseconds since the epoch): those that {@link pending} gives. */
  readonly waiting: Effect.Effect<
    ReadonlyArray<{ readonly toolName: string; readonly count: number; readonly oldest: number }>,
    AgentError
  >
  /**
   * Decides, once: `AlreadyDecided`, `DecisionMismatch`, `ApprovalNotFound`. After its time an approval is recorded as expired, whatever
   * is said.
   */
  readonly decide: (approvalId: string, verdict: Verdict) => Effect.Effect<Approval, AgentError>
}

export class RunStore extends Context.Service<RunStore, Service>()("toolspan/runtime/RunStore") {}

/** The progress of a run that has not begun. */
export const noProgress: Progress = {
  usage: { turns: 0, toolCalls: 0, inputTokens: 0, outputTokens: 0, activeMillis: 0 },
  stretches: 0,
  settled: {},
  asked: {}
}

/** Why a run that exists is not the one that is begun; undefined if it is. */
export const runRefusal = (
  before: Pick<Run, "agent" | "conversation">,
  { agent, conversation, runId }: NewRun
): RunMismatch | undefined => {
  if (before.agent !== agent) return new RunMismatch({ runId, field: "agent" })
  if (before.conversation !== conversation) return new RunMismatch({ runId, field: "conversation" })
  return undefined
}

/** Why an approval, as it stands, cannot be decided so; undefined if it can. */
export const decisionRefusal = (
  { approvalId, decided, params, toolName }: Approval,
  verdict: Verdict
): AlreadyDecided | DecisionMismatch | undefined => {
  if (decided !== undefined) {
    const { approver, decision } = decided
    return new AlreadyDecided({ approvalId, decision, ...(approver !== undefined && { approver }) })
  }
  if (verdict.toolName !== undefined && verdict.toolName !== toolName) {
    return new DecisionMismatch({ approvalId, field: "tool" })
  }
  if (verdict.arguments !== undefined && verdict.arguments !== CanonicalJson.stringify(params)) {
    return new DecisionMismatch({ approvalId, field: "arguments" })
  }
  return undefined
}

/** A call as a store has it. `result`: what is known of it, an operator's word first. */
export interface RecordedCall {
  readonly toolName: string
  readonly arguments: string
  readonly attempt: number
  readonly startedAt: number
  readonly result: CallResult | undefined
}

/**
 * What a worker is told that wants to run a call that is recorded. `holder`: who has the attempt that has not ended. On `Run`, the store
 * records the attempt.
 */
export const begunBefore = (
  call: RecordedCall,
  key: CallKey,
  holder: "this worker" | "another" | "nobody",
  rerun: number | undefined
): Begun => {
  const { attempt, result, startedAt, toolName } = call
  if (toolName !== key.toolName || call.arguments !== key.arguments) {
    return { _tag: "Conflict", toolName, arguments: call.arguments }
  }
  if (result !== undefined) return { _tag: "Replay", result }
  if (rerun === attempt && holder !== "another") return { _tag: "Run", attempt: attempt + 1 }
  return holder === "nobody" ? { _tag: "Lost", attempt, startedAt } : { _tag: "Busy" }
}
