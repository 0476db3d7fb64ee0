/** Programs that are run to their end: what they give, and that they come to one. */
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Program from "../../../src/anthropic/process/Program.ts"
import { until } from "../../support/Until.ts"
import * as Shells from "../bash/Shells.ts"

const sh = (script: string, more: Partial<Program.Request> = {}) =>
  Program.run({ file: "sh", args: ["-c", script], environment: { PATH: process.env["PATH"] ?? "" }, ...more })

describe("a program", () => {
  it.live("gives what it wrote and its exit code, and reads what it is given", () =>
    Effect.gen(function* () {
      const { exitCode, stderr, stdout } = yield* sh("cat; echo oops >&2; exit 3", { input: "a\u00e9" })
      assert.deepStrictEqual([exitCode, stdout.toString("utf8"), stderr], [3, "a\u00e9", "oops\n"])
      const bytes = yield* sh("cat", { input: Uint8Array.of(0, 255, 10) })
      assert.deepStrictEqual([...bytes.stdout], [0, 255, 10])
      // It need not read it.
      assert.strictEqual((yield* sh("exit 0", { input: "x".repeat(1e6) })).exitCode, 0)
    })
  )

  it.live("has the environment that is given, and nothing else", () =>
    Effect.gen(function* () {
      const { stdout } = yield* Program.run({ file: "/usr/bin/env", args: [], environment: { A: "1" } })
      assert.strictEqual(stdout.toString("utf8"), "A=1\n")
    })
  )

  it.live("that is missing, killed, slow or talks too much is told apart", () =>
    Effect.gen(function* () {
      const reason = (effect: Effect.Effect<unknown, Program.ProgramError>) =>
        Effect.map(Effect.flip(effect), ({ message, reason }) => `${reason}: ${message}`)
      assert.strictEqual(
        yield* reason(Program.run({ file: "no-such-program", args: [], environment: {} })),
        "NotFound: no-such-program is not installed, or not on the PATH of this process"
      )
      assert.strictEqual(yield* reason(sh("kill -TERM $$")), "Killed: sh was ended by SIGTERM")
      const seconds = Shells.uniqueSeconds()
      assert.strictEqual(
        yield* reason(sh(`sleep ${seconds}; true`, { timeout: Duration.millis(200) })),
        "TimedOut: sh did not end within 200ms and was killed"
      )
      assert.strictEqual(
        yield* reason(sh("yes", { maxBytes: 1000 })),
        "TooMuchOutput: sh wrote more than 1000 bytes and was killed"
      )
      yield* until("nothing is left", () => Shells.alive(seconds) === 0)
    })
  )

  it.live("ends with all that it started when it is interrupted", () =>
    Effect.gen(function* () {
      const seconds = Shells.uniqueSeconds()
      const running = yield* Effect.forkChild(sh(`sleep ${seconds} & sleep ${seconds}`))
      yield* until("it runs", () => Shells.alive(seconds) >= 2)
      yield* Fiber.interrupt(running)
      yield* until("it is gone", () => Shells.alive(seconds) === 0)
    })
  )
})
