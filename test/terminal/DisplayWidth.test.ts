import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as DisplayWidth from "../../src/terminal/DisplayWidth.ts"

const widths: ReadonlyArray<readonly [text: string, cells: number, what: string]> = [
  ["", 0, "nothing"],
  ["read_file call_1", 16, "ASCII"],
  ["résumé", 6, "Latin letters"],
  ["e\u0301", 1, "a letter with a combining mark"],
  ["Привет", 6, "Cyrillic"],
  ["日本語", 6, "Han"],
  ["ひらカタ", 8, "kana"],
  ["ｶﾀｶﾅ", 4, "half-width kana"],
  ["ＡＢ", 4, "full-width Latin"],
  ["한글", 4, "Hangul syllables"],
  ["\u1112\u1161\u11ab", 2, "a Hangul syllable in parts"],
  ["\u1161", 1, "a Hangul vowel by itself"],
  ["、。「」", 8, "East Asian punctuation"],
  ["㈱㍿", 4, "squared and circled East Asian letters"],
  ["𠀀", 2, "Han beyond the basic plane"],
  ["🔥", 2, "an emoji"],
  ["☕", 2, "a symbol that is an emoji"],
  ["❤", 1, "a symbol that is text"],
  ["❤\ufe0f", 2, "a symbol made an emoji"],
  ["👍🏽", 2, "an emoji with a skin tone"],
  ["👩‍👩‍👧‍👦", 2, "a family"],
  ["🇩🇪🇫🇷", 4, "two flags"],
  ["1\ufe0f\u20e3", 2, "a keycap"],
  ["✓✗⊘…├─└│█▏⇄↖", 12, "what a tree is drawn with"],
  ["a\u200bb", 2, "a zero-width space"],
  ["क्षि", 3, "an Indic cluster, as wide as any terminal draws it"]
]

describe("DisplayWidth", () => {
  for (const [text, cells, what] of widths) {
    it(`counts ${cells} for ${what}`, () => assert.strictEqual(DisplayWidth.of(text), cells))
  }

  it("takes the longest beginning that fits", () => {
    assert.strictEqual(DisplayWidth.take("日本語", 5), "日本")
    assert.strictEqual(DisplayWidth.take("ab👩‍👩‍👧c", 3), "ab")
    assert.strictEqual(DisplayWidth.take("ab👩‍👩‍👧c", 4), "ab👩‍👩‍👧")
    assert.strictEqual(DisplayWidth.take("abc", 0), "")
    assert.strictEqual(DisplayWidth.take("abc", 3), "abc")
  })

  it("never takes more than fits, and stops only for want of room", () => {
    const text = fc.string({
      unit: fc.oneof(fc.string({ unit: "grapheme", minLength: 1, maxLength: 1 }), fc.constantFrom("日", "🔥"))
    })
    fc.assert(
      fc.property(text, fc.nat(30), (text, columns) => {
        const taken = DisplayWidth.take(text, columns)
        assert.isTrue(text.startsWith(taken))
        assert.isAtMost(DisplayWidth.of(taken), columns)
        if (taken !== text) assert.isAbove(DisplayWidth.of(text), columns)
      })
    )
  })
})
