import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as MissingPackage from "../../src/sdk/MissingPackage.ts"

const missing = (code: string, message: string) => Object.assign(new Error(message), { code })

const death = (error: unknown) =>
  Effect.map(Effect.exit(MissingPackage.load(() => Promise.reject(error))), (exit) =>
    Exit.isFailure(exit) ? Cause.squash(exit.cause) : assert.fail("loaded")
  )

describe("a package that is not installed", () => {
  it.effect("is named, with the command that installs the version that fits", () =>
    Effect.gen(function* () {
      const error = yield* death(
        missing(
          "ERR_MODULE_NOT_FOUND",
          "Cannot find package '@opentelemetry/sdk-node' imported from /app/node_modules/toolspan/dist/sdk/NodeSdk.js"
        )
      )
      assert.instanceOf(error, MissingPackage.MissingPackage)
      assert.strictEqual(
        (error as Error).message,
        'toolspan/sdk needs the package @opentelemetry/sdk-node, which is not installed. Install it: npm install "@opentelemetry/sdk-node@^0.223.0"'
      )
    })
  )

  it.effect("is named by its package where a file of it was asked for, from CommonJS too", () =>
    Effect.gen(function* () {
      const error = yield* death(
        missing("MODULE_NOT_FOUND", "Cannot find module 'thing/lib/a.js'\nRequire stack:\n- x")
      )
      assert.include((error as Error).message, "npm install thing")
    })
  )

  it.effect("is not what any other failure is taken for", () =>
    Effect.gen(function* () {
      for (const error of [
        new Error("Cannot find package 'x'"),
        missing("ERR_MODULE_NOT_FOUND", "Cannot find module '/app/file.js' imported from /app/main.js"),
        "text"
      ]) {
        assert.strictEqual(yield* death(error), error)
      }
    })
  )
})
