import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { MASK, redactPrefix, redactText } from "../../src/content/Redaction.ts"
import { leak, looks, noise, opaque, type Planted } from "./Secrets.ts"

const oneOfAll: fc.Arbitrary<Planted> = fc.oneof(...looks.map(([, planted]) => planted))

describe("redactText", () => {
  describe("masks, between other words,", () => {
    it.each(looks.map(([name, planted]) => ({ name, planted })))("a $name", ({ planted }) => {
      fc.assert(
        fc.property(noise, planted, noise, (before, { text, secret }, after) => {
          const redacted = redactText(`${before} ${text} ${after}`)
          assert.strictEqual(leak(redacted, secret), undefined)
          assert.include(redacted, MASK)
        })
      )
    })
  })

  it("gives the same again when it redacts what it redacted", () => {
    const fragments = fc.constantFrom(
      ...'password= token: secret Cookie: Bearer basic api key : = -- -- < > </ " \' ` \\ \\" [ ] { } ( ) , ; & \n \t eyJ . - _ @ :// / 4 41 4111 sk- ghp_'.split(
        " "
      ),
      " ",
      "\n",
      "4111 1111 1111 1111",
      "-----BEGIN PRIVATE KEY-----",
      "-----END PRIVATE KEY-----",
      MASK,
      "aaaaaaaaaaaaaaaaaaaaaaaa",
      "null",
      "12"
    )
    const text = fc.array(
      fc.oneof(
        fragments,
        fragments,
        fc.string({ maxLength: 8 }),
        oneOfAll.map((planted) => planted.text)
      ),
      { maxLength: 25 }
    )
    fc.assert(
      fc.property(text, (parts) => {
        const redacted = redactText(parts.join(""))
        assert.strictEqual(redactText(redacted), redacted)
      }),
      { numRuns: 5000 }
    )
  })

  it("leaves ordinary text as it is", () => {
    for (const text of [
      "",
      "Find the cheapest flight from Berlin to San Francisco.",
      "src/instrumentation/ToolkitInstrumentation.ts:42:7 error TS2345: not assignable",
      "SELECT id, name FROM users WHERE created > '2024-01-15T10:30:00Z' LIMIT 10",
      "https://user@example.com:8080/path?page=2&sort=name#top",
      "max_tokens: 4096, token_count=12, tokens: 3, password: null, secret = true",
      "the token is expired and the password is wrong",
      "a basic understanding of Basic Authentication",
      "Unexpected token: } in JSON",
      "550e8400-e29b-41d4-a716-446655440000 1700000000000 4111111111111112",
      "risk-averse desk-bound keyboard: author: Ann, monkey = 3"
    ]) {
      assert.strictEqual(redactText(text), text)
    }
  })

  it("keeps what stands around a secret", () => {
    for (const [text, redacted] of [
      ["password=hunter2 user=bob", `password=${MASK} user=bob`],
      ['{"password": "hunter2", "user": "bob"}', `{"password": "${MASK}", "user": "bob"}`],
      ["user: bob, note: api key: abc", `user: bob, note: api key: ${MASK}`],
      ["postgres://bob:p4ss@host/db", `postgres://bob:${MASK}@host/db`],
      ['curl -H "Authorization: Bearer abc" https://x.dev', `curl -H "Authorization: ${MASK}" https://x.dev`],
      ["order 12345 4111 1111 1111 1111 exp 12/25", `order 12345 ${MASK} exp 12/25`],
      ["mysql --password hunter2 --host db", `mysql --password ${MASK} --host db`],
      ['"credentials": ["a1", "b2"], "n": 1', `"credentials": ${MASK}, "n": 1`],
      ['const token = encode("abc") + 1', `const token = ${MASK}) + 1`],
      ["Server=db;Password=abc;Timeout=3", `Server=db;Password=${MASK};Timeout=3`]
    ] as const) {
      assert.strictEqual(redactText(text), redacted)
    }
  })

  it("takes hostile texts in linear time and with a bounded stack", () => {
    // Quadratic time would be hours, and a stack that grows with the text ends in an error.
    const units =
      'a|eyJ|-eyJ|1 |1|123 |4111-|a.|://a:|password |password=|-----BEGIN PRIVATE KEY-----|-|bearer | |sk-|ghp_|"|<a>|<password>|--a |key="\\|token=[|Cookie: a |a b c |:|secret:\n|`Cookie: |key\\"|secret=\\"|"password: x|eyJaaaaaaaaa.eyJ|basic A|\\|]'.split(
        "|"
      )
    const starts =
      'password="|password=\\"|token=|token=[|token=f("|<secret>|-----BEGIN PRIVATE KEY-----|Bearer |x.eyJ|://a:|--token |sk-|Cookie: '.split(
        "|"
      )
    for (const text of [
      ...units.map((unit) => unit.repeat(2e5 / unit.length)),
      ...starts.map((start) => `${start}${"]".repeat(2e5)} x`),
      ...starts.map((start) => `${start}${"a".repeat(8e6)}`)
    ]) {
      assert.isAtMost(redactText(text).length, text.length * MASK.length)
    }
  })
})

describe("redactPrefix", () => {
  it("shows no part of a secret that the end of the prefix runs through", () => {
    fc.assert(
      fc.property(noise, oneOfAll, noise, fc.nat(2000), (before, { text, secret }, after, length) => {
        assert.strictEqual(leak(redactPrefix(`${before} ${text} ${after}`, length), secret), undefined)
      }),
      { numRuns: 3000 }
    )
  })

  it("keeps as much as was asked for where there is no secret", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 500 }), (length) => {
        assert.strictEqual(
          redactPrefix("lorem ipsum ".repeat(200), length),
          "lorem ipsum ".repeat(200).slice(0, length)
        )
      })
    )
  })

  it("never ends in half a character", () => {
    assert.strictEqual(redactPrefix("😀".repeat(1000), 3), "😀")
  })

  it("looks at no more of a huge text than it keeps, and a little", () => {
    const huge = `${"lorem ipsum ".repeat(5e6)} ${"password=x ".repeat(1e5)}`
    for (let i = 0; i < 1000; i++) assert.strictEqual(redactPrefix(huge, 12), "lorem ipsum ")
  })

  it("masks a secret that is named before it is long", () => {
    fc.assert(
      fc.property(opaque, fc.nat(100), (secret, length) => {
        assert.strictEqual(
          leak(redactPrefix(`token: ${secret}${"x".repeat(500)}`, length), secret),
          undefined
        )
      })
    )
  })
})
