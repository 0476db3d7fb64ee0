/**
 * The runs that this process works on now: who may listen to them, cancel them, and wait until they are left.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type { AgentError } from "./AgentError.ts"
import type { AgentEvent } from "./AgentEvent.ts"
import type { Worker } from "./Definition.ts"
import type { Outcome } from "./Outcome.ts"
import type { Service as Store } from "./RunStore.ts"
import * as Stretch from "./Stretch.ts"

/** Hears what happens in a run; of an event that the store keeps, after it was written, with its number there. */
export type Listener = (event: AgentEvent, number?: number) => void

interface Work {
  readonly cancelled: Deferred.Deferred<void>
  readonly left: Deferred.Deferred<void>
}

export class WorkedOn {
  readonly #store: Store
  readonly #works = new Map<string, Work>()
  readonly #listeners = new Map<string, Map<Listener, boolean>>()

  constructor(store: Store) {
    this.#store = store
  }

  /** Works on the run for one stretch; see `Stretch.ts` for how it fails. Waits while this process works on it already. */
  work(
    worker: Worker,
    runId: string,
    onInterrupt: Stretch.Options["onInterrupt"]
  ): Effect.Effect<Outcome, AgentError> {
    return Effect.suspend(() => {
      const before = this.#works.get(runId)
      if (before !== undefined) {
        return Effect.andThen(Deferred.await(before.left), this.work(worker, runId, onInterrupt))
      }
      const work: Work = { cancelled: Deferred.makeUnsafe(), left: Deferred.makeUnsafe() }
      this.#works.set(runId, work)
      return Effect.onExit(
        Stretch.work(worker, this.#store, runId, {
          onInterrupt,
          streaming: this.#wantsDeltas(runId),
          cancelled: Deferred.await(work.cancelled),
          emit: (event, number) => this.#tell(runId, event, number)
        }),
        () => {
          this.#works.delete(runId)
          return Deferred.succeed(work.left, undefined)
        }
      )
    })
  }

  /** Stops the work on the run, and waits until it is left; false if this process does not work on it. */
  cancel(runId: string): Effect.Effect<boolean> {
    return Effect.suspend(() => {
      const work = this.#works.get(runId)
      if (work === undefined) return Effect.succeed(false)
      return Effect.as(
        Effect.andThen(Deferred.succeed(work.cancelled, undefined), Deferred.await(work.left)),
        true
      )
    })
  }

  /** Whether this process works on the run now. */
  has(runId: string): boolean {
    return this.#works.has(runId)
  }

  /** Listens until the returned function is called. `deltas`: whether those are wanted, so that the model is asked for a stream. */
  listen(runId: string, listener: Listener, deltas: boolean): () => void {
    const listeners = this.#listeners.get(runId) ?? new Map<Listener, boolean>()
    this.#listeners.set(runId, listeners.set(listener, deltas))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0) this.#listeners.delete(runId)
    }
  }

  #wantsDeltas(runId: string): boolean {
    const listeners = this.#listeners.get(runId)
    return listeners !== undefined && [...listeners.values()].includes(true)
  }

  #tell(runId: string, event: AgentEvent, number: number | undefined): void {
    const listeners = this.#listeners.get(runId)
    if (listeners !== undefined) for (const listener of listeners.keys()) listener(event, number)
  }
}
