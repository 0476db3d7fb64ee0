/**
 * Secrets for the tests of this room, and the question whether one got out.
 */
import * as fc from "fast-check"

const UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
const ALNUM = `${UPPER}${UPPER.toLowerCase()}0123456789`

const chars = (alphabet: string, minLength: number, maxLength: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...alphabet), minLength, maxLength })

/** A text with no look of its own: only its place tells that it is a secret. Noise has no digits and no capitals. */
export const opaque = fc.oneof(chars(`${UPPER}0123456789`, 12, 40), chars(`${UPPER}0123456789`, 300, 900))

/** Lowercase words, which never look like a secret. */
export const noise = fc
  .array(fc.constantFrom("lorem", "ipsum", "dolor", "sit", "amet", "über", "naïve", "日本", "😀"), {
    maxLength: 30
  })
  .map((words) => words.join(" "))

const base64url = `${ALNUM}-_`

const luhnDigit = (digits: string): string => {
  const sum = [...digits].reverse().reduce((total, digit, i) => {
    const doubled = i % 2 === 0 ? Number(digit) * 2 : Number(digit)
    return total + (doubled > 9 ? doubled - 9 : doubled)
  }, 0)
  return String((10 - (sum % 10)) % 10)
}

export const cardNumber = fc
  .tuple(fc.constantFrom("2", "3", "4", "5", "6"), fc.integer({ min: 11, max: 17 }))
  .chain(([first, length]) => chars("0123456789", length, length).map((rest) => first + rest))
  .map((digits) => digits + luhnDigit(digits))

/** A text, and the part of it that must not get out. */
export interface Planted {
  readonly text: string
  readonly secret: string
}

const prefixed = (prefix: string, alphabet: string, length: number): fc.Arbitrary<Planted> =>
  chars(alphabet, length, length + 40).map((rest) => ({ text: prefix + rest, secret: prefix + rest }))

const around = (before: string, secret: fc.Arbitrary<string>, after: string): fc.Arbitrary<Planted> =>
  secret.map((secret) => ({ text: before + secret + after, secret }))

/** Every kind of secret that can be told by its looks. */
export const looks: ReadonlyArray<readonly [name: string, planted: fc.Arbitrary<Planted>]> = [
  [
    "private key",
    around(
      "-----BEGIN RSA PRIVATE KEY-----\n",
      chars(`${ALNUM}+/\n`, 40, 3000),
      "\n-----END RSA PRIVATE KEY-----"
    )
  ],
  ["private key without end", around("-----BEGIN PRIVATE KEY-----\\n", chars(`${ALNUM}+/`, 40, 3000), "")],
  ["bearer token", around("Bearer ", chars(`${base64url}.~+/`, 8, 900), "")],
  [
    "basic credentials",
    around(
      "Basic ",
      chars(ALNUM, 8, 60).map((user) => btoa(`${user}:Pass1`)),
      ""
    )
  ],
  ["sk-", prefixed("sk-", base64url, 20)],
  ["sk-ant-api03-", prefixed("sk-ant-api03-", base64url, 90)],
  ["sk_live_", prefixed("sk_live_", ALNUM, 24)],
  ["whsec_", prefixed("whsec_", `${ALNUM}+/`, 24)],
  ["ghp_", prefixed("ghp_", ALNUM, 36)],
  ["github_pat_", prefixed("github_pat_", `${ALNUM}_`, 80)],
  ["glpat-", prefixed("glpat-", base64url, 20)],
  ["xoxb-", prefixed("xoxb-", `${ALNUM}-`, 30)],
  ["AKIA", prefixed("AKIA", `${UPPER}0123456789`, 16)],
  ["ASIA", prefixed("ASIA", `${UPPER}0123456789`, 16)],
  ["AIza", prefixed("AIza", base64url, 35)],
  ["npm_", prefixed("npm_", ALNUM, 36)],
  ["hf_", prefixed("hf_", ALNUM, 34)],
  [
    "SG.",
    fc
      .tuple(chars(base64url, 22, 22), chars(base64url, 43, 43))
      .map(([id, key]) => ({ text: `SG.${id}.${key}`, secret: `SG.${id}.${key}` }))
  ],
  ["AGE-SECRET-KEY-", prefixed("AGE-SECRET-KEY-1", `${UPPER}0123456789`, 58)],
  [
    "web token",
    fc
      .tuple(chars(base64url, 12, 900), chars(base64url, 12, 900), chars(base64url, 20, 60))
      .map(([header, payload, signature]) => `eyJ${header}.eyJ${payload}.${signature}`)
      .map((text) => ({ text, secret: text }))
  ],
  ["card number", cardNumber.map((digits) => ({ text: digits, secret: digits }))],
  [
    "card number in groups",
    fc
      .tuple(
        cardNumber.filter((digits) => digits.length === 16),
        fc.constantFrom(" ", "-")
      )
      .map(([digits, separator]) => (digits.match(/.{4}/g) ?? []).join(separator))
      .map((text) => ({ text, secret: text }))
  ],
  [
    "password in a URL",
    around("postgres://admin:", chars(`${ALNUM}!$%*`, 12, 900), "@db.example.com:5432/app")
  ],
  ["assignment", around("password=", chars(`${ALNUM}!#$%*+,/?@^_.-`, 12, 300), "")],
  ["quoted field", around('{"apiKey": "', chars(`${ALNUM} ,:;=&<>{}`, 12, 900), '"}')],
  [
    "quoted field in a quoted text",
    around('{\\"client_secret\\": \\"', chars(`${ALNUM} ,:;=&<>{}`, 12, 900), '\\"}')
  ],
  ["query parameter", around("https://example.com/?a=b&access_token=", chars(base64url, 12, 300), "&c=d")],
  [
    "flag",
    around(
      "deploy --token ",
      chars(base64url, 12, 300).map((rest) => `x${rest}`),
      " --dry-run"
    )
  ],
  ["element", around("<password>", chars(`${ALNUM} !&;`, 12, 300), "</password>")],
  ["header line", around("Cookie: session=", chars(`${ALNUM} ;=`, 12, 300), "\nHost: example.com")]
]

/** The longest stretch of a secret that a text may show is shorter than this. */
const TELLING = 8

/** A part of `secret` that `output` shows; undefined when it shows none. */
export const leak = (output: string, secret: string): string | undefined => {
  for (let i = 0; i + TELLING <= secret.length; i++) {
    const part = secret.slice(i, i + TELLING)
    if (output.includes(part)) return part
  }
  return undefined
}
