import { assert, describe, it } from "@effect/vitest"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as AnthropicLanguageModel from "../../src/anthropic/AnthropicLanguageModel.ts"
import * as MessagesServer from "../support/MessagesServer.ts"
import { message, text } from "../support/MessagesServer.ts"
import { ask, key, model, modes, reasonOf, replyWith, scripted } from "./messages/Scripted.ts"

describe("AnthropicLanguageModel", () => {
  it.effect("asks the Messages API and answers with the text, its ids, its usage and why it ended", () =>
    scripted([{ json: message([text("Hello.")]) }], (server) =>
      Effect.gen(function* () {
        const response = yield* LanguageModel.generateText({ prompt: "Hi" })
        assert.strictEqual(response.text, "Hello.")
        assert.strictEqual(response.finishReason, "stop")
        assert.deepStrictEqual(
          response.content.map(({ type }) => type),
          ["response-metadata", "text", "finish"]
        )
        const [request] = server.requests
        assert.strictEqual(request?.path, "/v1/messages")
        assert.strictEqual(request?.headers.authorization, `Bearer ${key}`)
        assert.isString(request?.headers["anthropic-version"])
        assert.isUndefined(request?.headers["anthropic-beta"])
        assert.deepStrictEqual(request?.body, {
          model,
          max_tokens: 16_384,
          messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
          stream: false
        })
      })
    )
  )

  it.effect("streams the same as deltas", () =>
    scripted([{ events: MessagesServer.events(message([text("Hello, world.")])), chunk: 1 }], () =>
      Effect.gen(function* () {
        const parts = yield* Stream.runCollect(LanguageModel.streamText({ prompt: "Hi" }))
        const deltas = parts.flatMap((part) => (part.type === "text-delta" ? [part.delta] : []))
        assert.deepStrictEqual(deltas, ["Hell", "o, w", "orld", "."])
        assert.strictEqual(parts.at(-1)?.type, "finish")
      })
    )
  )

  it.effect("gives objects by a schema", () => {
    const Person = Schema.Struct({ name: Schema.String, age: Schema.optionalKey(Schema.Int) })
    return scripted([{ json: message([text('{"name":"Ada","age":null}')]) }], (server) =>
      Effect.gen(function* () {
        const { value } = yield* LanguageModel.generateObject({ prompt: "Who?", schema: Person }).pipe(
          AnthropicLanguageModel.withConfigOverride({ output_config: { effort: "low" } })
        )
        assert.deepStrictEqual(value, { name: "Ada" })
        const { effort, format } = server.requests[0]?.body.output_config ?? assert.fail()
        assert.strictEqual(effort, "low")
        assert.strictEqual(format.type, "json_schema")
        assert.deepStrictEqual(format.schema.required, ["name", "age"])
        assert.strictEqual(format.schema.additionalProperties, false)
      })
    )
  })

  it.effect("refuses, before it asks, a schema of objects that the API cannot hold", () => {
    interface Tree {
      readonly children: ReadonlyArray<Tree>
    }
    const Tree = Schema.Struct({ children: Schema.Array(Schema.suspend((): Schema.Codec<Tree> => Tree)) })
    return scripted([], (server) =>
      Effect.gen(function* () {
        const reason = yield* reasonOf(
          LanguageModel.generateObject({ prompt: "Grow", schema: Tree, objectName: "tree" })
        )
        assert.propertyVal(reason, "_tag", "UnsupportedSchemaError")
        assert.include(reason.message, 'The schema of "tree": ')
        assert.include(reason.message, "Recursive")
        assert.lengthOf(server.requests, 0)
      })
    )
  })

  it.effect("takes the configuration of the innermost part of the program, field by field", () => {
    const replies = [
      { json: message([text("Ok")]) },
      { events: MessagesServer.events(message([text("Ok")])) }
    ]
    return scripted(
      replies,
      (server) =>
        Effect.gen(function* () {
          yield* LanguageModel.generateText({ prompt: "Hi" })
          yield* LanguageModel.streamText({ prompt: "Hi" }).pipe(
            AnthropicLanguageModel.withConfigOverrideStream({ max_tokens: 3 }),
            Stream.runDrain
          )
          assert.deepStrictEqual(
            server.requests.map(({ body }) => [body.model, body.max_tokens, body.stop_sequences]),
            [
              ["other", 2, ["."]],
              ["other", 3, ["."]]
            ]
          )
        }).pipe(
          AnthropicLanguageModel.withConfigOverride({ max_tokens: 2 }),
          AnthropicLanguageModel.withConfigOverride({ max_tokens: 1, model: "other" })
        ),
      { config: { max_tokens: 7, stop_sequences: ["."] } }
    )
  })

  it.effect.each([
    ["end_turn", "stop"],
    ["stop_sequence", "stop"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["tool_use", "tool-calls"],
    ["pause_turn", "pause"],
    ["compaction", "pause"],
    ["refusal", "content-filter"],
    ["tired", "other"]
  ] as const)("says of a message that ended with %s that it did with %s", ([stop_reason, finishReason]) =>
    scripted(
      modes.map((mode) => replyWith(mode, message([text("Ok")], { stop_reason: stop_reason as "end_turn" }))),
      () =>
        Effect.gen(function* () {
          for (const mode of modes) {
            const finish = (yield* ask(mode, { prompt: "Hi" })).find((part) => part.type === "finish")
            assert.strictEqual(finish?.reason, finishReason)
            assert.strictEqual(finish?.metadata.anthropic?.stopReason, stop_reason)
          }
        })
    )
  )

  it.effect("says why the model refused", () => {
    const stop_details = {
      type: "refusal" as const,
      category: "cyber" as const,
      explanation: "No.",
      fallback_credit_token: null,
      fallback_has_prefill_claim: null,
      recommended_model: null
    }
    return scripted(
      modes.map((mode) => replyWith(mode, message([], { stop_reason: "refusal", stop_details }))),
      () =>
        Effect.gen(function* () {
          for (const mode of modes) {
            const finish = (yield* ask(mode, { prompt: "Hi" })).find((part) => part.type === "finish")
            assert.deepStrictEqual(finish?.metadata.anthropic?.stopDetails, stop_details)
          }
        })
    )
  })
})
