/**
 * An error of the user's, or of what they pointed at: one line, without a stack.
 */
import * as Cause from "effect/Cause"
import * as CliError from "effect/cli/CliError"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { SqlError } from "effect/sql/SqlError"
import { AgentError } from "../runtime/AgentError.ts"
import * as Shown from "./Shown.ts"

/** The error with this text. */
export const make = (message: string, cause: unknown = message): CliError.UserError =>
  new CliError.UserError({ cause, userMessage: Shown.text(message).replace(/\s*\n\s*/g, " ") })

/** Fails with this text. */
export const fail = (message: string): Effect.Effect<never, CliError.UserError> => Effect.fail(make(message))

/** The error that says what another one says. */
export const from = (error: unknown): CliError.UserError => make(messageOf(error), error)

/** Failures of runs and of their stores as one line. */
export const ofStores = <A, E, R>(effect: Effect.Effect<A, E | AgentError | SqlError, R>) =>
  Effect.mapError(effect, (error) =>
    error instanceof AgentError || error instanceof SqlError ? from(error) : error
  )

/** What an error says: its message, else what it is. */
export const messageOf = (error: unknown): string =>
  Predicate.hasProperty(error, "message") && typeof error.message === "string" && error.message !== ""
    ? error.message
    : String(error)

/** What an error and its causes say, each only what the one before has not said. */
export const causesOf = (error: unknown): string => {
  const said: Array<string> = []
  let cause = error
  for (let depth = 0; depth < 5 && cause !== undefined; depth++) {
    const message = messageOf(cause)
    if (!said.some((before) => before.includes(message))) said.push(message)
    cause = Predicate.hasProperty(cause, "cause") ? cause.cause : undefined
  }
  return said.join(": ")
}

/** The error that says what failed, and why. */
export const ofCause = (what: string, cause: Cause.Cause<unknown>): CliError.UserError => {
  const error = Cause.squash(cause)
  return make(`${what}: ${causesOf(error)}`, error)
}
