/**
 * How a message ended and what it cost, in effect/ai's terms; the API's own terms go along as metadata.
 */
import type * as Wire from "@anthropic-ai/sdk/resources/beta/messages"
import type * as Response from "effect/ai/Response"
import { type Finish, fromWire, type JsonObject } from "./ProviderMetadata.ts"

/**
 * After `length` and `content-filter`, effect/ai runs no tool. `compaction`: the API has compacted the conversation and waits, as it does
 * after `pause_turn`; the next request sends the message back.
 */
export const reasons: Readonly<Record<Wire.BetaStopReason, Response.FinishReason>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool-calls",
  pause_turn: "pause",
  compaction: "pause",
  refusal: "content-filter"
}

/** The fields of a message that are known when it has ended. */
export type Ended = Pick<Wire.BetaMessage, "stop_reason" | "stop_sequence" | "stop_details" | "usage"> &
  Partial<
    Pick<Wire.BetaMessage, "container" | "context_management" | "diagnostics" | "input_transformations">
  >

/** Why it ended. A reason that the API gives and this version does not know is `other`, with the API's word for it in the metadata. */
export const reasonOf = (stopReason: string | null): Response.FinishReason => {
  if (stopReason === null) return "unknown"
  return Object.hasOwn(reasons, stopReason) ? reasons[stopReason as Wire.BetaStopReason] : "other"
}

export const part = (message: Ended): Response.FinishPartEncoded => ({
  type: "finish",
  reason: reasonOf(message.stop_reason),
  usage: usageOf(message.usage),
  response: undefined,
  metadata: { anthropic: metadata(message) }
})

/** `input_tokens` on the wire are those that the cache has no part in; effect/ai's total is of all. */
export const usageOf = (usage: Wire.BetaUsage): Response.FinishPartEncoded["usage"] => {
  const uncached = usage.input_tokens
  const cacheRead = usage.cache_read_input_tokens ?? 0
  const cacheWrite = usage.cache_creation_input_tokens ?? 0
  const total = usage.output_tokens
  const reasoning = usage.output_tokens_details?.thinking_tokens
  return {
    inputTokens: { uncached, cacheRead, cacheWrite, total: uncached + cacheRead + cacheWrite },
    outputTokens: {
      total,
      text: reasoning === undefined ? undefined : Math.max(0, total - reasoning),
      reasoning
    }
  }
}

const metadata = (message: Ended): Finish => ({
  stopReason: message.stop_reason,
  ...(message.stop_sequence == null ? undefined : { stopSequence: message.stop_sequence }),
  ...object("stopDetails", message.stop_details),
  usage: fromWire(message.usage),
  ...object("container", message.container),
  ...object("contextManagement", message.context_management),
  ...object("diagnostics", message.diagnostics),
  ...(message.input_transformations == null
    ? undefined
    : { inputTransformations: message.input_transformations.map(fromWire) })
})

// What the API sent is JSON.
const object = <Key extends string>(key: Key, value: object | null | undefined) =>
  value == null ? undefined : ({ [key]: value } as { readonly [K in Key]: JsonObject })
