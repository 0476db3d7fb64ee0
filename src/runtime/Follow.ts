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
import type { AgentEvent, Stored } from "./AgentEvent.ts"
import * as EventStream from "./EventStream.ts"
import type { Outcome } from "./Outcome.ts"
import type { Run, Service as Store } from "./RunStore.ts"
import type { WorkedOn } from "./WorkedOn.ts"

/** Where to look, and how often to ask the store, in milliseconds. */
export interface Options {
  readonly store: Store
  readonly workedOn: WorkedOn
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

const isPassing = ({ _tag }: AgentEvent): boolean =>
  _tag === "TextDelta" || _tag === "ReasoningDelta" || _tag === "ToolCallProgress"

/** How soon an event that is told of here is in the store: asked for so often, with so many milliseconds in between. */
const TRIES = 200
const BETWEEN = 5

const watch = (
  runId: string,
  { pollInterval, store, wake, workedOn }: Options,
  deltas: boolean,
  give: (event: AgentEvent) => void
): Effect.Effect<void, AgentError, Scope.Scope> =>
  Effect.gen(function* () {
    const heard = yield* Queue.unbounded<AgentEvent>()
    yield* Effect.acquireRelease(
      Effect.sync(() => workedOn.listen(runId, (event) => Queue.offerUnsafe(heard, event), deltas)),
      (stop) => Effect.sync(stop)
    )
    const past = yield* store.events(runId, 0)
    const lastEnd = past.findLastIndex(({ event }) => event._tag === "Ended")
    const run = yield* store.get(runId)
    const end = past[lastEnd]
    if (end !== undefined && lastEnd === past.length - 1 && (yield* rests(store, run))) return give(end.event)
    yield* wake
    let after = end?.number ?? 0
    /** Events of the store that were not given yet. */
    const known: Array<Stored> = []
    const read = Effect.suspend(() =>
      Effect.map(store.events(runId, after), (events) => {
        for (const { event, number } of events) {
          after = number
          known.push(event)
        }
      })
    )
    /** Gives so many of them; whether the last of all was among them. */
    const giveKnown = (count: number): boolean =>
      known.splice(0, count).some((event) => {
        give(event)
        return event._tag === "Ended"
      })
    while (true) {
      const event = yield* Effect.timeoutOption(Queue.take(heard), pollInterval)
      if (Option.isNone(event)) {
        // It is worked on elsewhere, if at all.
        yield* read
        if (giveKnown(known.length)) return
      } else if (isPassing(event.value)) {
        give(event.value)
      } else {
        for (let tries = 0; known.length === 0 && tries < TRIES; tries++) {
          if (tries > 0) yield* Effect.sleep(BETWEEN)
          yield* read
        }
        // What is told here is one event in the store; the last one has all others before it.
        if (giveKnown(event.value._tag === "Ended" ? known.length : 1)) return
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
