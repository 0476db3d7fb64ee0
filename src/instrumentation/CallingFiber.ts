/**
 * Ends a call with the fiber that made it, at the latest.
 *
 * Upstream forks the handler as a child of the fiber that calls `handle`, so a handler never outlives it. A result stream that nobody
 * has read by then was either abandoned (the handler had finished: its results can still be read) or cancelled with it.
 */
import type * as Fiber from "effect/Fiber"
import * as Predicate from "effect/Predicate"
import * as Ending from "../signals/Ending.ts"
import type { ToolCall } from "./ToolCall.ts"

type AnyFiber = Fiber.Fiber<unknown, unknown>

/** How many children are looked through for the handler: a fiber that starts many calls at once is not slowed by it. */
const CHILD_LIMIT = 64

/** What is known of a call when its fiber ends. */
export interface Handled {
  /** Whether its handler has finished: not before `handle` has returned. */
  isFinished: () => boolean
}

/** Has the call end, and its span released, with the fiber: it may be interrupted at any step from now on. */
export const endWith = (fiber: AnyFiber, call: ToolCall, release: (() => void) | undefined): Handled => {
  const handled: Handled = { isFinished: () => false }
  const forget = fiber.addObserver(() => {
    release?.()
    call.end(handled.isFinished() ? Ending.abandoned : Ending.cancelled)
  })
  call.onEnd(forget)
  return handled
}

/** The children of a fiber as `handle` begins or returns. */
export interface Children {
  readonly count: number
  /** The child that was forked last; undefined if there is none, or too many to look through. */
  readonly last: AnyFiber | undefined
}

const none: Children = { count: 0, last: undefined }

/** Fibers know their children, but the public interface does not say so: where that changes, there are none. */
export const childrenOf = (fiber: AnyFiber): Children => {
  const children = Predicate.hasProperty(fiber, "_children") ? fiber._children : undefined
  if (!(children instanceof Set) || children.size === 0) return none
  let last: AnyFiber | undefined
  if (children.size <= CHILD_LIMIT) for (const child of children) last = child
  return { count: children.size, last }
}

/**
 * Whether the handler has finished, as seen from the children before and after `handle`: the child that was forked last is its handler, as
 * long as nothing around `handle` forks too. It is watched, never touched; only the word for an unread call depends on it.
 */
export const handlerOf = (before: Children, after: Children): Handled["isFinished"] => {
  const { count, last } = after
  if (count > CHILD_LIMIT) return () => false
  // No child of its own: the call had its result before a handler was needed.
  if (last === undefined || last === before.last) return () => true
  return () => last.pollUnsafe()?._tag === "Success"
}
