import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import { Sdk } from "../../src/sdk/index.ts"

/** The message with which the layer refuses. */
const refusal = (options: object): Effect.Effect<string> =>
  Effect.map(Effect.exit(Effect.scoped(Layer.build(Sdk.layer(options)))), (exit) => {
    if (Exit.isSuccess(exit)) throw new Error("The layer was built")
    const error = Cause.squash(exit.cause)
    return error instanceof Error ? error.message : String(error)
  })

describe("Sdk.layer refuses", () => {
  for (const [options, message] of [
    [{ serviceName: "" }, 'Sdk.layer: option "serviceName" is ""; allowed: a non-empty string'],
    [{ serviceVersion: 2 }, 'Sdk.layer: option "serviceVersion" is 2; allowed: a non-empty string'],
    [
      { resourceAttributes: "a=1" },
      'Sdk.layer: option "resourceAttributes" is "a=1"; allowed: an object of attributes'
    ],
    [
      { spanProcessors: [{}] },
      'Sdk.layer: option "spanProcessors" is an array; allowed: an array of span processors'
    ],
    [
      { shutdownTimeout: "soon" },
      'Sdk.layer: option "shutdownTimeout" is "soon"; allowed: a duration above zero and below 25 days, such as "5 seconds"'
    ],
    [
      { shutdownTimeout: -1 },
      'Sdk.layer: option "shutdownTimeout" is -1; allowed: a duration above zero and below 25 days, such as "5 seconds"'
    ],
    [
      { shutdownTimeout: Number.POSITIVE_INFINITY },
      'Sdk.layer: option "shutdownTimeout" is Infinity; allowed: a duration above zero and below 25 days, such as "5 seconds"'
    ],
    [
      { shutdownTimeout: "1000 hours" },
      'Sdk.layer: option "shutdownTimeout" is "1000 hours"; allowed: a duration above zero and below 25 days, such as "5 seconds"'
    ],
    [{ handleSignals: "yes" }, 'Sdk.layer: option "handleSignals" is "yes"; allowed: true or false'],
    [
      { endpoint: "http://x" },
      'Sdk.layer: unknown option "endpoint"; allowed: serviceName, serviceVersion, resourceAttributes, spanProcessors, shutdownTimeout, handleSignals'
    ]
  ] as const) {
    it.effect(JSON.stringify(options), () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* refusal(options), message)
      })
    )
  }
})
