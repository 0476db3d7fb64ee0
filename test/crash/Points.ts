/**
 * Where a worker of the crash tests can be told to die: in the model, in a tool, and around everything that the runtime writes.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as RunStore from "../../src/runtime/RunStore.ts"

/** How often each is the end of a worker that passes it. */
export const points = {
  "in the model's answer": 0.01,
  "while it asks": 0.015,
  "before the call": 0.005,
  "after the effect": 0.005,
  "before claim": 0.005,
  "in a hand-over": 0.03,
  "after a decision": 0.02,
  "before beginCall": 0.005,
  "after beginCall": 0.005,
  "before endCall": 0.005,
  "after endCall": 0.005,
  "before commit": 0.002,
  "after commit": 0.002
}
export type Point = keyof typeof points

export type Pass = (point: Point) => Effect.Effect<void>

/** The store of a worker that passes a point before and after what it writes. */
const around = (store: RunStore.Service, pass: Pass): RunStore.Service => {
  const both =
    <Args extends ReadonlyArray<unknown>, A, E>(
      name: "beginCall" | "commit" | "endCall",
      write: (...args: Args) => Effect.Effect<A, E>
    ) =>
    (...args: Args): Effect.Effect<A, E> =>
      Effect.tap(Effect.andThen(pass(`before ${name}`), write(...args)), pass(`after ${name}`))
  return {
    ...store,
    claim: (runId) =>
      pass("before claim").pipe(
        Effect.andThen(store.claim(runId)),
        Effect.tap(({ approvals, found, taken }) => {
          if (!taken) return Effect.void
          if (found === "running") return pass("in a hand-over")
          return approvals.length > 0 ? pass("after a decision") : Effect.void
        })
      ),
    beginCall: both("beginCall", store.beginCall),
    endCall: both("endCall", store.endCall),
    commit: both("commit", store.commit)
  }
}

/** In the place of the store in scope. */
export const layer = (pass: Pass): Layer.Layer<RunStore.RunStore, never, RunStore.RunStore> =>
  Layer.effect(RunStore.RunStore)(Effect.map(RunStore.RunStore, (store) => around(store, pass)))
