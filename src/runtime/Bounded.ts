/**
 * Interruption that waits, but not for ever.
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"

/**
 * Runs the effect so that, if it is interrupted, its finalizers are waited for, `within` milliseconds at most; what takes longer goes on by
 * itself, with a warning.
 */
export const interruption = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  within: number
): Effect.Effect<A, E, R> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(Effect.forkDetach(Effect.interruptible(effect), { startImmediately: true }), (fiber) =>
      Effect.onInterrupt(restore(Fiber.join(fiber)), () =>
        Effect.flatMap(Effect.timeoutOption(Fiber.interrupt(fiber), within), (done) =>
          done._tag === "Some"
            ? Effect.void
            : Effect.logWarning(
                `toolspan: interrupted tools have not finished within ${within} ms; they go on by themselves`
              )
        )
      )
    )
  )
