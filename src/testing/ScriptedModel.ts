/**
 * A language model that answers from a script.
 *
 * It is built with `LanguageModel.make`, so decoding of its parts, resolution of its tool calls, approvals and spans
 * are Effect's own; only the provider is a script. One turn answers one request, in the order of the requests,
 * whether they come from `generateText`, `streamText` or `generateObject`. Spans are recorded by the neighbour
 * `RecordedSpans`.
 */
import type * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as Response from "effect/ai/Response"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"

/** One part of a scripted answer, encoded as a provider would send it. */
export type Part = Response.PartEncoded

/** What upstream asks of the provider: prompt, tools, tool choice, response format, span. */
export type Request = LanguageModel.ProviderOptions

/**
 * The answer to one request: its parts, or a function that makes them from the request, so that a turn can depend on
 * earlier tool results, take time, or fail as a provider does. An answer without a `finish` part gets one at its end:
 * `tool-calls` when it calls a tool that the client runs, else `stop`.
 */
export type Turn = ReadonlyArray<Part> | Answering

/** Makes an answer from the request. */
export type Answering = (
  request: Request
) => ReadonlyArray<Part> | Effect.Effect<ReadonlyArray<Part>, AiError.AiError>

/** A scripted model, and what it was asked so far. */
export class ScriptedModel extends Context.Service<
  ScriptedModel,
  {
    /** The service to provide as `LanguageModel.LanguageModel`. */
    readonly model: LanguageModel.LanguageModel
    /**
     * The requests that reached the provider, in order; `requests[n].prompt` is the prompt of turn `n`. Grows while
     * the model is used.
     */
    readonly requests: ReadonlyArray<Request>
  }
>()("toolspan/testing/ScriptedModel") {}

/**
 * Makes a model that plays `turns` once. Each model has a counter of its own; requests made in parallel take one turn
 * each, in the order in which they arrive. A request beyond the last turn is a defect that names the turn. A function
 * instead of turns answers every request. A streamed turn arrives as one chunk.
 */
export const make = (turns: ReadonlyArray<Turn> | Answering): Effect.Effect<ScriptedModel["Service"]> =>
  Effect.suspend(() => {
    const requests: Array<Request> = []
    const answer = (request: Request): Effect.Effect<Array<Part>, AiError.AiError> =>
      Effect.suspend(() => {
        const index = requests.push(request) - 1
        const turn = typeof turns === "function" ? turns : turns[index]
        if (turn === undefined) {
          return Effect.die(
            new Error(`ScriptedModel: turn ${index + 1} was asked for, but the script has ${turns.length}`)
          )
        }
        const parts = typeof turn === "function" ? turn(request) : turn
        return Effect.map(Effect.isEffect(parts) ? parts : Effect.succeed(parts), withFinish)
      })
    return Effect.map(
      LanguageModel.make({
        generateText: answer,
        streamText: (request) =>
          Stream.unwrap(
            Effect.map(answer(request), (parts) => Stream.fromIterable(parts.flatMap(toStreamParts)))
          )
      }),
      (model) => ({ model, requests })
    )
  })

/**
 * The model of {@link make} as `LanguageModel.LanguageModel`, and itself, to read its requests. A layer that is built
 * twice plays twice.
 */
export const layer = (
  turns: ReadonlyArray<Turn> | Answering
): Layer.Layer<LanguageModel.LanguageModel | ScriptedModel> =>
  Layer.effectContext(
    Effect.map(make(turns), (scripted) =>
      Context.make(ScriptedModel, scripted).pipe(Context.add(LanguageModel.LanguageModel, scripted.model))
    )
  )

/** Text of the assistant. For `generateObject`: the JSON text of the object. */
export const text = (text: string): Response.TextPartEncoded => ({ type: "text", text })

/** Reasoning of the assistant. */
export const reasoning = (text: string): Response.ReasoningPartEncoded => ({ type: "reasoning", text })

/**
 * A call of a tool. `params` are the encoded parameters. `providerExecuted` (default `false`): the provider runs it,
 * so that no handler does, and a {@link toolResult} of the same id belongs into the script.
 */
export const toolCall = (
  id: string,
  name: string,
  params: unknown,
  options?: {
    readonly providerExecuted?: boolean | undefined
    readonly metadata?: Response.ToolCallPartMetadata | undefined
  }
): Response.ToolCallPartEncoded => ({ type: "tool-call", id, name, params, ...options })

/** The result of a call that the provider executed, encoded. `isFailure` defaults to `false`. */
export const toolResult = (
  id: string,
  name: string,
  result: unknown,
  options?: {
    readonly isFailure?: boolean | undefined
    readonly metadata?: Response.ToolResultPartMetadata | undefined
  }
): Response.ToolResultPartEncoded => ({
  type: "tool-result",
  id,
  name,
  result,
  isFailure: options?.isFailure ?? false,
  providerExecuted: true,
  metadata: options?.metadata
})

/** The end of an answer: why (default `stop`), and the tokens it took (default: not known). */
export const finish = (
  reason: Response.FinishReason = "stop",
  usage: typeof Response.Usage.Encoded = { inputTokens: {}, outputTokens: {} }
): Response.FinishPartEncoded => ({ type: "finish", reason, usage })

const withFinish = (parts: ReadonlyArray<Part>): Array<Part> => {
  if (parts.some((part) => part.type === "finish")) return [...parts]
  const calls = parts.some((part) => part.type === "tool-call" && part.providerExecuted !== true)
  return [...parts, finish(calls ? "tool-calls" : "stop")]
}

const toStreamParts = (part: Part, index: number): ReadonlyArray<Response.StreamPartEncoded> => {
  const id = `part-${index}`
  switch (part.type) {
    case "text":
      return [
        { type: "text-start", id, metadata: part.metadata },
        { type: "text-delta", id, delta: part.text },
        { type: "text-end", id }
      ]
    case "reasoning":
      return [
        { type: "reasoning-start", id, metadata: part.metadata },
        { type: "reasoning-delta", id, delta: part.text },
        { type: "reasoning-end", id }
      ]
    default:
      return [part]
  }
}
