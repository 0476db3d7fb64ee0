/**
 * Watches the result stream of a call without changing it: same elements, same chunks, same time, same errors.
 */
import * as Channel from "effect/Channel"
import type * as Context from "effect/Context"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Ending from "./Ending.ts"
import type { CallScope } from "./CallScope.ts"
import type { ToolCall } from "./ToolCall.ts"

/** The result stream of any tool. */
export type Results = Stream.Stream<Ending.Result, unknown>

/** The same stream, telling the call of each read, and of a consumer that stops before the end. */
export const watch = (stream: Results, call: ToolCall, scope: CallScope | undefined): Results =>
  Stream.fromChannel(
    Channel.fromTransform((upstream, outer) => {
      // Upstream's finalizers get a scope of their own, so that they have run, and the handler has stopped, when the call ends.
      const inner = Scope.makeUnsafe()
      const pull = Channel.toTransform(stream.channel)(upstream, inner)
      return Effect.andThen(
        Scope.addFinalizerExit(outer, (exit) => closing(inner, exit, call)),
        Effect.map(pull, (pull) => Effect.onExitPrimitive(inScope(pull, scope), call.pulled))
      )
    })
  )

const closing = (inner: Scope.Closeable, exit: Exit.Exit<unknown, unknown>, call: ToolCall) => {
  const ending = exit._tag === "Failure" && Cause.hasInterrupts(exit.cause) ? Ending.cancelled : Ending.abandoned
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
const inScope = <A, E>(pull: Effect.Effect<A, E>, scope: CallScope | undefined): Effect.Effect<A, E> =>
  scope === undefined ? pull : Effect.updateContext(pull, (context: Context.Context<never>) => scope.of(context))
