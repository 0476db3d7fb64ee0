/**
 * The handler of the tool `AnthropicMemory`: the model's notes, as files below one directory of this machine, which it knows as `/memories`.
 */
import type * as Effect from "effect/Effect"
import type * as ContentPolicy from "../../content/ContentPolicy.ts"
import type * as Memory from "../tools/Memory.ts"
import * as Commands from "./Commands.ts"
import { Directory } from "./Directory.ts"
import type { FileError } from "./FileError.ts"

export interface Options {
  /** Where the notes are. It must exist; one for each user whose notes are to be told apart. */
  readonly directory: string
  /** How large a file may be, in bytes; default 1 MiB. */
  readonly maxFileBytes?: number | undefined
  /** How much of a file is shown at once, in characters; default 100,000. */
  readonly maxCharacters?: number | undefined
  /** Content of the spans of commands, over the `ContentPolicy` in scope. */
  readonly content?: ContentPolicy.Options | undefined
}

/** The handlers for `toolkit.toLayer`, by the name of the tool. */
export interface Handlers {
  readonly AnthropicMemory: (params: Memory.Parameters) => Effect.Effect<string, FileError>
}

/** Throws an `Error` that names the option that makes no sense. */
export const make = (options: Options): Handlers => {
  const { content, directory, maxCharacters = 100_000, maxFileBytes } = options
  const context: Commands.Context = {
    directory: new Directory({ directory, root: "/memories", maxFileBytes }),
    toolName: "AnthropicMemory",
    editedFile: () => "The memory file has been edited.",
    maxCharacters,
    onEdit: () => {},
    content
  }
  return {
    AnthropicMemory: (params) => {
      switch (params.command) {
        case "view":
          return Commands.view(context, params.path, params.view_range)
        case "create":
          return Commands.create(context, params.path, params.file_text)
        case "str_replace":
          return Commands.replace(context, params.path, params.old_str, params.new_str)
        case "insert":
          return Commands.insert(context, params.path, params.insert_line, params.insert_text)
        case "delete":
          return Commands.remove(context, params.path)
        case "rename":
          return Commands.rename(context, params.old_path, params.new_path)
      }
    }
  }
}
