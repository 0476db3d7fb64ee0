/**
 * What becomes of the calls of one turn: each gets one result, of its handler or in place of it, or waits for an approval.
 *
 * A call is run once for its conversation, id, tool and arguments. That it starts is in the store before its handler runs; how it ended,
 * before the model is told. In between a worker can be lost: then only a tool that may run again is run again.
 */
import * as Prompt from "effect/ai/Prompt"
import type * as Tool from "effect/ai/Tool"
import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Pull from "effect/Pull"
import * as Schedule from "effect/Schedule"
import type { AgentError } from "./AgentError.ts"
import * as ApprovalPolicy from "./ApprovalPolicy.ts"
import type { Approval } from "./ApprovalRecord.ts"
import * as CanonicalJson from "./CanonicalJson.ts"
import { mayRunAgain, toolOf, type Worker } from "./Definition.ts"
import * as Id from "./Id.ts"
import type { Journal } from "./Journal.ts"
import * as Results from "./Results.ts"
import type { CallKey, CallResult } from "./RunStore.ts"
import type { RunTelemetry } from "./RunTelemetry.ts"
import * as ToolRun from "./ToolRun.ts"

type Call = Prompt.ToolCallPart
type Resolving = Effect.Effect<void, AgentError>

/** How long to wait before looking again at a call that somebody else runs, in milliseconds, at most. */
const LOOK_AGAIN = 1000

export class Calls {
  /** What the first tool that failed the program failed with. */
  failure: Cause.Cause<unknown> | undefined
  readonly #worker: Worker
  readonly #journal: Journal
  readonly #telemetry: RunTelemetry
  readonly #approvals: Map<string, Approval>
  /** The attempts that run now, by the place of their call. */
  readonly #running = new Map<number, { readonly key: CallKey; readonly attempt: number }>()

  constructor(worker: Worker, journal: Journal, telemetry: RunTelemetry, approvals: ReadonlyArray<Approval>) {
    this.#worker = worker
    this.#journal = journal
    this.#telemetry = telemetry
    this.#approvals = new Map(approvals.map((approval) => [approval.approvalId, approval]))
  }

  /** Works on all of them; gives the approvals for which some wait, in the order of the calls. `allowed`: how many may run. */
  resolve(open: ReadonlyArray<Call>, allowed: number): Effect.Effect<ReadonlyArray<Approval>, AgentError> {
    // Calls with one id: one after the other, so that what the first comes to is known to the second.
    const byId = new Map<string, Array<Effect.Effect<void, AgentError>>>()
    for (const [place, call] of open.entries()) {
      const resolving = Effect.suspend(() => this.#one(place, call, allowed))
      const same = byId.get(call.id)
      if (same === undefined) byId.set(call.id, [resolving])
      else same.push(resolving)
    }
    const groups = [...byId.values()]
    const resolving =
      groups.length === 1 && groups[0] !== undefined
        ? Effect.all(groups[0], { discard: true })
        : Effect.forEach(groups, (group) => Effect.all(group, { discard: true }), {
            concurrency: this.#worker.definition.concurrency,
            discard: true
          })
    return Effect.map(resolving, () =>
      open.flatMap((_, place) => {
        const approval = this.#approvalAt(place)
        return approval === undefined || this.#resultAt(place) !== undefined ? [] : approval
      })
    )
  }

  /** Their results, as they stand in the conversation. `otherwise`: the reason for those that have none. */
  results(open: ReadonlyArray<Call>, otherwise: string): ReadonlyArray<Prompt.ToolResultPart> {
    return open.map(({ id, name }, place) => {
      const { isFailure, modelOutput, result } = this.#resultAt(place) ?? Results.interrupted(otherwise)
      return Prompt.toolResultPart({
        id,
        name,
        isFailure,
        result,
        ...(modelOutput !== undefined && { modelOutput }),
        providerExecuted: false
      })
    })
  }

  /** The calls that ran when the run was stopped: that is their result. */
  stopped(reason: string): Effect.Effect<void, AgentError> {
    return Effect.forEach(
      this.#running,
      ([place, { attempt, key }]) => {
        const result = Results.interrupted(`${reason} while the call ran: it may have had its effect, or not`)
        this.#finished(place, key.toolCallId, key.toolName, result, false)
        return this.#journal.store.endCall(key, attempt, result)
      },
      { discard: true }
    )
  }

  #resultAt(place: number): CallResult | undefined {
    return this.#journal.progress.settled[place]
  }

  #approvalAt(place: number): Approval | undefined {
    const approvalId = this.#journal.progress.asked[place]
    return approvalId === undefined ? undefined : this.#approvals.get(approvalId)
  }

  #one(place: number, call: Call, allowed: number): Resolving {
    if (this.#resultAt(place) !== undefined) return Effect.void
    if (place >= allowed) {
      this.#telemetry.notStarted(call)
      return this.#settle(place, call, Results.interrupted("The run has reached its limit of tool calls"))
    }
    if (!Id.isValid(call.id)) {
      this.#telemetry.notStarted(call)
      return this.#settle(
        place,
        call,
        Results.refused(
          `${call.id === "" ? "The call has no id" : "The id of the call is not valid"}, so it cannot be run once: call again, with an id of ${Id.ALLOWED}`
        )
      )
    }
    const tool = toolOf(this.#worker.toolkit, call.name)
    const approval = this.#approvalAt(place)
    if (approval !== undefined) return this.#decided(place, call, tool, approval)
    const needed =
      tool !== undefined &&
      ApprovalPolicy.isNeeded(this.#worker.definition, tool, call, this.#journal.messages)
    if (needed === false) return this.#execute(place, call, tool, undefined)
    return Effect.flatMap(needed === true ? Effect.succeed(true) : needed, (needed) =>
      needed ? this.#ask(place, call) : this.#execute(place, call, tool, undefined)
    )
  }

  #ask(place: number, call: Call): Resolving {
    return Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const { expiresAfter, name } = this.#worker.definition
      const approval: Approval = {
        // Nobody can guess it: who knows it was told of it.
        approvalId: crypto.randomUUID(),
        runId: this.#journal.runId,
        conversation: this.#journal.conversation,
        agent: name,
        toolName: call.name,
        toolCallId: call.id,
        params: call.params,
        requestedAt: now,
        ...(expiresAfter !== undefined && { expiresAt: now + expiresAfter })
      }
      this.#approvals.set(approval.approvalId, approval)
      this.#telemetry.asked(approval, call)
      this.#journal.asked(place, approval)
      // It can be decided upon while other calls of the turn still run.
      return this.#journal.write("running")
    })
  }

  #decided(place: number, call: Call, tool: Tool.Any | undefined, approval: Approval): Resolving {
    const { approvalId, decided } = approval
    if (decided === undefined) return Effect.void
    this.#telemetry.decided(approval, call)
    this.#journal.event({
      _tag: "ApprovalDecided",
      approvalId,
      toolCallId: call.id,
      toolName: call.name,
      decision: decided.decision,
      ...(decided.approver !== undefined && { approver: decided.approver })
    })
    if (decided.decision !== "approved") {
      const reason = decided.reason ?? (decided.decision === "expired" ? "nobody decided in time" : undefined)
      return this.#settle(place, call, Results.denied(reason))
    }
    if (
      approval.toolName !== call.name ||
      approval.toolCallId !== call.id ||
      CanonicalJson.stringify(approval.params) !== CanonicalJson.stringify(call.params)
    ) {
      this.#telemetry.notStarted(call)
      return this.#settle(place, call, Results.refused("The approval is for another call than this one"))
    }
    return this.#execute(place, call, tool, approvalId)
  }

  /** Runs it, unless it has run, or may have. */
  #execute(place: number, call: Call, tool: Tool.Any | undefined, approvalId: string | undefined): Resolving {
    const { conversation, epoch, runId, store } = this.#journal
    const key: CallKey = {
      conversation,
      toolCallId: call.id,
      toolName: call.name,
      arguments: CanonicalJson.stringify(call.params)
    }
    const begin = (rerun?: number): Resolving =>
      Effect.flatMap(store.beginCall(runId, epoch, key, rerun), (begun): Resolving => {
        switch (begun._tag) {
          case "Run":
            return Effect.flatMap(
              this.#attempts(place, call, tool, key, approvalId, begun.attempt),
              (counted) =>
                // Somebody took this worker for lost, and has said so to the model.
                counted ? Effect.void : begin()
            )
          case "Replay":
            this.#telemetry.replayed(call)
            return this.#settle(place, call, begun.result, true)
          case "Conflict":
            this.#telemetry.notStarted(call)
            return this.#settle(
              place,
              call,
              Results.refused(
                `The id "${call.id}" was used before, for a call of "${begun.toolName}" with ${
                  begun.toolName === call.name ? "other" : "its"
                } arguments: an id stands for one call. Call again, with a new id`
              )
            )
          case "Busy":
            return Effect.andThen(Effect.sleep(Math.min(LOOK_AGAIN, store.leaseMillis / 4)), begin())
          case "Lost":
            return mayRunAgain(tool) ? begin(begun.attempt) : this.#lost(place, call, key, begun, begin)
        }
      })
    return begin()
  }

  #lost(
    place: number,
    call: Call,
    key: CallKey,
    { attempt, startedAt }: { readonly attempt: number; readonly startedAt: number },
    begin: () => Resolving
  ): Resolving {
    return Effect.flatMap(this.#journal.store.giveUpCall(key, attempt, Results.unknown), (givenUp) => {
      if (!givenUp) return begin()
      this.#telemetry.lost(call, startedAt, attempt)
      return this.#settle(place, call, Results.unknown)
    })
  }

  /** Runs attempts until one is good, or the last. False: it does not count, as the call was given up for lost meanwhile. */
  #attempts(
    place: number,
    call: Call,
    tool: Tool.Any | undefined,
    key: CallKey,
    approvalId: string | undefined,
    first: number
  ): Effect.Effect<boolean, AgentError> {
    const { epoch, runId, store } = this.#journal
    const { retry } = this.#worker.definition
    const one = (attempt: number): Effect.Effect<ToolRun.Ended, AgentError> =>
      Effect.suspend(() => {
        this.#running.set(place, { key, attempt })
        this.#telemetry.called()
        const { id: toolCallId, name: toolName, params } = call
        this.#journal.event({ _tag: "ToolCallStarted", toolCallId, toolName, params, attempt })
        return Effect.andThen(
          this.#journal.write("running"),
          ToolRun.attempt(
            this.#worker,
            call,
            key.conversation,
            this.#telemetry.origin(call, approvalId, attempt),
            (result) => this.#journal.passing({ _tag: "ToolCallProgress", toolCallId, toolName, result })
          )
        )
      })
    const end = (attempt: number, { failure, result }: ToolRun.Ended): Effect.Effect<boolean, AgentError> =>
      Effect.flatMap(store.endCall(key, attempt, result), (counted) => {
        this.#running.delete(place)
        if (!counted) return Effect.succeed(false)
        this.failure ??= failure
        return Effect.as(this.#settle(place, call, result), true)
      })
    const attempts = Effect.gen(function* () {
      let attempt = first
      let ended = yield* one(attempt)
      if (retry === undefined || !mayRunAgain(tool)) return { attempt, ended }
      const step = yield* Schedule.toStepWithSleep(retry)
      while (ended.mayBeRetried) {
        const more = yield* Pull.catchDone(Effect.as(step(undefined), true), () => Effect.succeed(false))
        if (!more) break
        const begun = yield* store.beginCall(runId, epoch, key, attempt)
        if (begun._tag !== "Run") break
        attempt = begun.attempt
        ended = yield* one(attempt)
      }
      return { attempt, ended }
    })
    // What a handler came to is recorded, whoever wants the run to stop just then.
    return Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(restore(attempts), ({ attempt, ended }) => end(attempt, ended))
    )
  }

  /** The call has its result, and whoever looks on sees it now. */
  #settle(place: number, call: Call, result: CallResult, replayed = false): Resolving {
    this.#finished(place, call.id, call.name, result, replayed)
    return this.#journal.write("running")
  }

  #finished(
    place: number,
    toolCallId: string,
    toolName: string,
    callResult: CallResult,
    replayed: boolean
  ): void {
    const { isFailure, result } = callResult
    this.#journal.settled(place, callResult)
    this.#journal.event({ _tag: "ToolCallFinished", toolCallId, toolName, result, isFailure, replayed })
  }
}
