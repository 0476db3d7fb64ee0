/**
 * The runtime that leaves runs to the workers of an engine: `effect/workflow`, on whichever engine is provided.
 *
 * One execution of a workflow is one stretch of a run, so that a run that waits is a row in the store and nothing else. What the engine
 * remembers decides nothing: an execution claims the run in the store, and leaves it alone if another worker has it. Each process looks
 * once in a while for runs that are due and have no execution: decided upon by a process without an engine, or left by one that died.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import * as Schema from "effect/Schema"
import * as Workflow from "effect/workflow/Workflow"
import { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import * as Check from "../options/Check.ts"
import type { AgentError } from "./AgentError.ts"
import { AgentRuntime, type Service } from "./AgentRuntime.ts"
import * as ApprovalGauges from "./ApprovalGauges.ts"
import type { Worker } from "./Definition.ts"
import * as Follow from "./Follow.ts"
import * as Limits from "./Limits.ts"
import type { Outcome } from "./Outcome.ts"
import { type Run, RunStore, type Service as Store } from "./RunStore.ts"
import { WorkedOn } from "./WorkedOn.ts"
import { Workers } from "./Workers.ts"

export interface Options {
  /** How often each process looks for runs that are due; default 1 second. */
  readonly pollInterval?: Duration.Input | undefined
}

const checks: Check.Checks<Options> = {
  pollInterval: Limits.DURATION
}

/** How long an execution that was asked for may take to claim its run, before another one is asked for; milliseconds. */
const CLAIM_WITHIN = 30_000

/** Throws an `Error` that names the option that makes no sense. */
export const layer = (options: Options = {}): Layer.Layer<AgentRuntime, never, RunStore | WorkflowEngine> => {
  Check.validate("DurableRuntime.layer", checks, options)
  const pollInterval = Limits.millis(options.pollInterval) ?? 1000
  return Layer.effect(AgentRuntime)(
    Effect.gen(function* () {
      const store = yield* RunStore
      const engine = yield* WorkflowEngine
      const runtime = new Durable(store, engine, pollInterval)
      yield* Effect.forkScoped(runtime.watch)
      yield* Effect.forkScoped(runtime.report)
      return runtime.service
    })
  )
}

/**
 * The engine without its spans: it would have one for each statement of its storage. The spans of runs are not the engine's, and stay.
 */
export const untraced = <A, E, R>(engine: Layer.Layer<A, E, R>): Layer.Layer<A, E, R> =>
  engine.pipe(Layer.provide(Layer.succeed(References.TracerEnabled, false)))

/** The workflow of an agent's stretches. `wake` tells one execution from the next. */
const workflowOf = (agent: string) =>
  Workflow.make(`toolspan/${agent}`, {
    payload: { runId: Schema.String, wake: Schema.String },
    idempotencyKey: ({ runId, wake }) => `${runId}:${wake}`
  })

class Durable {
  readonly #store: Store
  readonly #engine: WorkflowEngine["Service"]
  readonly #pollInterval: number
  readonly #workers = new Workers()
  readonly #workedOn: WorkedOn
  /** The executions that were asked for, and when. */
  readonly #asked = new Map<string, number>()

  constructor(store: Store, engine: WorkflowEngine["Service"], pollInterval: number) {
    this.#store = store
    this.#engine = engine
    this.#pollInterval = pollInterval
    this.#workedOn = new WorkedOn(store)
  }

  get service(): Service {
    const wake = (runId: string) => Effect.flatMap(this.#store.get(runId), (run) => this.#ask(run))
    return {
      register: (worker) => Effect.andThen(this.#workers.add(worker), this.#execute(worker)),
      begin: (run) => Effect.andThen(this.#workers.get(run.agent), this.#store.begin(run)),
      wake,
      follow: (runId) => Follow.stream(runId, this.#following(wake(runId))),
      outcome: (runId) => Follow.outcome(runId, this.#following(wake(runId))),
      cancel: (runId) => this.#cancel(runId)
    }
  }

  /** Looks for runs that are due, for ever. */
  get watch(): Effect.Effect<never> {
    const look = Effect.suspend(() => {
      const { names } = this.#workers
      return names.length === 0
        ? Effect.void
        : Effect.flatMap(this.#store.due(names), (runs) =>
            Effect.forEach(runs, (run) => this.#ask(run), { discard: true })
          )
    })
    return look.pipe(
      Effect.catchCause((cause) =>
        Effect.logWarning("toolspan: looking for runs that are due failed", cause)
      ),
      Effect.andThen(Effect.sleep(this.#pollInterval)),
      Effect.forever
    )
  }

  /** Reports what waits in the store, for ever. */
  get report(): Effect.Effect<never> {
    return ApprovalGauges.report(this.#store, () => this.#workers.tools)
  }

  /** What an execution does, in the context of its agent. */
  #execute(worker: Worker) {
    const { name } = worker.definition
    return this.#engine.register(workflowOf(name), ({ runId }) =>
      this.#workedOn.work(worker, runId, "release").pipe(
        // Another worker has it, or has ended it; or the store failed, and it is due when the lease is over.
        Effect.catch((error) =>
          error.reason._tag === "StoreFailed"
            ? Effect.logWarning(`toolspan: run "${runId}" was left: ${error.message}`)
            : Effect.void
        ),
        Effect.asVoid,
        Effect.updateContext((context: Context.Context<never>) =>
          Context.merge(context, worker.context).pipe(
            Context.add(References.TracerEnabled, Context.get(worker.context, References.TracerEnabled))
          )
        )
      )
    )
  }

  /** Asks the engine for an execution, unless that was done just now. The spans of the engine are nobody's concern here. */
  #ask({ agent, epoch, runId }: Run): Effect.Effect<void> {
    return Effect.flatMap(Clock.currentTimeMillis, (now) => {
      for (const [key, at] of this.#asked) {
        if (now - at <= CLAIM_WITHIN) break
        this.#asked.delete(key)
      }
      const wake = `${epoch}.${Math.floor(now / CLAIM_WITHIN)}`
      const key = `${runId}:${wake}`
      if (this.#asked.has(key)) return Effect.void
      this.#asked.set(key, now)
      return workflowOf(agent)
        .execute({ runId, wake }, { discard: true })
        .pipe(
          Effect.provideService(WorkflowEngine, this.#engine),
          Effect.withTracerEnabled(false),
          Effect.onError(() => Effect.sync(() => this.#asked.delete(key))),
          Effect.asVoid
        )
    })
  }

  #cancel(runId: string): Effect.Effect<Outcome, AgentError> {
    return Effect.gen({ self: this }, function* () {
      yield* this.#store.cancel(runId)
      if (!(yield* this.#workedOn.cancel(runId))) {
        const run = yield* this.#store.get(runId)
        if (run.status === "ready") yield* this.#ask(run)
      }
      return yield* Follow.outcome(runId, this.#following(Effect.void))
    })
  }

  #following(wake: Effect.Effect<void, AgentError>): Follow.Options {
    return { store: this.#store, workedOn: this.#workedOn, pollInterval: this.#pollInterval, wake }
  }
}
