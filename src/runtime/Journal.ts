/**
 * What a worker knows of its run and has not written yet; and the writing, one after the other.
 */
import type * as Prompt from "effect/ai/Prompt"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { AgentError } from "./AgentError.ts"
import type { AgentEvent, Numbered, Passing, Stored } from "./AgentEvent.ts"
import type { Approval } from "./ApprovalRecord.ts"
import type { Outcome, Usage } from "./Outcome.ts"
import type { CallResult, Claim, Progress, Service, Status } from "./RunStore.ts"

/** Tells whoever looks on here; an event that the store keeps, with its number there. */
export type Emit = (event: AgentEvent, number?: number) => void

export class Journal {
  readonly runId: string
  readonly conversation: string
  readonly epoch: number
  /** The whole conversation, as it will be. */
  readonly messages: Array<Prompt.Message>
  readonly store: Service
  readonly #emit: Emit
  /** One write at a time: a later one holds all that an earlier one held. */
  readonly #permit = Semaphore.makeUnsafe(1)
  #progress: Progress
  #since: number
  #newMessages: Array<Prompt.Message> = []
  #newApprovals: Array<Approval> = []
  #newEvents: Array<Numbered> = []
  #lastEvent: number
  /** Whether anything is to be written. */
  #changed = true

  /** `now`: milliseconds since the epoch, when the stretch began. */
  constructor(
    store: Service,
    { lastEvent, messages, run }: Claim,
    progress: Progress,
    now: number,
    emit: Emit
  ) {
    this.store = store
    this.runId = run.runId
    this.conversation = run.conversation
    this.epoch = run.epoch
    this.messages = messages.slice()
    this.#emit = emit
    this.#lastEvent = lastEvent
    this.#progress = progress
    this.#since = now
  }

  get progress(): Progress {
    return this.#progress
  }

  /** What an outcome says of the run. */
  get common(): Effect.Effect<{
    readonly runId: string
    readonly conversation: string
    readonly usage: Usage
  }> {
    return Effect.map(Clock.currentTimeMillis, (now) => {
      const { activeMillis } = this.#progress.usage
      this.#used({ activeMillis: activeMillis + Math.max(0, now - this.#since) })
      this.#since = now
      return { runId: this.runId, conversation: this.conversation, usage: this.#progress.usage }
    })
  }

  /** The model has answered. */
  answered(toolCalls: number, inputTokens: number, outputTokens: number): void {
    const { usage } = this.#progress
    this.#used({
      turns: usage.turns + 1,
      toolCalls: usage.toolCalls + toolCalls,
      inputTokens: usage.inputTokens + inputTokens,
      outputTokens: usage.outputTokens + outputTokens
    })
  }

  /** Says something in the conversation. */
  append(messages: ReadonlyArray<Prompt.Message>): void {
    this.messages.push(...messages)
    this.#newMessages.push(...messages)
    this.#changed = true
  }

  /** Something happened that a store keeps; it is told once it is written. */
  event(event: Stored): void {
    this.#newEvents.push({ number: ++this.#lastEvent, event })
    this.#changed = true
  }

  /** Something happened that is only for whoever looks on here. */
  passing(event: Passing): void {
    this.#emit(event)
  }

  /** The call at this place of the open turn waits for this approval. */
  asked(place: number, approval: Approval): void {
    this.#newApprovals.push(approval)
    this.#progress = { ...this.#progress, asked: { ...this.#progress.asked, [place]: approval.approvalId } }
    this.event({ _tag: "ApprovalAsked", approval })
  }

  /** The call at this place of the open turn has its result. */
  settled(place: number, result: CallResult): void {
    this.#progress = { ...this.#progress, settled: { ...this.#progress.settled, [place]: result } }
    this.#changed = true
  }

  /** The open turn is over: its results are in the conversation. */
  closed(): void {
    this.#progress = { ...this.#progress, settled: {}, asked: {} }
    this.#changed = true
  }

  /** Writes all that is not written; whoever stops the run waits for it. */
  write(status: Status, outcome?: Outcome): Effect.Effect<void, AgentError> {
    const write = Effect.suspend(() => {
      if (status === "running" && !this.#changed) return Effect.void
      const events = this.#newEvents
      const change = {
        progress: this.#progress,
        status,
        outcome,
        messages: this.#newMessages,
        approvals: this.#newApprovals,
        events
      }
      this.#newMessages = []
      this.#newApprovals = []
      this.#newEvents = []
      this.#changed = false
      return Effect.uninterruptible(
        Effect.map(this.store.commit(this.runId, this.epoch, change), () => {
          for (const { event, number } of events) this.#emit(event, number)
        })
      )
    })
    return this.store.isShared ? this.#permit.withPermit(write) : write
  }

  #used(usage: Partial<Usage>): void {
    this.#progress = { ...this.#progress, usage: { ...this.#progress.usage, ...usage } }
  }
}
