/**
 * The attributes of the semantic conventions for generative AI on the span of a model turn.
 */
import type * as Wire from "@anthropic-ai/sdk/resources/beta/messages"
import * as Telemetry from "effect/ai/Telemetry"
import type { Span } from "effect/Tracer"
import {
  ATTR_GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS,
  ATTR_GEN_AI_USAGE_REASONING_OUTPUT_TOKENS
} from "../semconv/Attributes.ts"
import type { Params } from "./AnthropicClient.ts"
import * as Finish from "./Finish.ts"

export const request = (span: Span, params: Params): void =>
  Telemetry.addGenAIAnnotations(span, {
    provider: { name: "anthropic" },
    operation: { name: "chat" },
    request: {
      model: params.model,
      maxTokens: params.max_tokens,
      temperature: params.temperature,
      topK: params.top_k,
      topP: params.top_p,
      stopSequences: params.stop_sequences
    }
  })

export const response = (span: Span, message: Pick<Wire.BetaMessage, "id" | "model">): void =>
  Telemetry.addGenAIAnnotations(span, { response: { id: message.id, model: message.model } })

/** As far as it came: a stream says what it costs before it ends. */
export const ended = (span: Span, message: Finish.Ended): void => {
  const { inputTokens, outputTokens } = Finish.usageOf(message.usage)
  Telemetry.addGenAIAnnotations(span, {
    ...(message.stop_reason === null ? undefined : { response: { finishReasons: [message.stop_reason] } }),
    usage: { inputTokens: inputTokens.total, outputTokens: outputTokens.total }
  })
  if (inputTokens.cacheRead !== undefined)
    span.attribute(ATTR_GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS, inputTokens.cacheRead)
  if (outputTokens.reasoning !== undefined) {
    span.attribute(ATTR_GEN_AI_USAGE_REASONING_OUTPUT_TOKENS, outputTokens.reasoning)
  }
}
