import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as PlainText from "../../src/terminal/PlainText.ts"

const hostile = fc.string({
  unit: fc.oneof(
    fc.constantFrom(
      "\u001b",
      "\u009b",
      "\u0007",
      "\r",
      "\n",
      "\u202e",
      "\u2066",
      "\u0085",
      "\ud800",
      "\udfff",
      "\u007f"
    ),
    fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
    fc.constantFrom("a", "]8;;", "[2J", "é", "日")
  )
})

describe("PlainText.neutralise", () => {
  it("leaves no control character, direction control or lone surrogate in any text", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const safe = PlainText.neutralise(text)
        assert.notMatch(safe, /[\p{Control}\p{Surrogate}\p{Line_Separator}\p{Paragraph_Separator}]/u)
        assert.notMatch(safe, /\p{Bidi_Control}/u)
      })
    )
  })

  it("changes nothing the second time", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const once = PlainText.neutralise(text)
        assert.strictEqual(PlainText.neutralise(once), once)
      })
    )
  })

  it("keeps text that is harmless as it is", () => {
    const text = 'résumé {"q": "日本語 👩‍👩‍👧 ✓"} naïve'
    assert.strictEqual(PlainText.neutralise(text), text)
  })

  it("shows what it does not send", () => {
    assert.strictEqual(PlainText.neutralise("\u001b[2Jgone\u0007"), "␛[2Jgone␇")
    assert.strictEqual(PlainText.neutralise("\u007f\u009b31m\u202eabc"), "␡\ufffd31m\ufffdabc")
    assert.strictEqual(PlainText.neutralise("\ud800"), "\ufffd")
  })

  it("makes one line of many", () => {
    assert.strictEqual(PlainText.neutralise("first\r\n\tsecond\u2028third"), "first second third")
  })

  it("looks at the beginning of a very long text only", () => {
    assert.strictEqual(PlainText.neutralise("x".repeat(5_000_000)).length, PlainText.LIMIT)
  })
})
