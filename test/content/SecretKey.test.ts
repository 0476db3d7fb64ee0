import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { isSecretKey } from "../../src/content/SecretKey.ts"

const secretNames = [
  "password",
  "passwd",
  "pwd",
  "passphrase",
  "passcode",
  "secret",
  "token",
  "authorization",
  "api key",
  "access key",
  "private key",
  "secret key",
  "client secret",
  "signing key",
  "encryption key",
  "cookie",
  "set cookie",
  "credential",
  "credentials",
  "session id",
  "access token",
  "refresh token",
  "x api key",
  "proxy authorization",
  "csrf token",
  "social security number",
  "card number",
  "security code"
]
/** Known only as words of their own. */
const secretWords = ["cvv", "cvc", "ssn", "pin", "otp", "jwt", "pass"]

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

const spellings: ReadonlyArray<(words: ReadonlyArray<string>) => string> = [
  (words) => words.join(""),
  (words) => words.join("-"),
  (words) => words.join("_"),
  (words) => words.join(" "),
  (words) => words.join("."),
  (words) => words.map(capital).join(""),
  (words) => words.map(capital).join("-"),
  (words) => words.join("_").toUpperCase(),
  (words) => words.map((word, i) => (i === 0 ? word : capital(word))).join("")
]

const spelled = (name: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.constantFrom<ReadonlyArray<string>>([], ["user"], ["db"], ["my", "old"]),
      name,
      fc.constantFrom<ReadonlyArray<string>>([], ["2"], ["value"])
    )
    .chain(([before, words, after]) =>
      fc.constantFrom(...spellings).map((spell) => spell([...before, ...words.split(" "), ...after]))
    )

const mixedCase = (name: string): fc.Arbitrary<string> =>
  fc
    .array(fc.boolean(), { minLength: name.length, maxLength: name.length })
    .map((uppers) => [...name].map((char, i) => (uppers[i] ? char.toUpperCase() : char)).join(""))

describe("isSecretKey", () => {
  it("knows the names of secrets in any spelling, with other words around", () => {
    fc.assert(
      fc.property(spelled(fc.constantFrom(...secretNames)), (name) => {
        assert.isTrue(isSecretKey(name, "value"), name)
      }),
      { numRuns: 1000 }
    )
  })

  it("knows them in any mixture of cases", () => {
    const name = fc
      .constantFrom(...secretNames, ...secretWords)
      .chain((name) => mixedCase(name.replaceAll(" ", "")))
    fc.assert(
      fc.property(name, (name) => {
        // Where a word has no certain border, only a long name is told from part of another.
        assert.isTrue(isSecretKey(name.length > 4 ? name : name.toUpperCase(), "value"), name)
      }),
      { numRuns: 1000 }
    )
  })

  it("knows short names where they are words of their own", () => {
    for (const word of secretWords) {
      for (const name of [
        word,
        `card_${word}`,
        `card-${word}`,
        `card${capital(word)}`,
        `CARD_${word.toUpperCase()}`
      ]) {
        assert.isTrue(isSecretKey(name, "value"), name)
      }
    }
  })

  it("masks numbers too", () => {
    for (const name of [
      "pin",
      "cvv",
      "cvc",
      "ssn",
      "passcode",
      "password",
      "adminPassword",
      "token",
      "session_id"
    ]) {
      assert.isTrue(isSecretKey(name, 123456), name)
    }
  })

  it("takes amounts and flags about secrets for what they are", () => {
    for (const name of [
      "max_tokens",
      "maxTokens",
      "MAX_TOKENS",
      "token_count",
      "tokenCount",
      "tokens",
      "prompt tokens",
      "total-tokens",
      "tokensUsed",
      "passwords",
      "cookies",
      "password_length",
      "pass",
      "token_limit"
    ]) {
      assert.isFalse(isSecretKey(name, 4096), name)
      assert.isFalse(isSecretKey(name, 4096n), name)
    }
    for (const name of ["password", "secret", "token", "hasPassword", "tokens"]) {
      assert.isFalse(isSecretKey(name, true), name)
      assert.isFalse(isSecretKey(name, null), name)
    }
    assert.isTrue(isSecretKey("tokens", "abc"))
  })

  it("leaves other names alone", () => {
    for (const name of [
      "",
      "path",
      "query",
      "key",
      "keys",
      "publicKey",
      "keyboard",
      "monkey",
      "author",
      "authority",
      "secretary",
      "tokenizer",
      "tokenType",
      "token_url",
      "compass",
      "bypass",
      "passenger",
      "spinning",
      "pinned",
      "inside",
      "design",
      "code",
      "zipcode",
      "card",
      "session",
      "possession",
      "cursor",
      "__proto__",
      "constructor"
    ]) {
      assert.isFalse(isSecretKey(name, "value"), name)
    }
  })

  it("judges a name of any length by its beginning", () => {
    assert.isTrue(isSecretKey(`password${"x".repeat(1e7)}`, "value"))
    assert.isFalse(isSecretKey("x".repeat(1e7), "value"))
  })
})
