/**
 * Where agents run: takes runs, works on them or has them worked on, and tells what happens in them.
 *
 * {@link layer} works on a run in the fiber of whoever asks for it. `DurableRuntime.ts` leaves that to the workers of an engine.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import * as AgentError from "./AgentError.ts"
import type { AgentEvent } from "./AgentEvent.ts"
import * as ApprovalGauges from "./ApprovalGauges.ts"
import type { Worker } from "./Definition.ts"
import * as EventStream from "./EventStream.ts"
import * as MemoryRunStore from "./MemoryRunStore.ts"
import type { Outcome } from "./Outcome.ts"
import { type NewRun, type Run, RunStore, type Service as Store } from "./RunStore.ts"
import { WorkedOn } from "./WorkedOn.ts"
import { Workers } from "./Workers.ts"

export interface Service {
  /** Lets this process work on the runs of an agent, until the scope ends. */
  readonly register: (worker: Worker) => Effect.Effect<void, never, Scope.Scope>
  /** Records a run, to be worked on: see `RunStore.begin` for how it fails; `AgentNotFound`. */
  readonly begin: (run: NewRun) => Effect.Effect<Run, AgentError.AgentError>
  /** Has a run worked on, if this runtime does so by itself. */
  readonly wake: (runId: string) => Effect.Effect<void, AgentError.AgentError>
  /** What happens in a run until its stretch ends, and whatever else it takes to get there. Starts with what happens next. */
  readonly follow: (runId: string) => Stream.Stream<AgentEvent, AgentError.AgentError>
  /** The same without looking on: how the stretch ends. */
  readonly outcome: (runId: string) => Effect.Effect<Outcome, AgentError.AgentError>
  /**
   * Stops a run, waits until it has stopped, and tells how it ended, which may be otherwise if it was just then about to. Its handlers are
   * interrupted, and given the time that the agent allows for their finalizers.
   */
  readonly cancel: (runId: string) => Effect.Effect<Outcome, AgentError.AgentError>
}

export class AgentRuntime extends Context.Service<AgentRuntime, Service>()("toolspan/runtime/AgentRuntime") {}

/**
 * Works on a run in the fiber that asks for it: whoever interrupts that fiber, or stops reading the stream, cancels the run. A run that
 * waits for approvals goes on when somebody resumes it.
 */
export const layer: Layer.Layer<AgentRuntime, never, RunStore> = Layer.effect(AgentRuntime)(
  Effect.gen(function* () {
    const store = yield* RunStore
    const workers = new Workers()
    // What waits in a store of this process alone is told by who asked for it.
    if (store.isShared) yield* Effect.forkScoped(ApprovalGauges.report(store, () => workers.tools))
    return make(store, workers)
  })
)

/** The same, with a store of its own in memory: all is gone with the process. */
export const layerMemory: Layer.Layer<AgentRuntime | RunStore> = Layer.provideMerge(
  layer,
  MemoryRunStore.layer
)

const make = (store: Store, workers: Workers): Service => {
  const workedOn = new WorkedOn(store)

  const work = (runId: string): Effect.Effect<Outcome, AgentError.AgentError> =>
    Effect.flatMap(store.get(runId), ({ agent }) =>
      Effect.flatMap(workers.get(agent), (worker) => {
        // Another process has it: until it is done, or its lease is over.
        const wait = Effect.sleep(Math.min(1000, store.leaseMillis / 4))
        const working: Effect.Effect<Outcome, AgentError.AgentError> = Effect.catchIf(
          workedOn.work(worker, runId, "cancel"),
          (error) => AgentError.is(error, "RunBusy") && store.isShared,
          () => Effect.andThen(wait, working)
        )
        return working
      })
    )

  return {
    register: (worker) => workers.add(worker),
    begin: (run) => Effect.andThen(workers.get(run.agent), store.begin(run)),
    wake: () => Effect.void,
    outcome: work,
    follow: (runId) =>
      EventStream.make((give) => {
        const stop = workedOn.listen(runId, give, true)
        return Effect.ensuring(work(runId), Effect.sync(stop))
      }),
    cancel: (runId) =>
      Effect.gen(function* () {
        yield* store.cancel(runId)
        yield* workedOn.cancel(runId)
        return yield* work(runId)
      })
  }
}
