/**
 * A whole message as parts of a response. Reads the same blocks as `StreamDecoder.ts` does piece by piece.
 */
import type * as Wire from "@anthropic-ai/sdk/resources/beta/messages"
import * as AiError from "effect/ai/AiError"
import type * as Response from "effect/ai/Response"
import * as Result from "effect/Result"
import * as CallBlocks from "./CallBlocks.ts"
import * as Citations from "./Citations.ts"
import * as Finish from "./Finish.ts"
import { fromWire } from "./ProviderMetadata.ts"
import * as ServerBlocks from "./ServerBlocks.ts"

export interface Received {
  /** When it came, as an ISO date. */
  readonly timestamp: string
  readonly requestId: string | null
}

export const decode = (
  message: Wire.BetaMessage,
  offered: CallBlocks.Offered,
  received: Received
): Result.Result<Array<Response.PartEncoded>, AiError.AiErrorReason> => {
  const parts: Array<Response.PartEncoded> = [responseMetadata(message, received)]
  const source = sourceIds(message.id)
  for (const block of message.content) {
    const decoded = decodeBlock(block, offered, source)
    if (Result.isFailure(decoded)) return Result.fail(decoded.failure)
    parts.push(...decoded.success)
  }
  parts.push(Finish.part(message))
  return Result.succeed(parts)
}

const decodeBlock = (
  block: Wire.BetaContentBlock,
  offered: CallBlocks.Offered,
  source: (citation: Wire.BetaTextCitation) => Response.PartEncoded | undefined
): Result.Result<ReadonlyArray<Response.PartEncoded>, AiError.AiErrorReason> => {
  switch (block.type) {
    case "text": {
      const citations = block.citations ?? []
      const text: Response.PartEncoded = { type: "text", text: block.text, metadata: textMetadata(citations) }
      return Result.succeed([text, ...citations.flatMap((citation) => source(citation) ?? [])])
    }
    case "thinking":
      return Result.succeed([
        { type: "reasoning", text: block.thinking, metadata: thinkingMetadata(block.signature) }
      ])
    case "redacted_thinking":
      return Result.succeed([{ type: "reasoning", text: "", metadata: redactedMetadata(block) }])
    case "tool_use":
    case "server_tool_use":
      return Result.map(CallBlocks.call(block, offered), (call) => [
        call === undefined ? carrier(block) : CallBlocks.toolCall(block, call, block.input)
      ])
    default:
      if (ServerBlocks.isServerResult(block)) {
        return Result.map(CallBlocks.serverResult(block, offered), (part) => [part ?? carrier(block)])
      }
      return isCarried(block) ? Result.succeed([carrier(block)]) : Result.fail(unknownBlock(block))
  }
}

export const responseMetadata = (
  { id, model }: Pick<Wire.BetaMessage, "id" | "model">,
  { requestId, timestamp }: Received
): Response.ResponseMetadataPartEncoded => ({
  type: "response-metadata",
  id,
  modelId: model,
  timestamp,
  metadata: { anthropic: { requestId } }
})

/** Numbers the sources of a message. */
export const sourceIds = (messageId: string) => {
  let count = 0
  return (citation: Wire.BetaTextCitation) => {
    const source = Citations.source(citation, `${messageId}-source-${count}`)
    if (source !== undefined) count++
    return source
  }
}

export const textMetadata = (citations: ReadonlyArray<Wire.BetaTextCitation>): Response.TextPartMetadata =>
  citations.length === 0 ? {} : { anthropic: { citations: citations.map(fromWire) } }

export const thinkingMetadata = (signature: string): Response.ReasoningPartMetadata => ({
  anthropic: { info: { type: "thinking", signature } }
})

export const redactedMetadata = ({
  data
}: Wire.BetaRedactedThinkingBlock): Response.ReasoningPartMetadata => ({
  anthropic: { info: { type: "redacted_thinking", data } }
})

/** The types of the blocks that effect/ai has no part for. They travel as text without text, and go back as they came. */
export const carriedTypes = [
  "container_upload",
  "compaction",
  "fallback",
  "mcp_tool_use",
  "mcp_tool_result",
  "mcp_tool_listing"
] as const satisfies ReadonlyArray<Wire.BetaContentBlock["type"]>

export const isCarried = (block: { readonly type: string }): boolean =>
  (carriedTypes as ReadonlyArray<string>).includes(block.type)

/** A part that holds a block as it came. */
export const carrier = (block: object): Response.TextPartEncoded => ({
  type: "text",
  text: "",
  metadata: { anthropic: { block: fromWire(block) } }
})

/** Leaving out what is not known would change what the model is shown of its own words. */
export const unknownBlock = (block: { readonly type: string }): AiError.InvalidResponseError =>
  new AiError.InvalidResponseError({
    description: `The response has a block of type ${JSON.stringify(block.type)}, which this version of toolspan does not know. Update it, or do without what brings such blocks.`
  })
