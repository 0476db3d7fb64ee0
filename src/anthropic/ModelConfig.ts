/**
 * What a request says besides the prompt and the toolkit, in the API's own words. Set for a model, for a part of a program
 * (`AnthropicLanguageModel.withConfigOverride`), or for both: the inner one wins, field by field.
 */
import type * as Wire from "@anthropic-ai/sdk/resources/beta/messages"
import * as Context from "effect/Context"

type Params = Wire.MessageCreateParamsNonStreaming

/** Sampling, which older models take. The SDK's types have it no more, and the API refuses it for newer models. */
export interface Sampling {
  readonly temperature?: number
  readonly top_k?: number
  readonly top_p?: number
}

export interface ModelConfig
  extends Sampling,
    Partial<
      Omit<
        Params,
        // Of the prompt, the toolkit, the schema of generateObject, and the method.
        | "messages"
        | "system"
        | "tools"
        | "tool_choice"
        | "output_format"
        | "output_config"
        | "stream"
        | "thread"
        | "betas"
      >
    > {
  /** The most tokens of an answer, thinking included. Default: {@link defaultMaxTokens}. */
  readonly max_tokens?: number
  /** Effort and budget; the format is `generateObject`'s to say. */
  readonly output_config?: Omit<Wire.BetaOutputConfig, "format">
  /** Betas for the header `anthropic-beta`, besides those that the tools and the files of the request need. */
  readonly betas?: ReadonlyArray<string>
  /** Whether the model makes at most one call per turn. */
  readonly disable_parallel_tool_use?: boolean
  /** Tools of the servers in `mcp_servers`, which the API calls itself; no toolkit has them. */
  readonly tools?: ReadonlyArray<Wire.BetaMCPToolset>
}

/** Enough for a long answer, and below what all current models can give. */
export const defaultMaxTokens = 16_384

/** What {@link ModelConfig} a part of a program has set. */
export const Override = Context.Reference<ModelConfig>("toolspan/anthropic/ModelConfig/Override", {
  defaultValue: () => ({})
})
