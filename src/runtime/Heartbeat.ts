/**
 * The heartbeat of a worker: keeps its lease, and learns whether the run is still its own.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Service } from "./RunStore.ts"

/**
 * Renews the lease, three times in its length, until the run is to stop. A store that fails is asked again, until the lease must be over:
 * then somebody else may have the run.
 */
export const beat = (
  store: Service,
  runId: string,
  epoch: number
): Effect.Effect<"cancelled" | "superseded"> =>
  Effect.gen(function* () {
    let renewed = yield* Clock.currentTimeMillis
    while (true) {
      yield* Effect.sleep(store.leaseMillis / 3)
      const standing = yield* Effect.result(store.renew(runId, epoch))
      const now = yield* Clock.currentTimeMillis
      if (standing._tag === "Success") {
        if (standing.success !== "holds") return standing.success
        renewed = now
      } else if (now - renewed >= store.leaseMillis) {
        yield* Effect.logWarning(
          `toolspan: run "${runId}" is given up, its lease could not be renewed: ${standing.failure.message}`
        )
        return "superseded"
      }
    }
  })
