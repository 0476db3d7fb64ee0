/**
 * Watches the result stream of a call without changing it: same elements, same chunks, same time, same errors.
 */
import * as Cause from "effect/Cause"
import * as Channel from "effect/Channel"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import * as Ending from "../signals/Ending.ts"
import type { ToolCall } from "./ToolCall.ts"

/** The result stream of any tool. */
export type Results = Stream.Stream<Ending.Result, unknown>

/**
 * The same stream, telling the call of each read, and of a consumer that stops before the end. `encoder` is the span under which a
 * read encodes a result, if that is code of the tool's own.
 */
export const watch = (results: Results, call: ToolCall, encoder: Tracer.Span | undefined): Results =>
  Stream.fromChannel(
    Channel.fromTransform((upstream, consumer) => {
      // Upstream's finalizers get a scope of their own, so that they have run, and the handler has stopped, when the call ends.
      const inner = Scope.makeUnsafe()
      call.opened()
      return Effect.andThen(
        Scope.addFinalizerExit(consumer, (exit) => closed(inner, exit, call)),
        Effect.map(Channel.toTransform(results.channel)(upstream, inner), (pull) =>
          Effect.onExitPrimitive(under(pull, encoder), call.pulled)
        )
      )
    })
  )

const closed = (
  inner: Scope.Closeable,
  exit: Exit.Exit<unknown, unknown>,
  call: ToolCall
): Effect.Effect<void> => {
  const ending =
    exit._tag === "Failure" && Cause.hasInterruptsOnly(exit.cause) ? Ending.cancelled : Ending.abandoned
  if (inner.state._tag !== "Empty") {
    return Effect.ensuring(
      Scope.close(inner, exit),
      Effect.sync(() => call.closed(ending))
    )
  }
  call.closed(ending)
  return Effect.void
}

/** What encoding a result logs, traces or requests belongs to the tool, too. */
const under = <A, E>(pull: Effect.Effect<A, E>, span: Tracer.Span | undefined): Effect.Effect<A, E> =>
  span === undefined ? pull : Effect.provideService(pull, Tracer.ParentSpan, span)
