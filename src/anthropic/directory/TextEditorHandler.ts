/**
 * The handler of the tool `AnthropicTextEditor`: text files below one directory of this machine.
 */
import * as path from "node:path"
import type * as Effect from "effect/Effect"
import type * as ContentPolicy from "../../content/ContentPolicy.ts"
import type * as TextEditor from "../tools/TextEditor.ts"
import * as Commands from "./Commands.ts"
import { Directory } from "./Directory.ts"
import type * as FileError from "./FileError.ts"

export interface Options {
  /** The directory. It must exist. */
  readonly directory: string
  /** How the model knows it, as an absolute path; default: by its own. Relative paths are below it, too. */
  readonly root?: string | undefined
  /** How large a file may be, in bytes; default 1 MiB. */
  readonly maxFileBytes?: number | undefined
  /** How much of a file is shown at once, in characters; default 100,000. Give what the tool's `max_characters` says. */
  readonly maxCharacters?: number | undefined
  /** Content of the spans of commands, over the `ContentPolicy` in scope. */
  readonly content?: ContentPolicy.Options | undefined
}

/** The handlers for `toolkit.toLayer`, by the name of the tool. */
export interface Handlers {
  readonly AnthropicTextEditor: (params: TextEditor.Parameters) => Effect.Effect<string, FileError.FileError>
}

/** How many edits can be undone: for each, the file before and after is held in memory. */
const MAX_EDITS = 20

/** Throws an `Error` that names the option that makes no sense. */
export const make = (options: Options): Handlers => {
  const { content, directory, maxCharacters = 100_000, maxFileBytes, root } = options
  const edits: Array<Commands.Edit> = []
  const context: Commands.Context = {
    directory: new Directory({ directory, root: root ?? path.resolve(directory), maxFileBytes }),
    toolName: "AnthropicTextEditor",
    editedFile: (shown) => `The file ${shown} has been edited.`,
    maxCharacters,
    onEdit: (edit) => {
      edits.push(edit)
      if (edits.length > MAX_EDITS) edits.shift()
    },
    content
  }
  return {
    AnthropicTextEditor: (params) => {
      switch (params.command) {
        case "view":
          return Commands.view(context, params.path, params.view_range)
        case "create":
          return Commands.create(context, params.path, params.file_text)
        case "str_replace":
          return Commands.replace(context, params.path, params.old_str, params.new_str ?? "")
        case "insert":
          return Commands.insert(
            context,
            params.path,
            params.insert_line,
            "insert_text" in params ? params.insert_text : params.new_str
          )
        case "undo_edit":
          return Commands.undo(context, params.path, edits)
      }
    }
  }
}
