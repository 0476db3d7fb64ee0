/** What of models and tools is printed by the commands. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as Table from "../../src/cli/approvals/Table.ts"
import * as Shown from "../../src/cli/Shown.ts"
import * as DisplayWidth from "../../src/terminal/DisplayWidth.ts"

/** Text with much in it that acts on a terminal, or is not seen. */
const hostile = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom(
        "\u001b[2J",
        "\r",
        "\n",
        "\t",
        "\u007f",
        "\u009b",
        "\u202e",
        "\u200b",
        "\u2028",
        "\ud800",
        "\u{e0041}",
        "日本",
        "👩‍👧"
      )
    ),
    { maxLength: 8 }
  )
  .map((parts) => parts.join(""))

const value = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    hostile,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(hostile, tie("value"), { maxKeys: 3 })
  )
})).value

const acts = /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u
const isSeen = (text: string) =>
  !/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u.test(text)

describe("what is shown", () => {
  it("is exactly the value, without anything that is not seen", () => {
    fc.assert(
      fc.property(value, (value) => {
        const same = JSON.parse(JSON.stringify(value))
        assert.isTrue(isSeen(Shown.json(value)))
        assert.deepStrictEqual(JSON.parse(Shown.json(value)), same)
        assert.isTrue(isSeen(Shown.indented(value).replaceAll("\n", "")))
        assert.deepStrictEqual(JSON.parse(Shown.indented(value)), same)
        assert.deepStrictEqual(JSON.parse(Shown.exact(value)), same)
      })
    )
  })

  it("of text is all of it that does not act on a terminal, whatever its length", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        assert.notMatch(Shown.text(text).replace(/[\n\t]/g, ""), acts)
      })
    )
    const long = "日本 👍\n".repeat(2000)
    assert.strictEqual(Shown.text(long), long)
    assert.strictEqual(Shown.text("a\r\nb\rc"), "a\nb c")
  })

  it("in a table stands in columns, on one line each, no wider than the terminal", () => {
    const table = [
      { heading: "A", text: ([a]: readonly [string, string]) => a },
      { heading: "REST", text: ([, b]: readonly [string, string]) => b }
    ]
    fc.assert(
      fc.property(
        fc.array(fc.tuple(hostile, hostile), { maxLength: 4 }),
        fc.integer({ min: 40, max: 200 }),
        (rows, columns) => {
          const lines = Table.render(table, rows, columns)
          assert.lengthOf(lines, rows.length + 1)
          const first = Math.max(1, ...rows.map(([a]) => DisplayWidth.of(Shown.name(a))))
          for (const line of lines) {
            assert.notMatch(line, acts)
            assert.isAtMost(DisplayWidth.of(line), Math.max(columns, first + 2 + 20))
          }
          assert.isTrue(lines[0]?.startsWith(`A${" ".repeat(first + 1)}REST`))
        }
      )
    )
  })
})
