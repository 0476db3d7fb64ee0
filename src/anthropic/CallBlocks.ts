/**
 * Calls of tools, and results of those that the API runs itself, as parts: the names on the wire become the toolkit's own.
 *
 * A name that no tool of the request has fails. With deferred validation it stays as the model gave it, for the caller to judge.
 */
import type * as Wire from "@anthropic-ai/sdk/resources/beta/messages"
import * as AiError from "effect/ai/AiError"
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Tool from "effect/ai/Tool"
import * as Result from "effect/Result"
import { fromWire, type JsonObject } from "./ProviderMetadata.ts"
import * as ServerBlocks from "./ServerBlocks.ts"
import * as ToolDefinitions from "./ToolDefinitions.ts"
import type { ToolNames } from "./ToolNames.ts"
import * as ToolSchema from "./ToolSchema.ts"

/** The tools of a request, for reading the response to it. */
export interface Offered {
  readonly names: ToolNames
  readonly deferred: boolean
  /** Whether calls of code execution may come although the toolkit has no such tool. */
  readonly codeExecution: boolean
  /** Calls of server tools whose results are still to come, of this message and of those before it: own names by id. */
  readonly calls: Map<string, string>
}

export const offered = (
  names: ToolNames,
  tools: ReadonlyArray<Tool.Any>,
  prompt: Prompt.Prompt,
  deferred: boolean
): Offered => {
  const calls = new Map<string, string>()
  for (const message of prompt.content) {
    if (message.role !== "assistant") continue
    for (const part of message.content) {
      if (part.type === "tool-call" && part.providerExecuted) calls.set(part.id, part.name)
    }
  }
  const codeExecution = tools.some((tool) =>
    ServerBlocks.bringsCodeExecution(ToolDefinitions.versionOf(tool))
  )
  return { names, deferred, codeExecution, calls }
}

/** A call that the model made. */
export interface Call {
  readonly name: string
  readonly tool: Tool.Any | undefined
  readonly metadata: { readonly anthropic: { readonly name: string; readonly caller?: JsonObject } }
}

type CallBlock = Pick<Wire.BetaToolUseBlock | Wire.BetaServerToolUseBlock, "id" | "name" | "caller"> & {
  readonly type: "tool_use" | "server_tool_use"
}

/** `undefined` for a call of code execution that the toolkit need not know of. */
export const call = (
  block: CallBlock,
  offered: Offered
): Result.Result<Call | undefined, AiError.ToolNotFoundError> => {
  const server = block.type === "server_tool_use"
  const definedName =
    server && ServerBlocks.isServerToolName(block.name) ? ServerBlocks.definedAs[block.name] : block.name
  const tool = server ? serverTool(definedName, offered) : offered.names.fromWire(definedName)
  if (tool === undefined) {
    if (server && offered.codeExecution && definedName === "code_execution") return Result.succeed(undefined)
    if (!offered.deferred) return Result.fail(notFound(block.name, offered))
  }
  const name = tool?.name ?? block.name
  if (server) offered.calls.set(block.id, name)
  const { caller } = block
  return Result.succeed({
    name,
    tool,
    metadata: {
      anthropic: {
        name: block.name,
        ...(caller === undefined ? undefined : { caller: fromWire(caller) })
      }
    }
  })
}

export const toolCall = (
  block: Pick<CallBlock, "id" | "type">,
  { metadata, name, tool }: Call,
  input: unknown
): Response.ToolCallPartEncoded => ({
  type: "tool-call",
  id: block.id,
  name,
  params: tool === undefined ? input : ToolSchema.fromModel(tool, input),
  providerExecuted: block.type === "server_tool_use",
  metadata
})

/** `undefined` for the result of a call that the toolkit need not know of, or that it cannot have a part for. */
export const serverResult = (
  block: ServerBlocks.ServerResultBlock,
  offered: Offered
): Result.Result<Response.ToolResultPartEncoded | undefined, AiError.ToolNotFoundError> => {
  const called = offered.calls.get(block.tool_use_id)
  const definedNames = ServerBlocks.resultOf[block.type]
  const declared = definedNames.flatMap((wireName) => serverTool(wireName, offered)?.name ?? [])
  const name = called !== undefined && declared.includes(called) ? called : declared[0]
  if (name === undefined) {
    const unannounced = offered.codeExecution && definedNames.includes("code_execution")
    if (unannounced || offered.deferred) return Result.succeed(undefined)
    return Result.fail(notFound(definedNames.join(" or "), offered))
  }
  return Result.succeed({
    type: "tool-result",
    id: block.tool_use_id,
    name,
    result: block.content,
    isFailure: ServerBlocks.isFailure(block),
    providerExecuted: true,
    preliminary: false,
    metadata: {
      anthropic: {
        blockType: block.type,
        ...("caller" in block && block.caller !== undefined ? { caller: fromWire(block.caller) } : undefined)
      }
    }
  })
}

/** Whether a call with this input, which is no JSON, would reach its handler unseen: nothing checks the parameters of such a tool. */
export const isUnchecked = ({ tool }: Call): boolean =>
  tool !== undefined && Tool.isDynamic(tool) && tool.jsonSchema !== undefined

/** A tool of the user that happens to have the name of one of Anthropic's is another one. */
const serverTool = (definedName: string, { names }: Offered): Tool.Any | undefined => {
  const tool = names.fromWire(definedName)
  return Tool.isProviderDefined(tool) ? tool : undefined
}

const notFound = (toolName: string, { names }: Offered): AiError.ToolNotFoundError =>
  new AiError.ToolNotFoundError({ toolName, availableTools: [...names.available] })
