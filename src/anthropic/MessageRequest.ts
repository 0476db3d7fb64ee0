/**
 * A request of effect/ai as one of the Messages API, with all that is wrong with it said before it is sent.
 */
import type * as Wire from "@anthropic-ai/sdk/resources/beta/messages"
import * as AiError from "effect/ai/AiError"
import { toCodecAnthropic } from "effect/ai/AnthropicStructuredOutput"
import type * as LanguageModel from "effect/ai/LanguageModel"
import type * as Tool from "effect/ai/Tool"
import * as Result from "effect/Result"
import type { Params } from "./AnthropicClient.ts"
import * as CallBlocks from "./CallBlocks.ts"
import { defaultMaxTokens, type ModelConfig } from "./ModelConfig.ts"
import * as PromptEncoder from "./PromptEncoder.ts"
import * as ToolDefinitions from "./ToolDefinitions.ts"
import * as ToolNames from "./ToolNames.ts"

export interface MessageRequest {
  readonly params: Params
  /** For reading the response. */
  readonly offered: CallBlocks.Offered
}

export const make = (
  model: string,
  config: ModelConfig,
  options: LanguageModel.ProviderOptions,
  encodeTool: ReturnType<typeof ToolDefinitions.makeEncoder>
): Result.Result<MessageRequest, AiError.AiErrorReason> =>
  Result.gen(function* () {
    const { prompt, tools } = options
    const names = yield* ToolNames.make(tools)
    const definitions: Array<Wire.BetaToolUnion> = []
    for (const tool of tools) definitions.push(yield* encodeTool(tool))
    const { messages, system, ...encoded } = yield* PromptEncoder.encode(prompt, names)
    const format = yield* outputFormat(options.responseFormat)

    const { betas, disable_parallel_tool_use, max_tokens, output_config, tools: toolsets, ...rest } = config
    const all = [...definitions, ...(toolsets ?? [])]
    const needed = new Set([
      ...(betas ?? []),
      ...all.flatMap(({ type }) => (typeof type === "string" ? (ToolDefinitions.betas[type] ?? []) : [])),
      ...encoded.betas,
      ...(rest.context_management == null ? [] : ["context-management-2025-06-27"]),
      ...(rest.mcp_servers === undefined ? [] : ["mcp-client-2025-11-20"])
    ])
    // Without a toolkit, effect/ai says "none", and means those that it knows of.
    const toolChoice =
      definitions.length === 0
        ? undefined
        : ToolDefinitions.choice(options.toolChoice, names, disable_parallel_tool_use !== true)
    const outputConfig = { ...output_config, ...format }

    const params: Params = {
      ...rest,
      model: rest.model ?? model,
      max_tokens: max_tokens ?? defaultMaxTokens,
      ...(system.length === 0 ? undefined : { system: [...system] }),
      messages: [...messages],
      ...(all.length === 0 ? undefined : { tools: all }),
      ...(toolChoice === undefined ? undefined : { tool_choice: toolChoice }),
      ...(Object.keys(outputConfig).length === 0 ? undefined : { output_config: outputConfig }),
      ...(needed.size === 0 ? undefined : { betas: [...needed] })
    }
    return {
      params,
      offered: CallBlocks.offered(names, tools, prompt, options.toolCallValidation === "deferred")
    }
  })

const outputFormat = (
  responseFormat: LanguageModel.ProviderOptions["responseFormat"]
): Result.Result<Pick<Wire.BetaOutputConfig, "format"> | undefined, AiError.UnsupportedSchemaError> => {
  if (responseFormat.type === "text") return Result.succeed(undefined)
  try {
    // The language model decodes the answer by the same codec.
    const { jsonSchema } = toCodecAnthropic(responseFormat.schema as Tool.Any["parametersSchema"])
    return Result.succeed({ format: { type: "json_schema", schema: jsonSchema } })
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return Result.fail(
      new AiError.UnsupportedSchemaError({
        description: `The schema of "${responseFormat.objectName}": ${reason}`
      })
    )
  }
}
