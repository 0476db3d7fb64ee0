import { assert, describe, it } from "@effect/vitest"
import { type Options, validate } from "../../src/terminal/Options.ts"

const message = (options: object): string => {
  try {
    validate(options)
    return "accepted"
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

describe("Terminal options", () => {
  it("are accepted where they are meant, or left out", () => {
    const accepted: ReadonlyArray<Options> = [
      {},
      { stream: { write: () => true }, color: true, columns: 40, progress: false },
      { stream: process.stdout, color: "auto", columns: undefined, progress: "auto" }
    ]
    for (const options of accepted) {
      assert.strictEqual(message(options), "accepted")
    }
  })

  it("are refused with the option, its value and what is allowed", () => {
    assert.strictEqual(
      message({ columns: 39 }),
      'Terminal.layer: option "columns" is 39; allowed: a whole number from 40'
    )
    assert.strictEqual(
      message({ color: "always" }),
      'Terminal.layer: option "color" is "always"; allowed: true, false or "auto"'
    )
    assert.strictEqual(
      message({ stream: {} }),
      'Terminal.layer: option "stream" is an object; allowed: an object with a method `write`'
    )
    assert.strictEqual(
      message({ colour: true }),
      'Terminal.layer: unknown option "colour"; allowed: stream, color, columns, progress'
    )
    for (const options of [
      { columns: 80.5 },
      { columns: "80" },
      { columns: Number.NaN },
      { progress: null },
      { constructor: 1 }
    ]) {
      assert.include(message(options), "allowed: ")
    }
  })
})
