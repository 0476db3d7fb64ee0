/**
 * Why a bash tool call gave no result of a command. The model reads it: the message says what happened and what to do.
 *
 * That a command ends with an exit code other than 0 is no error but its result.
 */
import * as Schema from "effect/Schema"

export class BashError extends Schema.TaggedError<BashError>()("BashError", {
  reason: Schema.Literals([
    /** The call has neither a command nor `restart`. */
    "NothingToDo",
    /** The command holds characters that no shell can be given. */
    "BadCommand",
    /** The command took too long. It and all that the session had started were killed. */
    "TimedOut",
    /** The shell did not start. */
    "ShellUnavailable",
    /** The shell no longer answered. It was killed. */
    "ShellLost"
  ]),
  message: Schema.String
}) {}
