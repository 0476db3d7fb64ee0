/**
 * The agents that work in this process, by their names.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { AgentError, AgentNotFound } from "./AgentError.ts"
import type { Worker } from "./Definition.ts"

export class Workers {
  readonly #workers = new Map<string, Worker>()

  /** The agents, by name. */
  get names(): ReadonlyArray<string> {
    return [...this.#workers.keys()]
  }

  /** The names of their tools. */
  get tools(): ReadonlySet<string> {
    return new Set([...this.#workers.values()].flatMap(({ toolkit }) => Object.keys(toolkit.tools)))
  }

  /** Adds one, until the scope ends. Dies with an `Error` if another agent has its name. */
  add(worker: Worker): Effect.Effect<void, never, Scope.Scope> {
    const { name } = worker.definition
    return Effect.acquireRelease(
      Effect.sync(() => {
        if (this.#workers.has(name)) {
          throw new Error(
            `two agents are named "${name}": a name stands for one agent in a runtime. Rename one of them, and provide each layer once`
          )
        }
        this.#workers.set(name, worker)
      }),
      () => Effect.sync(() => this.#workers.delete(name))
    )
  }

  /** `AgentNotFound`. */
  get(agent: string): Effect.Effect<Worker, AgentError> {
    const worker = this.#workers.get(agent)
    return worker === undefined
      ? Effect.fail(new AgentError({ reason: new AgentNotFound({ agent, known: [...this.names] }) }))
      : Effect.succeed(worker)
  }
}
