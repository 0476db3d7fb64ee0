import { inspect } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Cause from "effect/Cause"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as AnthropicClient from "../../src/anthropic/AnthropicClient.ts"
import * as AnthropicLanguageModel from "../../src/anthropic/AnthropicLanguageModel.ts"
import * as MessagesServer from "../support/MessagesServer.ts"
import { message, text } from "../support/MessagesServer.ts"
import { ask, key, modes, reasonOf, scripted } from "./messages/Scripted.ts"

const configured = (env: Record<string, string>) =>
  AnthropicLanguageModel.model("claude-test-1").pipe(
    Layer.provide(AnthropicClient.layerConfig()),
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(env)))
  )

const generate = LanguageModel.generateText({ prompt: "Hi" })

describe("AnthropicClient", () => {
  it.effect("takes the key and the base URL from the configuration", () =>
    Effect.gen(function* () {
      const server = yield* MessagesServer.start([{ json: message([text("Ok")]) }])
      yield* Effect.provide(generate, configured({ ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: server.url }))
      assert.strictEqual(server.requests[0]?.headers.authorization, `Bearer ${key}`)
    })
  )

  it.effect("fails to be built without a key in the configuration", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Effect.provide(generate, configured({})))
      assert.include(String(error), "ANTHROPIC_API_KEY")
    })
  )

  it.effect("asks nobody without a key, and says what to give", () =>
    Effect.forEach([undefined, Redacted.make(" ")], (apiKey) =>
      scripted(
        [],
        (server) =>
          Effect.gen(function* () {
            const reason = yield* reasonOf(generate)
            assert.propertyVal(reason, "_tag", "AuthenticationError")
            assert.propertyVal(reason, "kind", "MissingKey")
            assert.include(reason.message, "ANTHROPIC_API_KEY")
            assert.lengthOf(server.requests, 0)
          }),
        { client: { apiKey } }
      )
    )
  )

  it.effect("sends the headers that it is given, which may be all the credentials there are", () =>
    scripted(
      [{ json: message([text("Ok")]) }],
      (server) =>
        Effect.gen(function* () {
          yield* generate
          const { headers } = server.requests[0] ?? assert.fail()
          assert.strictEqual(headers["x-api-key"], "gateway-key")
          assert.strictEqual(headers["x-team"], "a")
          assert.isUndefined(headers.authorization)
        }),
      { client: { apiKey: undefined, headers: { "x-api-key": Redacted.make("gateway-key"), "x-team": "a" } } }
    )
  )

  it.effect("takes a token instead of a key", () =>
    scripted(
      [{ json: message([text("Ok")]) }],
      (server) =>
        Effect.gen(function* () {
          yield* generate
          assert.strictEqual(server.requests[0]?.headers.authorization, "Bearer token-0123")
        }),
      { client: { apiKey: undefined, authToken: Redacted.make("token-0123") } }
    )
  )

  it.effect("shows the key in no error and in nothing that can be inspected", () => {
    const echo = { type: "error", error: { type: "authentication_error", message: `no such key: ${key}` } }
    const hidden = (value: unknown) => {
      for (const shown of [
        inspect(value, { depth: 20, showHidden: true }),
        JSON.stringify(value),
        String(value)
      ]) {
        assert.notInclude(shown, key)
      }
    }
    return Effect.forEach(modes, (mode) =>
      Effect.forEach(
        [
          [{ status: 401, json: echo }, {}],
          [{ status: 500, text: `failed for ${key}` }, {}],
          // A key that no header can hold.
          [{}, { apiKey: Redacted.make(`${key}\u0000`) }],
          [{}, { baseURL: `http://user:${key}@127.0.0.1:1` }],
          [{}, { fetch: () => Promise.reject(new TypeError("failed", { cause: new Error(`with ${key}`) })) }]
        ] as const,
        ([reply, client]) =>
          scripted(
            [reply],
            () =>
              Effect.gen(function* () {
                const exit = yield* Effect.exit(ask(mode, { prompt: "Hi" }))
                if (Exit.isSuccess(exit)) return assert.fail("succeeded")
                hidden(exit.cause)
                hidden(Cause.squash(exit.cause))
                assert.notInclude(Cause.pretty(exit.cause), key)
                hidden(yield* Effect.context<never>())
              }),
            { client }
          )
      )
    )
  })
})
