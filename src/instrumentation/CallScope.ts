/**
 * The context that upstream and the handler of one call run in.
 */
import * as Context from "effect/Context"
import * as Tracer from "effect/Tracer"
import { ToolCallOrigin } from "../propagation/Origin.ts"

/** Turns the context of whoever runs a part of the call into that part's own. */
export class CallScope {
  readonly #span: Tracer.Span | undefined
  readonly #origin: boolean
  #outer: Context.Context<never> | undefined
  #inner: Context.Context<never> | undefined

  /**
   * `span` becomes the current one, if there is one. `origin` says that the call was given an origin, which is not the handler's.
   */
  constructor(span: Tracer.Span | undefined, origin: boolean) {
    this.#span = span
    this.#origin = origin
  }

  /** The same context again for the same outer one, for which Effect caches what fibers look up. */
  readonly of = (context: Context.Context<never>): Context.Context<never> => {
    if (this.#inner === undefined || this.#outer !== context) {
      let inner = context
      if (this.#span !== undefined) inner = Context.add(inner, Tracer.ParentSpan, this.#span)
      if (this.#origin) inner = Context.add(inner, ToolCallOrigin, undefined)
      this.#outer = context
      this.#inner = inner
    }
    return this.#inner
  }
}
