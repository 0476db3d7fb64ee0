/**
 * An OpenTelemetry context manager in which a context can be *entered*: made active from now on, not only while a function runs.
 *
 * That is what lets the tracer change the active context once per span and run of a fiber instead of once per primitive. Who enters
 * must put back what was there before; `ActiveContext.ts` does.
 */
import { AsyncLocalStorage } from "node:async_hooks"
import { type Context, ROOT_CONTEXT } from "@opentelemetry/api"
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks"

/** What is active in the present asynchronous execution; undefined where nothing was entered. */
export type Entered = Context | undefined

/** The context manager of `@opentelemetry/context-async-hooks` (for what it knows of binding), on a storage of our own. */
export class EnterableContextManager extends AsyncLocalStorageContextManager {
  readonly #storage = new AsyncLocalStorage<Entered>()

  override active(): Context {
    return this.#storage.getStore() ?? ROOT_CONTEXT
  }

  override with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    context: Context,
    run: F,
    self?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    return this.#storage.run(context, () => run.apply(self, args))
  }

  override disable(): this {
    this.#storage.disable()
    return this
  }

  override attach(context: Context): { dispose(): void } {
    const before = this.entered()
    this.enter(context)
    return { dispose: () => this.enter(before) }
  }

  /** What is active now, to be entered again later. */
  entered(): Entered {
    return this.#storage.getStore()
  }

  /** Makes `context` active for the rest of the present asynchronous execution and what it starts. */
  enter(context: Entered): void {
    this.#storage.enterWith(context)
  }
}
