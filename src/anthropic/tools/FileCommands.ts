/** What the commands of the memory tool and of the text editor have in common. */
import * as Schema from "effect/Schema"

/** Shows a file, or what is in a directory. `view_range`: the first and the last line, from 1; -1 is the last one. */
export const View = Schema.Struct({
  command: Schema.Literal("view"),
  path: Schema.String,
  view_range: Schema.optionalKey(Schema.Tuple([Schema.Int, Schema.Int]))
})

/** Makes a file. Its text may be empty, and is never missing. */
export const Create = Schema.Struct({
  command: Schema.Literal("create"),
  path: Schema.String,
  file_text: Schema.String
})

/** Whether a command changes anything. */
export const changes = ({ command }: { readonly command: string }): boolean => command !== "view"
