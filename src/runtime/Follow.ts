/**
 * Looking on at a run that is worked on somewhere: what happened is read from the store; where it is worked on in this process, the deltas
 * come as they are made.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import { AgentError, RunNotFound } from "./AgentError.ts"
import type { AgentEvent, Numbered } from "./AgentEvent.ts"
import * as EventStream from "./EventStream.ts"
import type { Outcome } from "./Outcome.ts"
import type { Run, Service as Store } from "./RunStore.ts"
import type { WorkedOn } from "./WorkedOn.ts"

/** Where to look, and how often to ask the store, in milliseconds. */
export interface Options {
  readonly store: Store
  readonly workedOn: Pick<WorkedOn, "listen" | "has">
  readonly pollInterval: number
  /** Has the run worked on, if it is due. Is run when nothing can be missed any more. */
  readonly wake: Effect.Effect<void, AgentError>
}

/** The events of the present stretch of a run, from its beginning to its end. If the run rests, only how its latest stretch ended. */
export const stream = (runId: string, options: Options): Stream.Stream<AgentEvent, AgentError> =>
  EventStream.make((give) => watch(runId, options, true, give))

/** How the present stretch ends, or has ended if the run rests. */
export const outcome = (runId: string, options: Options): Effect.Effect<Outcome, AgentError> =>
  Effect.scoped(
    Effect.suspend(() => {
      let outcome: Outcome | undefined
      return Effect.flatMap(
        watch(runId, options, false, (event) => {
          if (event._tag === "Ended") outcome = event.outcome
        }),
        () =>
          outcome === undefined
            ? Effect.fail(new AgentError({ reason: new RunNotFound({ runId }) }))
            : Effect.succeed(outcome)
      )
    })
  )

const watch = (
  runId: string,
  { pollInterval, store, wake, workedOn }: Options,
  deltas: boolean,
  give: (event: AgentEvent) => void
): Effect.Effect<void, AgentError, Scope.Scope> =>
  Effect.gen(function* () {
    const heard = yield* Queue.unbounded<{
      readonly event: AgentEvent
      readonly number: number | undefined
    }>()
    yield* Effect.acquireRelease(
      Effect.sync(() =>
        workedOn.listen(runId, (event, number) => Queue.offerUnsafe(heard, { event, number }), deltas)
      ),
      (stop) => Effect.sync(stop)
    )
    const past = yield* store.events(runId, 0)
    const lastEnd = past.findLastIndex(({ event }) => event._tag === "Ended")
    const run = yield* store.get(runId)
    const end = past[lastEnd]
    if (end !== undefined && lastEnd === past.length - 1 && (yield* rests(store, run))) return give(end.event)
    yield* wake
    /** Number of the last event that was given. */
    let after = end?.number ?? 0
    /** Gives an event that the store keeps; whether it was the last. */
    const giveNext = ({ event, number }: Numbered): boolean => {
      after = number
      give(event)
      return event._tag === "Ended"
    }
    for (const stored of past.slice(lastEnd + 1)) giveNext(stored)
    while (true) {
      const next = yield* Effect.timeoutOption(Queue.take(heard), pollInterval)
      if (Option.isSome(next)) {
        const { event, number } = next.value
        if (number !== undefined) {
          if (number <= after) continue
          // What is told here follows on what the workers before have written.
          if (number > after + 1) {
            for (const stored of yield* store.events(runId, after)) {
              if (stored.number < number) giveNext(stored)
            }
          }
          after = number
        }
        give(event)
        if (event._tag === "Ended") return
      } else if (!workedOn.has(runId)) {
        // It is worked on elsewhere, if at all.
        const stored = yield* store.events(runId, after)
        if ((yield* Queue.size(heard)) === 0 && stored.some(giveNext)) return
      }
    }
  })

/** Whether nothing will happen in the run until somebody says something. */
const rests = (store: Store, { cancelled, outcome, status }: Run): Effect.Effect<boolean, AgentError> => {
  if (status === "ended") return Effect.succeed(true)
  if (status !== "waiting" || cancelled || outcome?._tag !== "Waiting") return Effect.succeed(false)
  return Effect.map(
    Effect.forEach(outcome.approvals, ({ approvalId }) => store.approval(approvalId)),
    (approvals) => approvals.every(({ decided }) => decided === undefined)
  )
}
