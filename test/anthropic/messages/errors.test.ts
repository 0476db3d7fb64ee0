/**
 * Errors of the API and of the way to it, as reasons that a program can act on.
 */
import * as Net from "node:net"
import { assert, describe, it } from "@effect/vitest"
import type * as AiError from "effect/ai/AiError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as MessagesServer from "../../support/MessagesServer.ts"
import { message, text } from "../../support/MessagesServer.ts"
import { ask, modes, reasonOf, scripted } from "./Scripted.ts"

const failure = (status: number, type: string, says: string, error_code?: string): MessagesServer.Reply => ({
  status,
  json: {
    type: "error",
    error: { type, message: says, ...(error_code === undefined ? undefined : { details: { error_code } }) },
    request_id: "req_test"
  }
})

const cases: ReadonlyArray<readonly [MessagesServer.Reply, AiError.AiErrorReason["_tag"], object, string]> = [
  [
    failure(400, "invalid_request_error", "max_tokens: too large"),
    "InvalidRequestError",
    { isRetryable: false },
    "max_tokens: too large"
  ],
  [
    failure(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
    "InvalidRequestError",
    { parameter: "messages", constraint: "exceed the model's context window" },
    "210000 tokens"
  ],
  [
    failure(413, "request_too_large", "Request exceeds the maximum size"),
    "InvalidRequestError",
    { parameter: "messages" },
    "bytes"
  ],
  [
    failure(404, "not_found_error", "model: claude-none"),
    "InvalidRequestError",
    { parameter: "model" },
    "claude-none"
  ],
  [
    failure(401, "authentication_error", "invalid x-api-key"),
    "AuthenticationError",
    { kind: "InvalidKey", isRetryable: false },
    "invalid x-api-key"
  ],
  [
    failure(403, "permission_error", "not allowed"),
    "AuthenticationError",
    { kind: "InsufficientPermissions" },
    "not allowed"
  ],
  [failure(402, "billing_error", "pay first"), "QuotaExhaustedError", { isRetryable: false }, "Quota"],
  [
    failure(429, "rate_limit_error", "spent", "enforced_spend_limit_reached"),
    "QuotaExhaustedError",
    { isRetryable: false },
    "Quota"
  ],
  [failure(409, "conflict_error", "again"), "InvalidRequestError", {}, "again"],
  [
    failure(429, "rate_limit_error", "slow down"),
    "RateLimitError",
    { isRetryable: true, retryAfter: undefined },
    "Rate limit"
  ],
  [failure(500, "api_error", "oops"), "InternalProviderError", { isRetryable: true }, "api_error: oops"],
  [
    failure(504, "timeout_error", "too slow"),
    "InternalProviderError",
    { isRetryable: true },
    "timeout_error: too slow"
  ],
  [
    failure(529, "overloaded_error", "Overloaded"),
    "InternalProviderError",
    { isRetryable: true },
    "overloaded_error: Overloaded"
  ],
  // A gateway in between.
  [{ status: 502, text: "<html>Bad Gateway</html>" }, "InternalProviderError", {}, "Bad Gateway"],
  [{ status: 418, json: {} }, "InvalidRequestError", {}, "418"],
  [{ text: "not JSON" }, "InvalidResponseError", {}, "not JSON"]
]

describe.each(modes)("errors of %s", (mode) => {
  it.effect.each(cases.filter(([reply]) => mode === "generateText" || (reply.status ?? 200) >= 400))(
    "are what they are: %j",
    ([reply, tag, fields, expected]) =>
      scripted([reply], () =>
        Effect.gen(function* () {
          const reason = yield* reasonOf(ask(mode, { prompt: "Hi" }))
          assert.strictEqual(reason._tag, tag)
          for (const [name, value] of Object.entries(fields)) {
            assert.strictEqual((reason as unknown as Record<string, unknown>)[name], value)
          }
          assert.include(reason.message, expected)
        })
      )
  )

  it.effect("say what the API says of them: the type, the code, the request and its headers", () =>
    scripted(
      [
        {
          ...failure(429, "rate_limit_error", "slow down", "ramp_limit_exceeded"),
          headers: { "retry-after": "7", "anthropic-ratelimit-tokens-remaining": "0", "set-cookie": "secret" }
        }
      ],
      () =>
        Effect.gen(function* () {
          const reason = yield* reasonOf(ask(mode, { prompt: "Hi" }))
          if (reason._tag !== "RateLimitError") return assert.fail(reason._tag)
          assert.deepStrictEqual(reason.metadata.anthropic, {
            errorType: "rate_limit_error",
            errorCode: "ramp_limit_exceeded",
            requestId: "req_test"
          })
          assert.strictEqual(Duration.toMillis(reason.retryAfter ?? 0), 7000)
          assert.deepStrictEqual(reason.http?.response, {
            status: 429,
            headers: {
              "request-id": "req_test",
              "retry-after": "7",
              "anthropic-ratelimit-tokens-remaining": "0"
            }
          })
          assert.include(reason.http?.body ?? "", "slow down")
        })
    )
  )

  it.effect("know how long to wait in milliseconds, seconds, or until a date", () =>
    Effect.forEach(
      [
        [{ "retry-after-ms": "1500", "retry-after": "9" }, 1500, 1500],
        [{ "retry-after": "0.5" }, 500, 500],
        [{ "retry-after": new Date(Date.now() + 60_000).toUTCString() }, 1, 60_000]
      ] as const,
      ([headers, least, most]) =>
        scripted([{ ...failure(429, "rate_limit_error", "slow down"), headers }], () =>
          Effect.gen(function* () {
            const reason = yield* reasonOf(ask(mode, { prompt: "Hi" }))
            const wait =
              reason._tag === "RateLimitError" ? Duration.toMillis(reason.retryAfter ?? 0) : Number.NaN
            assert.isAtLeast(wait, least)
            assert.isAtMost(wait, most)
          })
        )
    )
  )

  it.effect("name where nobody answers", () =>
    Effect.gen(function* () {
      const url = yield* closedPort
      yield* scripted(
        [],
        () =>
          Effect.gen(function* () {
            const reason = yield* reasonOf(ask(mode, { prompt: "Hi" }))
            if (reason._tag !== "NetworkError") return assert.fail(reason._tag)
            assert.strictEqual(reason.reason, "TransportError")
            assert.strictEqual(reason.url, `${url}/v1/messages`)
            assert.include(reason.message, "ECONNREFUSED")
          }),
        { client: { baseURL: url } }
      )
    })
  )

  it.effect("say that nothing came in time", () =>
    scripted(
      [{ before: Effect.never }],
      () =>
        Effect.gen(function* () {
          const reason = yield* reasonOf(ask(mode, { prompt: "Hi" }))
          assert.propertyVal(reason, "_tag", "NetworkError")
          assert.include(reason.message, "no response in time")
        }),
      { client: { timeout: "50 millis" } }
    )
  )

  it.effect("come after the retries that the client may make, and no others", () =>
    scripted(
      [
        failure(529, "overloaded_error", "Overloaded"),
        failure(429, "rate_limit_error", "slow"),
        failure(500, "api_error", "oops")
      ].map((reply) => ({ ...reply, headers: { "retry-after-ms": "1" } })),
      (server) =>
        Effect.gen(function* () {
          const reason = yield* reasonOf(ask(mode, { prompt: "Hi" }))
          assert.propertyVal(reason, "_tag", "InternalProviderError")
          assert.lengthOf(server.requests, 3)
        }),
      { client: { maxRetries: 2 } }
    )
  )
})

it.effect("a response that was cut off is a lost connection", () =>
  scripted([{ text: JSON.stringify(message([text("Hello")])).slice(0, 40), after: "disconnect" }], () =>
    Effect.gen(function* () {
      const reason = yield* reasonOf(ask("generateText", { prompt: "Hi" }))
      assert.propertyVal(reason, "_tag", "NetworkError")
    })
  )
)

/** The URL of a port that nobody listens on. */
const closedPort = Effect.callback<string>((resume) => {
  const server = Net.createServer().listen(0, "127.0.0.1", () => {
    const { port } = server.address() as Net.AddressInfo
    server.close(() => resume(Effect.succeed(`http://127.0.0.1:${port}`)))
  })
})
