/**
 * The blocks of tools that the API runs itself: which tool of a toolkit they belong to, and what in them is a failure.
 */
import type * as Wire from "@anthropic-ai/sdk/resources/beta/messages"

export type ServerToolName = Wire.BetaServerToolUseBlock["name"]

type ResultBlock = Extract<Wire.BetaContentBlock, { readonly tool_use_id: string; readonly content: unknown }>
export type ServerResultBlock = Exclude<ResultBlock, Wire.BetaMCPToolResultBlock>

/** The name, in its definition, of the tool that each kind of call belongs to. Code execution calls bash and an editor of its own. */
export const definedAs: Readonly<Record<ServerToolName, string>> = {
  advisor: "advisor",
  web_search: "web_search",
  web_fetch: "web_fetch",
  code_execution: "code_execution",
  bash_code_execution: "code_execution",
  text_editor_code_execution: "code_execution",
  tool_search_tool_regex: "tool_search_tool_regex",
  tool_search_tool_bm25: "tool_search_tool_bm25"
}

/** The tools, by the names in their definitions, whose result each type of block may be. */
export const resultOf: Readonly<Record<ServerResultBlock["type"], ReadonlyArray<string>>> = {
  advisor_tool_result: ["advisor"],
  web_search_tool_result: ["web_search"],
  web_fetch_tool_result: ["web_fetch"],
  code_execution_tool_result: ["code_execution"],
  bash_code_execution_tool_result: ["code_execution"],
  text_editor_code_execution_tool_result: ["code_execution"],
  tool_search_tool_result: ["tool_search_tool_regex", "tool_search_tool_bm25"]
}

/**
 * Versions of tools that bring code execution with them: the model filters what they find by code that it writes, so its calls come even if
 * the toolkit has no such tool.
 */
export const bringsCodeExecution = (version: string | undefined): boolean =>
  version !== undefined && /^web_(search|fetch)_(?!20250305$|20250910$)/.test(version)

export const isServerToolName = (name: string): name is ServerToolName => Object.hasOwn(definedAs, name)

export const isServerResult = (block: { readonly type: string }): block is ServerResultBlock =>
  Object.hasOwn(resultOf, block.type)

/** All their errors have a type that ends so. */
export const isFailure = ({ content }: ServerResultBlock): boolean =>
  !Array.isArray(content) && content.type.endsWith("_error")

/** The type of the block that a result of this tool comes in, for a history that does not say it. */
export const resultTypeOf = (definedName: string): string | undefined =>
  Object.entries(resultOf).find(([, names]) => names.includes(definedName))?.[0]
