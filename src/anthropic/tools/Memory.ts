/**
 * The memory tool as Anthropic defines it: the model keeps notes in files below `/memories`.
 *
 * The definition says nothing of where the files are: that is `directory/MemoryHandler.ts`. Every call that changes something needs approval
 * unless `needsApproval` says otherwise.
 */
import * as Tool from "effect/ai/Tool"
import * as Schema from "effect/Schema"
import { FileError } from "../directory/FileError.ts"
import * as FileCommands from "./FileCommands.ts"

export const Parameters = Schema.Union([
  FileCommands.View,
  FileCommands.Create,
  Schema.Struct({
    command: Schema.Literal("str_replace"),
    path: Schema.String,
    old_str: Schema.String,
    new_str: Schema.String
  }),
  Schema.Struct({
    command: Schema.Literal("insert"),
    path: Schema.String,
    insert_line: Schema.Int,
    insert_text: Schema.String
  }),
  Schema.Struct({ command: Schema.Literal("delete"), path: Schema.String }),
  Schema.Struct({ command: Schema.Literal("rename"), old_path: Schema.String, new_path: Schema.String })
])
export type Parameters = typeof Parameters.Type

export interface Options {
  /** Which calls need approval; default: all but `view`. */
  readonly needsApproval?: Tool.NeedsApproval<typeof Parameters> | undefined
}

const tool = Tool.providerDefined({
  id: "anthropic.memory_20250818",
  customName: "AnthropicMemory",
  providerName: "memory",
  requiresHandler: true,
  args: Schema.Struct({}),
  parameters: Parameters,
  success: Schema.String,
  failure: FileError
})

/** Version `memory_20250818`, the only one. */
export const Memory_20250818 = (options: Options = {}) =>
  // Upstream leaves `failureMode` among the arguments, which are what is sent.
  Object.assign(tool({ failureMode: "return" }), {
    args: {},
    needsApproval: options.needsApproval ?? FileCommands.changes
  })
