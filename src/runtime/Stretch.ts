/**
 * One uninterrupted stretch of a run: from when a worker takes it until it waits for approvals, ends, or is lost.
 *
 * The loop: give every open call of the conversation a result, ask the model, and again. All that must not be lost is in the store before
 * the next step is taken; a worker that goes on with the run reads it there. What becomes of one call is in `Calls.ts`.
 */
import * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Tracer from "effect/Tracer"
import { CurrentAgent, CurrentConversation } from "../propagation/Origin.ts"
import * as ToolCallContext from "../propagation/ToolCallContext.ts"
import type { RunState } from "../semconv/Attributes.ts"
import * as ErrorType from "../signals/ErrorType.ts"
import { AgentError, RunBusy, Superseded } from "./AgentError.ts"
import type { Passing } from "./AgentEvent.ts"
import * as Bounded from "./Bounded.ts"
import { Calls } from "./Calls.ts"
import type { Worker } from "./Definition.ts"
import * as Heartbeat from "./Heartbeat.ts"
import { type Emit, Journal } from "./Journal.ts"
import * as Limits from "./Limits.ts"
import * as ModelTurn from "./ModelTurn.ts"
import * as OpenCalls from "./OpenCalls.ts"
import type { Outcome } from "./Outcome.ts"
import * as Results from "./Results.ts"
import type { Claim, Service } from "./RunStore.ts"
import { RunTelemetry, ToolSignals, withStretch } from "./RunTelemetry.ts"

/** How a stretch is worked on. */
export interface Options {
  /** Is given each event as it happens; the last one is `Ended`, unless the run is lost. */
  readonly emit: Emit
  /** Whether the model is asked for a stream, so that there are deltas. */
  readonly streaming: boolean
  /** What an interruption of the worker means: the end of the run, or that another worker goes on. */
  readonly onInterrupt: "cancel" | "release"
  /** Succeeds when somebody in this process cancels the run. */
  readonly cancelled: Effect.Effect<void>
}

/**
 * Takes the run and works on it. A run that has ended, or waits, is left as it is.
 *
 * Fails if the store does; with `RunBusy` if another worker has the run, and with `Superseded` if another one has taken it meanwhile.
 */
export const work = (
  worker: Worker,
  store: Service,
  runId: string,
  options: Options
): Effect.Effect<Outcome, AgentError> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(store.claim(runId), (claim) => {
      if (!claim.taken) {
        const { outcome, status } = claim.run
        if (outcome === undefined || status === "running") {
          return Effect.fail(new AgentError({ reason: new RunBusy({ runId }) }))
        }
        options.emit({ _tag: "Ended", outcome })
        return Effect.succeed(outcome)
      }
      return Effect.withFiber((fiber) =>
        Effect.suspend(() => begin(worker, store, claim, options, fiber).run(restore))
      )
    })
  )

const signals = new WeakMap<Worker, ToolSignals>()

const begin = (
  worker: Worker,
  store: Service,
  claim: Claim,
  options: Options,
  fiber: Fiber.Fiber<unknown, unknown>
): Stretch => {
  let tools = signals.get(worker)
  if (tools === undefined) {
    tools = new ToolSignals(worker.toolkit)
    signals.set(worker, tools)
  }
  const telemetry = new RunTelemetry(fiber, claim.run, tools, claim.found === "running")
  const now = fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()
  const journal = new Journal(
    store,
    claim,
    withStretch(claim.run.progress, telemetry.trace),
    now,
    options.emit
  )
  return new Stretch(worker, claim, options, telemetry, journal)
}

/** Why the loop was stopped. */
type StoppedBy = "cancelled" | "duration" | "superseded"

class Stretch {
  readonly #worker: Worker
  readonly #claim: Claim
  readonly #options: Options
  readonly #telemetry: RunTelemetry
  readonly #journal: Journal
  readonly #calls: Calls
  readonly #streaks: Map<string, number>

  constructor(worker: Worker, claim: Claim, options: Options, telemetry: RunTelemetry, journal: Journal) {
    this.#worker = worker
    this.#claim = claim
    this.#options = options
    this.#telemetry = telemetry
    this.#journal = journal
    this.#calls = new Calls(worker, journal, telemetry, claim.approvals)
    this.#streaks = OpenCalls.sinceUser(claim.messages)
  }

  /** Works, and sees to the end of it, however it comes. `restore` lets it be interrupted. */
  run(
    restore: <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>
  ): Effect.Effect<Outcome, AgentError> {
    const working = Effect.flatMap(restore(this.#watched()), (done) =>
      typeof done === "string" ? this.#stopped(done) : Effect.succeed(done)
    )
    const whole: Effect.Effect<Outcome, AgentError> = Effect.onExit(working, (exit) => this.#over(exit))
    return Effect.updateContext(whole, (context: Context.Context<never>): Context.Context<never> => {
      const { span } = this.#telemetry
      const { agent, conversation } = this.#claim.run
      const scope = context.pipe(
        Context.add(CurrentAgent, agent),
        Context.add(CurrentConversation, conversation)
      )
      return span === undefined ? scope : Context.add(scope, Tracer.ParentSpan, span)
    })
  }

  #over(exit: Exit.Exit<Outcome, AgentError>): Effect.Effect<void, AgentError> {
    if (Exit.isSuccess(exit)) {
      const failed = exit.value._tag === "Failed" ? exit.value.error.type : undefined
      this.#telemetry.end(states[exit.value._tag], failed)
      return Effect.void
    }
    const lost = () =>
      this.#telemetry.end(
        "lost",
        Cause.hasInterruptsOnly(exit.cause) ? undefined : ErrorType.fromUnknown(Cause.squash(exit.cause))
      )
    if (!Cause.hasInterrupts(exit.cause) || this.#options.onInterrupt === "release") {
      return Effect.andThen(this.#released, Effect.sync(lost))
    }
    return Effect.matchEffect(this.#stopped("cancelled"), {
      onSuccess: () => Effect.sync(() => this.#telemetry.end("cancelled", undefined)),
      onFailure: (error) => Effect.andThen(Effect.sync(lost), Effect.fail(error))
    })
  }

  /** The loop, as long as the run is this worker's, is not to stop, and has time. */
  #watched(): Effect.Effect<Outcome | StoppedBy, AgentError> {
    const { cancelled, epoch, runId } = this.#claim.run
    if (cancelled) return Effect.succeed("cancelled")
    const guards: Array<Effect.Effect<StoppedBy>> = [Effect.as(this.#options.cancelled, "cancelled")]
    if (this.#journal.store.isShared) guards.push(Heartbeat.beat(this.#journal.store, runId, epoch))
    const { duration } = this.#worker.definition.limits
    if (Number.isFinite(duration)) {
      const left = Math.max(0, duration - this.#journal.progress.usage.activeMillis)
      guards.push(Effect.as(Effect.sleep(left), "duration"))
    }
    return Effect.raceAllFirst<Effect.Effect<Outcome | StoppedBy, AgentError>>([this.#loop(), ...guards])
  }

  #loop(): Effect.Effect<Outcome, AgentError> {
    const self = this
    const journal = this.#journal
    return Effect.gen(function* () {
      let open = OpenCalls.of(journal.messages)
      while (true) {
        if (open.length > 0) {
          const approvals = yield* self.#resolve(open)
          if (approvals.length > 0) return yield* self.#wait(approvals)
          yield* self.#close(open, "")
        }
        const common = yield* journal.common
        if (self.#calls.failure !== undefined) return yield* self.#fail(self.#calls.failure)
        const limit = Limits.reached(self.#worker.definition.limits, common.usage)
        if (limit !== undefined) return yield* self.#end({ _tag: "LimitReached", ...common, limit })
        const asked = yield* Effect.result(self.#ask())
        if (asked._tag === "Failure") return yield* self.#fail(Cause.fail(asked.failure))
        const answer = asked.success
        open = answer.calls
        if (open.length === 0 && answer.finishReason !== "pause") {
          const { finishReason, text } = answer
          return yield* self.#end({ _tag: "Finished", ...(yield* journal.common), text, finishReason })
        }
        if (ModelTurn.isComplete(answer)) yield* journal.write("running")
        else {
          // Cut off, in all likelihood: what the calls say is not all that was meant.
          for (const [place, call] of open.entries()) {
            self.#telemetry.notStarted(call)
            journal.settled(place, Results.incomplete(answer.finishReason))
          }
          yield* self.#close(open, "")
          open = []
        }
      }
    })
  }

  #ask() {
    const emit = this.#options.streaming ? (event: Passing) => this.#journal.passing(event) : undefined
    const stamp = this.#telemetry.stamp()
    return Effect.map(
      ModelTurn.ask(this.#worker, this.#journal.messages, emit, (part) => stamped(part, stamp)),
      (answer) => {
        const { calls, finishReason, inputTokens, messages, outputTokens, text } = answer
        this.#journal.answered(calls.length, inputTokens, outputTokens)
        for (const { name } of calls) this.#streaks.set(name, (this.#streaks.get(name) ?? 0) + 1)
        const names = new Set(calls.map(({ name }) => name))
        this.#telemetry.turn(new Map([...names].map((name) => [name, this.#streaks.get(name) ?? 1])))
        this.#journal.append(messages)
        const turn = this.#journal.progress.usage.turns
        this.#journal.event({ _tag: "TurnFinished", turn, text, finishReason, toolCalls: calls.length })
        return answer
      }
    )
  }

  #resolve(open: ReadonlyArray<Prompt.ToolCallPart>) {
    const { cancelWithin, limits } = this.#worker.definition
    const before = this.#journal.progress.usage.toolCalls - open.length
    return Bounded.interruption(this.#calls.resolve(open, limits.toolCalls - before), cancelWithin)
  }

  /** The turn is over: its results, in the order of its calls. `otherwise`: why a call has none. */
  #close(open: ReadonlyArray<Prompt.ToolCallPart>, otherwise: string): Effect.Effect<void, AgentError> {
    this.#journal.append([Prompt.toolMessage({ content: this.#calls.results(open, otherwise) })])
    this.#journal.closed()
    return this.#journal.write("running")
  }

  #wait(approvals: Extract<Outcome, { _tag: "Waiting" }>["approvals"]): Effect.Effect<Outcome, AgentError> {
    return Effect.flatMap(this.#journal.common, (common) =>
      this.#end({ _tag: "Waiting", ...common, approvals }, "waiting")
    )
  }

  #fail(cause: Cause.Cause<unknown>): Effect.Effect<Outcome, AgentError> {
    return Effect.flatMap(this.#journal.common, (common) =>
      this.#end({ _tag: "Failed", ...common, error: describe(cause) })
    )
  }

  #end(outcome: Outcome, status: "waiting" | "ended" = "ended"): Effect.Effect<Outcome, AgentError> {
    this.#journal.event({ _tag: "Ended", outcome })
    return Effect.as(this.#journal.write(status, outcome), outcome)
  }

  /** Ends the run before its time; every call that has no result gets one. */
  #stopped(by: StoppedBy): Effect.Effect<Outcome, AgentError> {
    if (by === "superseded") {
      return Effect.fail(new AgentError({ reason: new Superseded({ runId: this.#journal.runId }) }))
    }
    const reason = by === "cancelled" ? "The run was cancelled" : "The run has used up its time"
    return Effect.gen({ self: this }, function* () {
      yield* this.#calls.stopped(reason)
      const open = OpenCalls.of(this.#journal.messages)
      if (open.length > 0) yield* this.#close(open, reason)
      const common = yield* this.#journal.common
      return yield* this.#end(
        by === "cancelled"
          ? { _tag: "Cancelled", ...common }
          : { _tag: "LimitReached", ...common, limit: "duration" }
      )
    })
  }

  /** Lets go of the run, for another worker to find. The lease ends in any case. */
  get #released(): Effect.Effect<void> {
    return Effect.ignore(this.#journal.store.release(this.#journal.runId, this.#journal.epoch))
  }
}

const states = {
  Finished: "finished",
  Waiting: "waiting",
  LimitReached: "limit_reached",
  Failed: "failed",
  Cancelled: "cancelled"
} satisfies Record<Outcome["_tag"], RunState>

/** Where nobody below has said where a call comes from, it comes from this stretch. */
const stamped = (part: Response.AnyPart, stamp: ToolCallContext.Stamp | undefined): Response.AnyPart =>
  stamp === undefined ||
  part.type !== "tool-call" ||
  part.providerExecuted ||
  ToolCallContext.KEY in part.metadata
    ? part
    : { ...part, metadata: { ...part.metadata, [ToolCallContext.KEY]: { ...stamp } } }

/** What is said of a failure outside: no stack, and of a defect no more than its class. */
const describe = (cause: Cause.Cause<unknown>) => {
  const failure = cause.reasons.find(Cause.isFailReason)
  const type = ErrorType.fromUnknown(Cause.squash(cause))
  return {
    type: Cause.hasInterruptsOnly(cause) ? "Interrupted" : type,
    message: (failure && Results.messageOf(failure.error)) ?? "The tool died"
  }
}
