import { readdirSync, readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Program from "./support/Program.ts"

/** What each example prints: on stdout, and on stderr without times and ids. */
const expected: Readonly<Record<string, { readonly stdout: string; readonly tree?: ReadonlyArray<string> }>> =
  {
    "wrap-a-toolkit.ts": {
      stdout: "",
      tree: [
        "✓ LanguageModel.generateText",
        '├─ ✓ get_weather call_1 {"city":"Lisbon"}',
        '└─ ✗ book_table call_2 {"place":"Alfama","card":"[REDACTED]"}',
        "! FullyBooked: The tool failed"
      ]
    },
    "own-opentelemetry.ts": { stdout: 'execute_tool refund {"order":"A-17","apiKey":"[REDACTED]"}\n' },
    "test-your-telemetry.ts": { stdout: "The trace is as expected.\n" }
  }

describe("examples", () => {
  const files = readdirSync(`${Program.root}examples`)

  it("are all listed here, and short", () => {
    assert.deepStrictEqual(files.sort(), Object.keys(expected).sort())
    for (const file of files) {
      assert.isBelow(readFileSync(`${Program.root}examples/${file}`, "utf8").split("\n").length, 60)
    }
  })

  for (const [file, { stdout, tree }] of Object.entries(expected)) {
    it.effect(file, () =>
      Effect.gen(function* () {
        const ended = yield* Program.run(`examples/${file}`)
        assert.deepStrictEqual([ended.code, ended.stdout], [0, stdout])
        if (tree === undefined) assert.strictEqual(ended.stderr, "")
        else for (const row of tree) assert.include(ended.stderr, row)
      })
    )
  }
})
