import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { byteLength, escapedUnitsThatFit, unitsThatFit } from "../../src/content/Utf8.ts"

const encoder = new TextEncoder()
const bytesOf = (text: string): number => encoder.encode(text).length

const isWellFormed = (text: string): boolean => !/\p{Surrogate}/u.test(text)

const texts = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: "grapheme" }),
  fc
    .array(fc.constantFrom("\ud83d", "\ude00", "a", '"', "\\", "\n", "\u0001", "é", "€"))
    .map((parts) => parts.join(""))
)

describe("Utf8", () => {
  it("counts as the platform's encoder does", () => {
    fc.assert(fc.property(texts, (text) => assert.strictEqual(byteLength(text), bytesOf(text))))
  })

  it("cuts a text to the most whole characters that fit", () => {
    fc.assert(
      fc.property(texts, fc.nat(40), (text, room) => {
        const units = unitsThatFit(text, room)
        assert.isAtMost(bytesOf(text.slice(0, units)), room)
        assert.isTrue(isWellFormed(text.slice(0, units)) || !isWellFormed(text))
        const next = String.fromCodePoint(text.codePointAt(units) ?? 0)
        assert.isTrue(units === text.length || bytesOf(text.slice(0, units) + next) > room)
      })
    )
  })

  it("cuts a text for JSON to the most whole characters and escapes that fit", () => {
    fc.assert(
      fc.property(texts, fc.nat(40), (text, room) => {
        const units = escapedUnitsThatFit(text, room)
        const next = String.fromCodePoint(text.codePointAt(units) ?? 0)
        assert.isAtMost(bytesOf(JSON.stringify(text.slice(0, units))) - 2, room)
        assert.isTrue(
          units === text.length || bytesOf(JSON.stringify(text.slice(0, units) + next)) - 2 > room
        )
      })
    )
  })
})
