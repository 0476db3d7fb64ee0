/**
 * The two names of a tool: its own, which the toolkit has it under (`AnthropicMemory`), and the one on the wire, which the API and the model
 * know it by (`memory`). A tool of the user has one name for both.
 */
import * as AiError from "effect/ai/AiError"
import * as Tool from "effect/ai/Tool"
import * as Result from "effect/Result"

export interface ToolNames {
  /** The own names, in the order of the toolkit. */
  readonly available: ReadonlyArray<string>
  /** The name on the wire of a tool. A name that no tool here has is its own name on the wire. */
  readonly toWire: (name: string) => string
  /** The tool that was offered to the model under this name. */
  readonly fromWire: (wireName: string) => Tool.Any | undefined
}

/** Fails for two tools with one name on the wire: nobody could say which of them the model calls. */
export const make = (
  tools: ReadonlyArray<Tool.Any>
): Result.Result<ToolNames, AiError.ToolConfigurationError> => {
  const mapper = new Tool.NameMapper(tools)
  const byWireName = new Map<string, Tool.Any>()
  for (const tool of tools) {
    const wireName = mapper.getProviderName(tool.name)
    const other = byWireName.get(wireName)
    if (other !== undefined) {
      return Result.fail(
        new AiError.ToolConfigurationError({
          toolName: tool.name,
          description:
            `the model knows it by the name "${wireName}", as it does "${other.name}", and could not call one rather than the other. ` +
            `Leave one of them out of the toolkit${Tool.isProviderDefined(tool) && Tool.isProviderDefined(other) ? "" : ", or rename the one that is yours"}.`
        })
      )
    }
    byWireName.set(wireName, tool)
  }
  return Result.succeed({
    available: tools.map((tool) => tool.name),
    toWire: (name) => mapper.getProviderName(name),
    fromWire: (wireName) => byWireName.get(wireName)
  })
}
