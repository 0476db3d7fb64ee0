/**
 * Ends a call with the fiber that made it, at the latest.
 *
 * Upstream forks the handler as a child of the fiber that calls `handle`, so a handler never outlives it. A result stream that nobody
 * has read by then was either abandoned (the handler had finished: its results can still be read) or cancelled with it.
 */
import type * as Fiber from "effect/Fiber"
import * as Predicate from "effect/Predicate"
import * as Ending from "./Ending.ts"
import type { ToolCall } from "./ToolCall.ts"

type AnyFiber = Fiber.Fiber<unknown, unknown>

/**
 * The child that the fiber forked last. Fibers know their children, but the public interface does not say so: where that changes, none is
 * found, and an unread call counts as cancelled.
 */
export const lastChild = (fiber: AnyFiber): AnyFiber | undefined => {
  if (!Predicate.hasProperty(fiber, "_children") || !(fiber._children instanceof Set)) return undefined
  let last: AnyFiber | undefined
  for (const child of fiber._children) last = child
  return last
}

/** Has the call end with the fiber. `handler` is the fiber that runs its handler, if one was forked. */
export const endWith = (fiber: AnyFiber, handler: AnyFiber | undefined, call: ToolCall): void => {
  call.onEnd(
    fiber.addObserver(() => {
      const finished = handler === undefined || handler.pollUnsafe()?._tag === "Success"
      call.closed(finished ? Ending.abandoned : Ending.cancelled)
    })
  )
}
