/**
 * Waiting for a lock that another connection to the file holds. SQLite's own waiting would stop the whole process, so here a fiber sleeps
 * between attempts and all others go on.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { LockTimeoutError, SqlError } from "effect/sql/SqlError"
import * as Failure from "./Failure.ts"

/** Runs an effect again while it fails because the database is locked. */
export type Retry = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | SqlError, R>

/**
 * Sleeps 1 millisecond, then ever longer up to 50; after `timeout` the effect fails with a `LockTimeoutError`. Only for what changes
 * nothing when it fails: a statement outside a transaction, the start of a transaction, a COMMIT.
 */
export const makeRetry = (filename: string, timeout: Duration.Duration): Retry => {
  const schedule = Schedule.min([Schedule.exponential("1 millis"), Schedule.spaced("50 millis")]).pipe(
    Schedule.jittered,
    Schedule.upTo({ duration: timeout })
  )
  const timedOut = (error: SqlError): SqlError =>
    new SqlError({
      reason: new LockTimeoutError({
        cause: error.reason.cause,
        operation: error.reason.operation,
        message:
          `SQLite, ${error.reason.operation}: the database is locked: another connection to ${filename} ` +
          `held the lock for longer than the busyTimeout of ${Duration.format(timeout)}`
      })
    })
  return (effect) =>
    Duration.isZero(timeout)
      ? effect
      : effect.pipe(
          Effect.retry({ schedule, while: Failure.isBusy }),
          Effect.mapError((error) => (Failure.isBusy(error) ? timedOut(error) : error))
        )
}
