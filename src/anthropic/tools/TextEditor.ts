/**
 * The text editor as Anthropic defines it, one definition for each version of the API: the model looks at files and changes them.
 *
 * The definitions say nothing of where the files are: that is `directory/TextEditorHandler.ts`. Every call that changes something needs
 * approval unless `needsApproval` says otherwise.
 */
import * as Tool from "effect/ai/Tool"
import * as Schema from "effect/Schema"
import { FileError } from "../directory/FileError.ts"
import * as FileCommands from "./FileCommands.ts"

const insert = { command: Schema.Literal("insert"), path: Schema.String, insert_line: Schema.Int }

/** All that any version has; without `new_str`, `str_replace` removes the text. Versions differ in how the text to insert is called. */
const commands = [
  FileCommands.View,
  FileCommands.Create,
  Schema.Struct({
    command: Schema.Literal("str_replace"),
    path: Schema.String,
    old_str: Schema.String,
    new_str: Schema.optionalKey(Schema.String)
  }),
  Schema.Struct({ ...insert, insert_text: Schema.String }),
  Schema.Struct({ ...insert, new_str: Schema.String })
] as const

const Undo = Schema.Struct({ command: Schema.Literal("undo_edit"), path: Schema.String })

/** The parameters since version `20250429`. */
export const Parameters = Schema.Union(commands)
/** The parameters until then: the last edit of a file can be undone. */
export const UndoParameters = Schema.Union([...commands, Undo])
export type Parameters = typeof UndoParameters.Type

export interface Options {
  /** Which calls need approval; default: all but `view`. */
  readonly needsApproval?: Tool.NeedsApproval<typeof UndoParameters> | undefined
}

const common = {
  customName: "AnthropicTextEditor",
  requiresHandler: true,
  success: Schema.String,
  failure: FileError
} as const

const noArgs = Schema.Struct({})

const editor_20241022 = Tool.providerDefined({
  ...common,
  id: "anthropic.text_editor_20241022",
  providerName: "str_replace_editor",
  args: noArgs,
  parameters: UndoParameters
})
const editor_20250124 = Tool.providerDefined({
  ...common,
  id: "anthropic.text_editor_20250124",
  providerName: "str_replace_editor",
  args: noArgs,
  parameters: UndoParameters
})
const editor_20250429 = Tool.providerDefined({
  ...common,
  id: "anthropic.text_editor_20250429",
  providerName: "str_replace_based_edit_tool",
  args: noArgs,
  parameters: Parameters
})
const editor_20250728 = Tool.providerDefined({
  ...common,
  id: "anthropic.text_editor_20250728",
  providerName: "str_replace_based_edit_tool",
  args: Schema.Struct({ max_characters: Schema.optionalKey(Schema.Int) }),
  parameters: Parameters
})

// Upstream leaves `failureMode` among the arguments, which are what is sent.
const withApproval = <Tool extends object, Args extends object>(tool: Tool, args: Args, options: Options) =>
  Object.assign(tool, { args, needsApproval: options.needsApproval ?? FileCommands.changes })

/** Version `text_editor_20241022`. */
export const TextEditor_20241022 = (options: Options = {}) =>
  withApproval(editor_20241022({ failureMode: "return" }), {}, options)

/** Version `text_editor_20250124`. */
export const TextEditor_20250124 = (options: Options = {}) =>
  withApproval(editor_20250124({ failureMode: "return" }), {}, options)

/** Version `text_editor_20250429`, for models of the fourth generation. */
export const TextEditor_20250429 = (options: Options = {}) =>
  withApproval(editor_20250429({ failureMode: "return" }), {}, options)

/** Version `text_editor_20250728`, the current one. `maxCharacters`: how much of a file is shown at once; the handler must be told, too. */
export const TextEditor_20250728 = (
  options: Options & { readonly maxCharacters?: number | undefined } = {}
) => {
  const { maxCharacters } = options
  const args = maxCharacters === undefined ? {} : { max_characters: maxCharacters }
  return withApproval(editor_20250728({ ...args, failureMode: "return" }), args, options)
}
