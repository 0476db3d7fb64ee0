/**
 * The bash tool as Anthropic defines it, one definition for each version of the API: the model runs commands in a shell of the client.
 *
 * The definitions say nothing of how commands run: that is `bash/BashHandler.ts`. How they are sent is the language model's. Every call
 * needs approval unless `needsApproval` says otherwise.
 */

import * as Tool from "effect/ai/Tool"
import * as Schema from "effect/Schema"
import { BashError } from "../bash/BashError.ts"

/** What the model calls the tool with: a command to run, or `restart: true` for a new shell; with both, the command runs in that. */
export const Parameters = Schema.Struct({
  command: Schema.optionalKey(Schema.String),
  restart: Schema.optionalKey(Schema.Boolean)
})
export type Parameters = typeof Parameters.Type

export interface Options {
  /** Which calls need approval; default: all. */
  readonly needsApproval?: Tool.NeedsApproval<typeof Parameters> | undefined
}

const define = <const Id extends `anthropic.${string}`>(id: Id) => {
  const tool = Tool.providerDefined({
    id,
    customName: "AnthropicBash",
    providerName: "bash",
    requiresHandler: true,
    args: Schema.Struct({}),
    parameters: Parameters,
    success: Schema.String,
    failure: BashError
  })
  // Upstream leaves `failureMode` among the arguments, which are what is sent.
  return (options: Options = {}) =>
    Object.assign(tool({ failureMode: "return" }), { args: {}, needsApproval: options.needsApproval ?? true })
}

/** Version `bash_20241022`. */
export const Bash_20241022 = define("anthropic.bash_20241022")

/** Version `bash_20250124`, the current one. */
export const Bash_20250124 = define("anthropic.bash_20250124")
