/**
 * A toolkit as the API takes it: the definitions of the tools, the choice among them, and the betas that their versions need.
 */
import type * as Wire from "@anthropic-ai/sdk/resources/beta/messages"
import * as AiError from "effect/ai/AiError"
import type { ToolChoice } from "effect/ai/LanguageModel"
import * as Tool from "effect/ai/Tool"
import * as Context from "effect/Context"
import * as Result from "effect/Result"
import type { ToolNames } from "./ToolNames.ts"
import { ToolOptions } from "./ToolOptions.ts"
import * as ToolSchema from "./ToolSchema.ts"

/**
 * The betas that versions of tools need in the header `anthropic-beta`. Those that are not here are generally available, or are sent as they
 * are named: a beta that they need goes into the option `betas` of the model.
 */
export const betas: Readonly<Record<string, string>> = {
  bash_20241022: "computer-use-2024-10-22",
  text_editor_20241022: "computer-use-2024-10-22",
  computer_20241022: "computer-use-2024-10-22",
  computer_20250124: "computer-use-2025-01-24",
  computer_20251124: "computer-use-2025-11-24",
  code_execution_20250522: "code-execution-2025-05-22",
  memory_20250818: "context-management-2025-06-27",
  advisor_20260301: "advisor-tool-2026-03-01",
  mcp_toolset: "mcp-client-2025-11-20"
}

/** Definitions that stand for many tools at once, which a tool of effect/ai cannot. */
export const unsupported: Readonly<Record<string, string>> = {
  browser_toolset_20260801: "it stands for many tools at once, which one tool of a toolkit cannot",
  computer_toolset_20260801:
    "it stands for many tools at once, which one tool of a toolkit cannot; use AnthropicTools.ComputerUse",
  mcp_toolset:
    "it stands for many tools at once, which one tool of a toolkit cannot; give it to the model as the option `tools`, beside `mcp_servers`"
}

type Encoded = Result.Result<Wire.BetaToolUnion, AiError.AiErrorReason>

/** Encodes tools, each once: a schema takes longer to encode than the rest of a request. */
export const makeEncoder = (): ((tool: Tool.Any) => Encoded) => {
  const encoded = new WeakMap<Tool.Any, Encoded>()
  return (tool) => {
    const before = encoded.get(tool)
    if (before !== undefined) return before
    const definition = Tool.isProviderDefined(tool) ? providerDefined(tool) : userDefined(tool)
    encoded.set(tool, definition)
    return definition
  }
}

/** The version of a provider-defined tool, such as `bash_20250124`. */
export const versionOf = (tool: Tool.Any): string | undefined =>
  Tool.isProviderDefined(tool) && tool.id.startsWith(prefix) ? tool.id.slice(prefix.length) : undefined

const prefix = "anthropic."

const providerDefined = (
  tool: Tool.Any & { readonly args: unknown; readonly providerName: string }
): Encoded => {
  const refused = (description: string) =>
    Result.fail(new AiError.ToolConfigurationError({ toolName: tool.name, description }))
  const version = versionOf(tool)
  if (version === undefined)
    return refused(`"${tool.id}" is a tool of another provider; leave it out of the toolkit`)
  const reason = unsupported[version]
  if (reason !== undefined) return refused(`"${version}" is not supported: ${reason}`)
  // Upstream leaves `failureMode` among the arguments; it is none of the API's business.
  const { failureMode: _, ...args } = { ...(tool.args as object | undefined) } as Record<string, unknown>
  // Which of the SDK's types this is, the version says, and no type can.
  return Result.succeed({
    ...Context.get(tool.annotations, ToolOptions),
    ...args,
    type: version,
    name: tool.providerName
  } as unknown as Wire.BetaToolUnion)
}

const userDefined = (tool: Tool.Any): Encoded =>
  Result.map(ToolSchema.inputSchema(tool), (schema) => {
    const description = Tool.getDescription(tool)
    const strict = Tool.getStrictMode(tool)
    return {
      name: tool.name,
      ...(description === undefined ? undefined : { description }),
      input_schema: schema as unknown as Wire.BetaTool.InputSchema,
      ...(strict === undefined ? undefined : { strict }),
      ...Context.get(tool.annotations, ToolOptions)
    }
  })

/** `undefined` for the API's own default, which is `auto`. */
export const choice = (
  toolChoice: ToolChoice<string>,
  names: ToolNames,
  parallel: boolean
): Wire.BetaToolChoice | undefined => {
  const oneAtATime = parallel ? undefined : { disable_parallel_tool_use: true }
  if (toolChoice === "none") return { type: "none" }
  if (toolChoice === "required") return { type: "any", ...oneAtATime }
  if (typeof toolChoice === "object" && "tool" in toolChoice) {
    return { type: "tool", name: names.toWire(toolChoice.tool), ...oneAtATime }
  }
  // The tools that may not be called are not among those that the request offers.
  if (typeof toolChoice === "object" && toolChoice.mode === "required") return { type: "any", ...oneAtATime }
  return parallel ? undefined : { type: "auto", ...oneAtATime }
}
