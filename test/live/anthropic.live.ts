/**
 * The language model on the real API, with the key from `ANTHROPIC_API_KEY`: `npm run test:live`. Costs a few cents. The model is
 * `TOOLSPAN_LIVE_MODEL`, by default a small one.
 */
import { assert, describe, it } from "@effect/vitest"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as AnthropicClient from "../../src/anthropic/AnthropicClient.ts"
import * as AnthropicLanguageModel from "../../src/anthropic/AnthropicLanguageModel.ts"
import * as AnthropicTools from "../../src/anthropic/AnthropicTools.ts"
import { ask, modes, reasonOf } from "../anthropic/messages/Scripted.ts"

const model = process.env["TOOLSPAN_LIVE_MODEL"] ?? "claude-haiku-4-5"
const live = AnthropicLanguageModel.layer({ model, config: { max_tokens: 2048 } }).pipe(
  Layer.provide(AnthropicClient.layerConfig())
)
const Weather = Tool.make("Weather", {
  description: "The weather in a city.",
  parameters: Schema.Struct({ city: Schema.String, days: Schema.optional(Schema.Int) }),
  success: Schema.String
})

const toolkit = Toolkit.make(AnthropicTools.Memory_20250818({ needsApproval: false }), Weather)
const withHandlers = Effect.flatMap(
  toolkit.toHandlers({
    AnthropicMemory: () => Effect.succeed("Here are the files in /memories: none"),
    Weather: ({ city }) => Effect.succeed(`It rains in ${city}.`)
  }),
  (context) =>
    Effect.provideContext(
      Effect.suspend(() => toolkit),
      context
    )
)

describe.skipIf((process.env["ANTHROPIC_API_KEY"] ?? "") === "")("the real API", () => {
  it.effect.each(modes)("%s: takes calls of two tools and their results, and answers", (mode) =>
    Effect.gen(function* () {
      const prompt = Prompt.make(
        "Call Weather for Oslo and for Rome at once. View /memories. Then say what you found."
      )
      const first = yield* ask(mode, { prompt, toolkit: withHandlers })
      assert.isTrue(first.some((part) => part.type === "tool-result"))
      const second = yield* ask(mode, {
        prompt: Prompt.concat(prompt, Prompt.fromResponseParts(first)),
        toolkit: withHandlers
      })
      const finish = second.find((part) => part.type === "finish")
      assert.include(["stop", "tool-calls"], finish?.reason)
    }).pipe(Effect.provide(live))
  )

  it.effect.each(modes)("%s: takes its thinking back", (mode) =>
    Effect.gen(function* () {
      const prompt = Prompt.make("What is 27 * 453? Think first.")
      const first = yield* ask(mode, { prompt })
      assert.isTrue(first.some(({ type }) => type.startsWith("reasoning")))
      yield* ask(mode, {
        prompt: Prompt.concat(Prompt.concat(prompt, Prompt.fromResponseParts(first)), "And plus one?")
      })
    }).pipe(
      AnthropicLanguageModel.withConfigOverride({ thinking: { type: "enabled", budget_tokens: 1024 } }),
      Effect.provide(live)
    )
  )

  it.effect("searches the web, and takes what it found back", () =>
    Effect.gen(function* () {
      const kit = Toolkit.make(AnthropicTools.WebSearch_20250305({ max_uses: 1 }))
      const prompt = Prompt.make("Search the web for the Effect TypeScript library and cite one source.")
      const first = yield* ask("streamText", { prompt, toolkit: kit })
      assert.isTrue(first.some((part) => part.type === "tool-result" && part.providerExecuted))
      yield* ask("generateText", {
        prompt: Prompt.concat(Prompt.concat(prompt, Prompt.fromResponseParts(first)), "Thanks."),
        toolkit: kit
      })
    }).pipe(Effect.provide(live))
  )

  it.effect("gives objects by a schema", () =>
    Effect.gen(function* () {
      const schema = Schema.Struct({ city: Schema.String, country: Schema.optionalKey(Schema.String) })
      const { value } = yield* LanguageModel.generateObject({ prompt: "The capital of Norway.", schema })
      assert.strictEqual(value.city, "Oslo")
    }).pipe(Effect.provide(live))
  )

  it.effect("says that a model does not exist", () =>
    Effect.gen(function* () {
      const reason = yield* reasonOf(ask("generateText", { prompt: "Hi" }))
      assert.propertyVal(reason, "_tag", "InvalidRequestError")
    }).pipe(AnthropicLanguageModel.withConfigOverride({ model: "claude-none" }), Effect.provide(live))
  )
})
