/**
 * Watches the result stream of a call without changing it: same elements, same chunks, same time, same errors.
 */
import * as Cause from "effect/Cause"
import * as Channel from "effect/Channel"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import * as Ending from "./Ending.ts"
import type { ToolCall } from "./ToolCall.ts"

/** The result stream of any tool. */
export type Results = Stream.Stream<Ending.Result, unknown>

/**
 * The same stream, telling the call of each read, and of a consumer that stops before the end. `handler` is the fiber that runs the
 * handler, if there is one; `encoder` is the span under which a read encodes a result, if
 * that is code of the tool's own.
 */
export const watch = (
  results: Results,
  call: ToolCall,
  handler: Fiber.Fiber<unknown, unknown> | undefined,
  encoder: Tracer.Span | undefined
): Results =>
  Stream.fromChannel(
    Channel.fromTransform((upstream, consumer) =>
      Effect.map(Channel.toTransform(results.channel)(upstream, consumer), (pull) => {
        let reading = false
        return Effect.onExitPrimitive(under(pull, encoder), (exit) => {
          if (exit._tag === "Failure" && Cause.hasInterrupts(exit.cause)) return stopped(call, handler, exit)
          call.pulled(exit)
          // After the final result nothing can happen to the call; before it, the consumer may stop reading.
          if (call.ended || reading) return undefined
          reading = true
          return Scope.addFinalizerExit(consumer, (exit) => stopped(call, handler, exit))
        })
      })
    )
  )

/** Ends a call whose consumer stopped. The handler has stopped by then, as upstream would have it a moment later. */
const stopped = (
  call: ToolCall,
  handler: Fiber.Fiber<unknown, unknown> | undefined,
  exit: Exit.Exit<unknown, unknown>
): Effect.Effect<void> => {
  const ending =
    exit._tag === "Failure" && Cause.hasInterrupts(exit.cause) ? Ending.cancelled : Ending.abandoned
  const end = Effect.sync(() => call.closed(ending))
  return handler === undefined || call.ended ? end : Effect.andThen(Fiber.interrupt(handler), end)
}

/** What encoding a result logs, traces or requests belongs to the tool, too. */
const under = <A, E>(pull: Effect.Effect<A, E>, span: Tracer.Span | undefined): Effect.Effect<A, E> =>
  span === undefined ? pull : Effect.provideService(pull, Tracer.ParentSpan, span)
