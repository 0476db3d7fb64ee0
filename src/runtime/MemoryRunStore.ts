/**
 * The store of one process: all of it is gone when the process ends.
 *
 * It keeps every conversation, run, call and approval, so that an id that comes again is known: what it holds grows with what is said.
 */
import type * as Prompt from "effect/ai/Prompt"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import {
  AgentError,
  ApprovalNotFound,
  CallNotUnknown,
  ConversationBusy,
  type Reason,
  RunNotFound,
  Superseded
} from "./AgentError.ts"
import type { Approval } from "./ApprovalRecord.ts"
import * as ApprovalRecord from "./ApprovalRecord.ts"
import {
  type Begun,
  begunBefore,
  type CallKey,
  type CallResult,
  type Change,
  decisionRefusal,
  type NewRun,
  noProgress,
  type Run,
  RunStore,
  runRefusal,
  type Service,
  type UnknownCall,
  type Verdict
} from "./RunStore.ts"

/** A store of its own. */
export const layer: Layer.Layer<RunStore> = Layer.sync(RunStore, () => new Memory().service)

interface Entry {
  run: Run
  /** The worker that had it has let it go. */
  released: boolean
  /** Something was decided since it waits. */
  woken: boolean
  readonly approvals: Array<Approval>
}

interface Call {
  readonly key: CallKey
  runId: string
  epoch: number
  attempt: number
  startedAt: number
  status: "started" | "ended" | "unknown"
  result: CallResult | undefined
  resolved: CallResult | undefined
}

interface Conversation {
  readonly messages: Array<Prompt.Message>
  readonly calls: Map<string, Call>
  /** Its run that has not ended. */
  active: string | undefined
}

/** Does it at once; a reason that is thrown is the failure. */
const attempt = <A>(act: (now: number) => A): Effect.Effect<A, AgentError> =>
  Effect.withFiber((fiber) => {
    try {
      return Effect.succeed(act(fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()))
    } catch (error) {
      if (error instanceof AgentError) return Effect.fail(error)
      throw error
    }
  })

const refuse = (reason: Reason): never => {
  throw new AgentError({ reason })
}

class Memory {
  readonly #entries = new Map<string, Entry>()
  readonly #conversations = new Map<string, Conversation>()
  /** Where each approval stands: at this index among those of its run. */
  readonly #approvals = new Map<string, { readonly entry: Entry; readonly index: number }>()
  /** Those that wait, oldest first. */
  readonly #pending = new Set<string>()
  /** Those among them that expire, and when. */
  readonly #expiring = new Map<string, number>()
  readonly #unknown: Array<Call> = []

  readonly service: Service = {
    isShared: false,
    leaseMillis: Number.POSITIVE_INFINITY,
    begin: (run) => attempt((now) => this.#begin(run, now)),
    get: (runId) => attempt(() => this.#entry(runId).run),
    claim: (runId) =>
      attempt((now) => {
        const entry = this.#entry(runId)
        this.#expire(now)
        const { run } = entry
        const taken =
          run.status === "ready" ||
          (run.status === "waiting" && (entry.woken || run.cancelled)) ||
          (run.status === "running" && entry.released)
        if (taken) {
          entry.run = { ...run, status: "running", epoch: run.epoch + 1 }
          entry.released = false
          entry.woken = false
        }
        const { messages } = this.#conversation(run.conversation)
        return {
          run: entry.run,
          taken,
          found: run.status,
          messages,
          approvals: [...entry.approvals],
          lastEvent: 0
        }
      }),
    commit: (runId, epoch, change) => attempt((now) => this.#commit(this.#held(runId, epoch), change, now)),
    renew: (runId, epoch) =>
      attempt(() => {
        const { run } = this.#entry(runId)
        return run.epoch !== epoch || run.status !== "running"
          ? "superseded"
          : run.cancelled
            ? "cancelled"
            : "holds"
      }),
    release: (runId, epoch) =>
      attempt(() => {
        const entry = this.#entry(runId)
        if (entry.run.epoch === epoch && entry.run.status === "running") entry.released = true
      }),
    cancel: (runId) =>
      attempt(() => {
        const entry = this.#entry(runId)
        if (entry.run.status === "ended") return false
        const status = entry.run.status === "waiting" ? "ready" : entry.run.status
        entry.run = { ...entry.run, status, cancelled: true }
        return true
      }),
    due: (agents) =>
      attempt((now) => {
        this.#expire(now)
        return [...this.#entries.values()]
          .filter(
            ({ released, run, woken }) =>
              agents.includes(run.agent) &&
              (run.status === "ready" ||
                (run.status === "waiting" && woken) ||
                (run.status === "running" && released))
          )
          .map(({ run }) => run)
      }),
    unfinished: (of) =>
      attempt(() =>
        [...this.#entries.values()]
          .map(({ run }) => run)
          .filter(
            (run) =>
              run.status !== "ended" &&
              ("agent" in of ? run.agent === of.agent : run.conversation === of.conversation)
          )
      ),
    messages: (conversation) => attempt(() => this.#conversations.get(conversation)?.messages.slice() ?? []),
    // They are kept for other processes, of which there are none.
    events: () => Effect.succeed([]),
    beginCall: (runId, epoch, key, rerun) => attempt((now) => this.#beginCall(runId, epoch, key, rerun, now)),
    endCall: (key, number, result) =>
      attempt(() => {
        const call = this.#conversation(key.conversation).calls.get(key.toolCallId)
        if (call === undefined || call.status !== "started" || call.attempt !== number) return false
        call.status = "ended"
        call.result = result
        return true
      }),
    giveUpCall: (key, number, result) =>
      attempt(() => {
        const call = this.#conversation(key.conversation).calls.get(key.toolCallId)
        if (call === undefined || call.status !== "started" || call.attempt !== number) return false
        call.status = "unknown"
        call.result = result
        this.#unknown.push(call)
        return true
      }),
    unknownCalls: attempt(() =>
      this.#unknown
        .map(
          ({ attempt, key, resolved, runId, startedAt }): UnknownCall => ({
            ...key,
            runId,
            startedAt,
            attempt,
            resolved
          })
        )
        .sort((a, b) => a.startedAt - b.startedAt)
    ),
    resolveCall: (conversation, toolCallId, result) =>
      attempt(() => {
        const call = this.#conversations.get(conversation)?.calls.get(toolCallId)
        if (call === undefined || call.status !== "unknown" || call.resolved !== undefined) {
          return refuse(new CallNotUnknown({ conversation, toolCallId }))
        }
        call.resolved = result
      }),
    approval: (approvalId) =>
      attempt((now) => {
        this.#expire(now)
        return this.#approval(approvalId)
      }),
    pending: attempt((now) => {
      this.#expire(now)
      return [...this.#pending].map((approvalId) => this.#approval(approvalId))
    }),
    waiting: attempt((now) => {
      this.#expire(now)
      const byTool = new Map<string, { toolName: string; count: number; oldest: number }>()
      for (const approvalId of this.#pending) {
        const { requestedAt, toolName } = this.#approval(approvalId)
        const before = byTool.get(toolName)
        const oldest = Math.min(before?.oldest ?? requestedAt, requestedAt)
        byTool.set(toolName, { toolName, count: (before?.count ?? 0) + 1, oldest })
      }
      return [...byTool.values()]
    }),
    decide: (approvalId, verdict) => attempt((now) => this.#decide(approvalId, verdict, now))
  }

  #begin(begun: NewRun, now: number): Run {
    const { agent, runId } = begun
    const before = this.#entries.get(runId)?.run
    if (before !== undefined) {
      const refusal = runRefusal(before, begun)
      return refusal === undefined ? before : refuse(refusal)
    }
    const conversation = this.#conversation(begun.conversation)
    if (conversation.active !== undefined) {
      refuse(new ConversationBusy({ conversation: begun.conversation, runId: conversation.active }))
    }
    const { approvals = [], asked = {}, caller } = begun
    const entry: Entry = {
      run: {
        runId,
        conversation: begun.conversation,
        agent,
        status: "ready",
        epoch: 0,
        progress: { ...noProgress, asked, ...(caller !== undefined && { caller }) },
        outcome: undefined,
        cancelled: false
      },
      released: false,
      woken: false,
      approvals: []
    }
    this.#entries.set(runId, entry)
    conversation.active = runId
    conversation.messages.push(...begun.messages)
    this.#ask(entry, approvals)
    this.#expire(now)
    return entry.run
  }

  #commit(entry: Entry, { approvals, messages, outcome, progress, status }: Change, now: number): void {
    const { conversation: name } = entry.run
    const conversation = this.#conversation(name)
    entry.run = { ...entry.run, progress, status, outcome: outcome ?? entry.run.outcome }
    if (messages !== undefined && messages.length > 0) conversation.messages.push(...messages)
    if (approvals !== undefined && approvals.length > 0) this.#ask(entry, approvals)
    if (status === "ended") {
      conversation.active = undefined
      for (const { approvalId, decided } of [...entry.approvals]) {
        if (decided === undefined) this.#settle(approvalId, { decision: "expired" }, now)
      }
    }
  }

  #ask(entry: Entry, approvals: ReadonlyArray<Approval>): void {
    for (const approval of approvals) {
      const { approvalId, decided, expiresAt } = approval
      this.#approvals.set(approvalId, { entry, index: entry.approvals.push(approval) - 1 })
      if (decided !== undefined) continue
      this.#pending.add(approvalId)
      if (expiresAt !== undefined) this.#expiring.set(approvalId, expiresAt)
    }
  }

  #decide(approvalId: string, verdict: Verdict, now: number): Approval {
    this.#expire(now)
    const approval = this.#approval(approvalId)
    const refusal = decisionRefusal(approval, verdict)
    if (refusal !== undefined) return refuse(refusal)
    return this.#settle(approvalId, verdict, now)
  }

  #settle(approvalId: string, { decision, ...by }: Verdict, at: number): Approval {
    const { entry, index } = this.#place(approvalId)
    const decided: Approval = {
      ...this.#approval(approvalId),
      decided: ApprovalRecord.decided(decision, at, by)
    }
    entry.approvals[index] = decided
    entry.woken = true
    this.#pending.delete(approvalId)
    this.#expiring.delete(approvalId)
    return decided
  }

  /** Those whose time is over are decided. */
  #expire(now: number): void {
    for (const [approvalId, expiresAt] of this.#expiring) {
      if (expiresAt <= now) this.#settle(approvalId, { decision: "expired" }, expiresAt)
    }
  }

  #beginCall(runId: string, epoch: number, key: CallKey, rerun: number | undefined, now: number): Begun {
    this.#held(runId, epoch)
    const { calls } = this.#conversation(key.conversation)
    const call = calls.get(key.toolCallId)
    if (call === undefined) {
      calls.set(key.toolCallId, {
        key,
        runId,
        epoch,
        attempt: 1,
        startedAt: now,
        status: "started",
        result: undefined,
        resolved: undefined
      })
      return { _tag: "Run", attempt: 1 }
    }
    const holder = this.#entries.get(call.runId)
    const isHeld =
      holder !== undefined &&
      holder.run.epoch === call.epoch &&
      holder.run.status === "running" &&
      !holder.released
    const isMine = call.runId === runId && call.epoch === epoch
    const begun = begunBefore(
      {
        ...call.key,
        attempt: call.attempt,
        startedAt: call.startedAt,
        result: call.resolved ?? call.result
      },
      key,
      isMine ? "this worker" : isHeld ? "another" : "nobody",
      rerun
    )
    if (begun._tag === "Run") {
      call.runId = runId
      call.epoch = epoch
      call.attempt = begun.attempt
      call.startedAt = now
    }
    return begun
  }

  #entry(runId: string): Entry {
    return this.#entries.get(runId) ?? refuse(new RunNotFound({ runId }))
  }

  #held(runId: string, epoch: number): Entry {
    const entry = this.#entry(runId)
    return entry.run.epoch === epoch && entry.run.status === "running"
      ? entry
      : refuse(new Superseded({ runId }))
  }

  #conversation(name: string): Conversation {
    let conversation = this.#conversations.get(name)
    if (conversation === undefined) {
      conversation = { messages: [], calls: new Map(), active: undefined }
      this.#conversations.set(name, conversation)
    }
    return conversation
  }

  #approval(approvalId: string): Approval {
    const { entry, index } = this.#place(approvalId)
    return entry.approvals[index] ?? refuse(new ApprovalNotFound({ approvalId }))
  }

  #place(approvalId: string) {
    return this.#approvals.get(approvalId) ?? refuse(new ApprovalNotFound({ approvalId }))
  }
}
