import { assert, describe, it } from "@effect/vitest"
import * as StyledLine from "../../src/terminal/StyledLine.ts"
import { piece } from "../../src/terminal/StyledLine.ts"

describe("StyledLine", () => {
  it("makes every text harmless", () => {
    assert.strictEqual(StyledLine.toText([piece("\u001b[31mred")], 20, true), "␛[31mred")
  })

  it("colours by meaning, and each piece on its own", () => {
    const line = [piece("✗", "failed"), piece(" "), piece("read_file", "strong")]
    assert.strictEqual(StyledLine.toText(line, 20, true), "\u001b[31m✗\u001b[0m \u001b[1mread_file\u001b[0m")
    assert.strictEqual(StyledLine.toText(line, 20, false), "✗ read_file")
  })

  it("cuts with an ellipsis in the last cell, wherever pieces meet", () => {
    const line = [piece("abc"), piece("def", "strong")]
    assert.strictEqual(StyledLine.toText(line, 6, false), "abcdef")
    assert.strictEqual(StyledLine.toText(line, 5, false), "abcd…")
    assert.strictEqual(StyledLine.toText(line, 4, false), "abc…")
    assert.strictEqual(StyledLine.toText(line, 3, false), "ab…")
    assert.strictEqual(StyledLine.toText([piece("日本語")], 5, false), "日本…")
    assert.strictEqual(StyledLine.toText([piece("日本語")], 4, false), "日…")
  })

  it("fills a column by display width", () => {
    assert.strictEqual(StyledLine.width(StyledLine.column([piece("日本")], 7)), 7)
    assert.strictEqual(StyledLine.width(StyledLine.column([piece("日本語です")], 7)), 7)
  })

  it("leaves no spaces at the end", () => {
    assert.strictEqual(StyledLine.toText([piece("a  "), piece("   ", "faint"), piece(" ")], 20, true), "a")
  })
})
