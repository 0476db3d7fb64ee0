/**
 * Why a command on files was not carried out. The model reads it: the message names the path as the model knows it, never where that is on
 * this machine, and says what to do.
 */
import * as Schema from "effect/Schema"

export class FileError extends Schema.TaggedError<FileError>()("FileError", {
  reason: Schema.Literals([
    /** The path leads out of the directory, or could somewhere, or is no path. Nothing was touched. */
    "BadPath",
    /** Nothing is there. */
    "NotFound",
    /** Something is there already. */
    "Exists",
    /** It is no text file of a size that can be read; or a directory where a file is needed, or the other way round. */
    "NotText",
    /** The edit does not fit the text: no match, several, or no such line. Nothing was changed. */
    "NoMatch",
    /** Somebody else changed the file meanwhile. Nothing was changed. */
    "Changed",
    /** The file would be too large. Nothing was written. */
    "TooLarge",
    /** The system refused. */
    "Refused"
  ]),
  message: Schema.String
}) {}

/** What a command fails with, thrown where it is found. */
export const fail = (reason: FileError["reason"], message: string): never => {
  throw new FileError({ reason, message })
}
