/**
 * One turn of the model: the question, and its answer as messages of the conversation.
 *
 * The calls of the answer are the runtime's to run: upstream neither resolves nor validates them, so that an unknown tool or wrong
 * arguments are a failed call and not a failed turn.
 */
import type * as AiError from "effect/ai/AiError"
import type * as LanguageModel from "effect/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type * as AgentEvent from "./AgentEvent.ts"
import type { Worker } from "./Definition.ts"
import * as OpenCalls from "./OpenCalls.ts"

export interface Answer {
  /** The assistant's message, and none if it was empty. */
  readonly messages: ReadonlyArray<Prompt.Message>
  /** What the client is to run. */
  readonly calls: ReadonlyArray<Prompt.ToolCallPart>
  readonly text: string
  readonly finishReason: Response.FinishReason
  readonly inputTokens: number
  readonly outputTokens: number
}

/** Asks the model. `emit`: gets the deltas; without it, the answer comes as a whole. `stamp`: the metadata for each call. */
export const ask = (
  worker: Worker,
  conversation: ReadonlyArray<Prompt.Message>,
  emit: ((event: AgentEvent.Passing) => void) | undefined,
  stamped: (part: Response.AnyPart) => Response.AnyPart
): Effect.Effect<Answer, AiError.AiError> => {
  const { definition, model, toolkit } = worker
  const options = {
    prompt: Prompt.fromMessages(
      definition.instructions === undefined ? conversation : [definition.instructions, ...conversation]
    ),
    toolkit,
    disableToolCallResolution: true,
    toolCallValidation: "deferred"
  } as const
  const parts: Array<Response.AnyPart> = []
  const asked: Effect.Effect<void, AiError.AiError> =
    emit === undefined
      ? Effect.map(answering(model.generateText(options)), ({ content }) => {
          for (const part of content) parts.push(stamped(part))
        })
      : Stream.runForEachArray(streaming(model.streamText(options)), (chunk) =>
          Effect.sync(() => {
            for (const part of chunk) {
              parts.push(stamped(part))
              if (part.type === "text-delta") emit({ _tag: "TextDelta", delta: part.delta })
              else if (part.type === "reasoning-delta") emit({ _tag: "ReasoningDelta", delta: part.delta })
            }
          })
        )
  return Effect.map(asked, () => toAnswer(parts))
}

/** The boundary where the types of tools and answers end: what the model needs beyond them was provided with its layer. */
const answering = (response: unknown) =>
  response as Effect.Effect<LanguageModel.GenerateTextResponse<Record<string, never>>, AiError.AiError>
const streaming = (response: unknown) => response as Stream.Stream<Response.AnyPart, AiError.AiError>

/** What is not a model's to say: that a call of the client has a result, or that it needs an approval. A model that does is not believed. */
const isForged = (part: Response.AnyPart): boolean =>
  part.type === "tool-approval-request" || (part.type === "tool-result" && part.providerExecuted !== true)

const toAnswer = (parts: ReadonlyArray<Response.AnyPart>): Answer => {
  const messages = Prompt.fromResponseParts(parts.filter((part) => !isForged(part))).content
  const assistant = messages.filter((message) => message.role === "assistant")
  const finish = parts.findLast((part) => part.type === "finish")
  return {
    messages,
    calls: assistant.flatMap(OpenCalls.callsOf),
    text: assistant
      .flatMap(({ content }) => content)
      .map((part) => (part.type === "text" ? part.text : ""))
      .join(""),
    finishReason: finish?.reason ?? "unknown",
    inputTokens: finish?.usage.inputTokens.total ?? 0,
    outputTokens: finish?.usage.outputTokens.total ?? 0
  }
}

/** Whether the answer is whole, so that its calls may run: else they were cut off, in all likelihood. */
export const isComplete = ({ finishReason }: Answer): boolean =>
  finishReason === "stop" || finishReason === "tool-calls" || finishReason === "pause"
