/**
 * The language model on a scripted server, for one test.
 */
import * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import type * as Tool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as AnthropicClient from "../../../src/anthropic/AnthropicClient.ts"
import * as AnthropicLanguageModel from "../../../src/anthropic/AnthropicLanguageModel.ts"
import type { ModelConfig } from "../../../src/anthropic/ModelConfig.ts"
import * as MessagesServer from "../../support/MessagesServer.ts"

export const key = "sk-ant-test-0123456789"
export const model = "claude-test-1"

interface Options {
  readonly config?: ModelConfig
  readonly client?: Partial<AnthropicClient.Options>
}

/** Runs `use` with the model. No request is sent twice unless `client` says so. */
export const scripted = <A, E, R>(
  replies: ReadonlyArray<MessagesServer.Reply>,
  use: (server: MessagesServer.Server) => Effect.Effect<A, E, R>,
  { client, config }: Options = {}
) =>
  Effect.scoped(
    Effect.gen(function* () {
      const server = yield* MessagesServer.start(replies)
      const layer = AnthropicLanguageModel.layer({ model, config }).pipe(
        Layer.provide(
          AnthropicClient.layer({
            apiKey: Redacted.make(key),
            baseURL: server.url,
            maxRetries: 0,
            ...client
          })
        )
      )
      return yield* Effect.provide(use(server), layer)
    })
  ) as Effect.Effect<A, E, Exclude<R, LanguageModel.LanguageModel>>

/** The reason that an effect failed for. */
export const reasonOf = <A, R>(
  effect: Effect.Effect<A, unknown, R>
): Effect.Effect<AiError.AiErrorReason, unknown, R> =>
  Effect.flatMap(Effect.flip(effect), (error) =>
    AiError.isAiError(error) ? Effect.succeed(error.reason) : Effect.die(error)
  )

/** One reply that says `message`, in either mode. */
export const replyWith = (
  mode: "generateText" | "streamText",
  message: ReturnType<typeof MessagesServer.message>
): MessagesServer.Reply =>
  mode === "generateText" ? { json: message } : { events: MessagesServer.events(message) }

export const modes = ["generateText", "streamText"] as const
export type Mode = (typeof modes)[number]

/** Asks in either mode, for all parts of the response. */
export const ask = <Tools extends Record<string, Tool.Any>>(
  mode: Mode,
  options: LanguageModel.GenerateTextOptions<Tools>
): Effect.Effect<ReadonlyArray<Response.AnyPart>, unknown, LanguageModel.LanguageModel> => {
  // The two methods' types say more of the options than a test of both can.
  const given = options as unknown as { readonly prompt: Prompt.RawInput }
  return mode === "generateText"
    ? Effect.map(LanguageModel.generateText(given), ({ content }) => content)
    : Stream.runCollect(LanguageModel.streamText(given))
}
