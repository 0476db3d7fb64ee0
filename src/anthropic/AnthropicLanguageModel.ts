/**
 * Anthropic's models as a `LanguageModel` of effect/ai.
 *
 * Names of tools are translated both ways, what the API wants back with the next request (signatures of thinking, citations, calls of server
 * tools) goes along in the metadata of the parts, and the model turn's span gets the attributes of the semantic conventions. The span's trace
 * context is sent as `traceparent`.
 */
import * as AiError from "effect/ai/AiError"
import { toCodecAnthropic } from "effect/ai/AnthropicStructuredOutput"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Model from "effect/ai/Model"
import type * as Response from "effect/ai/Response"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as HttpTraceContext from "effect/http/HttpTraceContext"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import { AnthropicClient, type RequestHeaders } from "./AnthropicClient.ts"
import * as MessageDecoder from "./MessageDecoder.ts"
import * as MessageRequest from "./MessageRequest.ts"
import { type ModelConfig, Override } from "./ModelConfig.ts"
import { StreamDecoder } from "./StreamDecoder.ts"
import * as ToolDefinitions from "./ToolDefinitions.ts"
import * as TurnAttributes from "./TurnAttributes.ts"

export interface Options {
  /** The id of a model, such as `claude-opus-4-5`. */
  readonly model: string
  readonly config?: ModelConfig | undefined
}

export const make = Effect.fnUntraced(function* ({ config, model }: Options) {
  const client = yield* AnthropicClient
  const encodeTool = ToolDefinitions.makeEncoder()

  const prepare = Effect.fnUntraced(function* (options: LanguageModel.ProviderOptions) {
    const merged = { ...config, ...(yield* Override) }
    const request = yield* Effect.fromResult(MessageRequest.make(model, merged, options, encodeTool))
    TurnAttributes.request(options.span, request.params)
    const headers = yield* traceHeaders(options.span)
    return { ...request, headers }
  })

  return yield* LanguageModel.make({
    codecTransformer: toCodecAnthropic,

    generateText: (options) =>
      failAs(
        "generateText",
        Effect.gen(function* () {
          const { headers, offered, params } = yield* prepare(options)
          const { message, requestId } = yield* client.create(params, headers)
          TurnAttributes.response(options.span, message)
          TurnAttributes.ended(options.span, message)
          const received = { requestId, timestamp: yield* now }
          return yield* Effect.fromResult(MessageDecoder.decode(message, offered, received))
        })
      ),

    streamText: (options) =>
      Effect.gen(function* () {
        const { headers, offered, params } = yield* prepare(options)
        const timestamp = yield* now
        let decoder: StreamDecoder | undefined
        // Also for a response that fails or is interrupted.
        yield* Effect.addFinalizer(() => Effect.sync(() => annotate(options.span, decoder?.message)))
        return yield* client.stream<Response.StreamPartEncoded>(params, headers, ({ requestId }) => {
          const opened = new StreamDecoder(offered, { requestId, timestamp })
          decoder = opened
          return {
            begin: () => opened.begin(),
            decode: (event, parts) => opened.decode(event, parts)
          }
        })
      }).pipe(
        Stream.unwrap,
        Stream.mapError((reason) => AiError.make({ module, method: "streamText", reason }))
      )
  })
})

export const layer = (options: Options): Layer.Layer<LanguageModel.LanguageModel, never, AnthropicClient> =>
  Layer.effect(LanguageModel.LanguageModel, make(options))

/** The layer as a `Model`, which knows its provider and its name. */
export const model = (
  name: string,
  config?: ModelConfig
): Model.Model<"anthropic", LanguageModel.LanguageModel, AnthropicClient> =>
  Model.make("anthropic", name, layer({ model: name, config }))

/** Changes the configuration of the requests that `effect` makes. */
export const withConfigOverride =
  (config: ModelConfig) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(Override, (outer) => Effect.provideService(effect, Override, { ...outer, ...config }))

/** The same for a stream. */
export const withConfigOverrideStream =
  (config: ModelConfig) =>
  <A, E, R>(stream: Stream.Stream<A, E, R>): Stream.Stream<A, E, R> =>
    Stream.unwrap(
      Effect.map(Override, (outer) => Stream.provideService(stream, Override, { ...outer, ...config }))
    )

const module = "AnthropicLanguageModel"

const failAs = <A, R>(
  method: string,
  effect: Effect.Effect<A, AiError.AiErrorReason, R>
): Effect.Effect<A, AiError.AiError, R> =>
  Effect.mapError(effect, (reason) => AiError.make({ module, method, reason }))

const now = Effect.map(DateTime.now, DateTime.formatIso)

/** Only the W3C header: effect/ai's own has b3 as well, which nobody at the API reads. */
const traceHeaders = Effect.fnUntraced(function* (span: Tracer.Span) {
  const headers: RequestHeaders = {}
  if (yield* Tracer.DisablePropagation) return headers
  const { traceparent } = HttpTraceContext.toHeaders(span)
  return traceparent === undefined ? headers : { traceparent }
})

const annotate = (span: Tracer.Span, message: StreamDecoder["message"]): void => {
  if (message === undefined) return
  TurnAttributes.response(span, message)
  TurnAttributes.ended(span, message)
}
