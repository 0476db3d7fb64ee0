/**
 * Why an action was not carried out. The model reads it: the message says what was wrong and what to do.
 */
import * as Schema from "effect/Schema"

export class ComputerError extends Schema.TaggedError<ComputerError>()("ComputerError", {
  reason: Schema.Literals([
    /** The action asks for what cannot be: a place off the screen, a key that there is not. Nothing was done. */
    "BadAction",
    /** There is no such display, or a program is missing. */
    "Unavailable",
    /** A program failed. The action may have been done in part. */
    "Failed"
  ]),
  message: Schema.String
}) {}

export const badAction = (message: string): ComputerError =>
  new ComputerError({ reason: "BadAction", message })
