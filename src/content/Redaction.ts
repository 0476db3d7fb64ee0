/**
 * Masks what looks like a secret inside a text.
 *
 * By value: private keys, bearer and basic credentials, tokens with a well-known prefix, JSON web tokens, card numbers, passwords in
 * URLs. By name: `password=…`, `"api_key": "…"`, `--token …`, `<secret>…</secret>` and header lines; `SecretKey.ts` knows the names.
 * Every pattern takes linear time. A text that may be cut is redacted by {@link redactPrefix}, so that no half of a secret stays.
 */
import { isNamePart, maskNamed } from "./NamedSecrets.ts"
import { beginning } from "./Utf8.ts"

export { isSecretKey } from "./SecretKey.ts"

/** Stands in place of a secret. */
export const MASK = "[REDACTED]"

/**
 * `text` with {@link MASK} in place of each secret. Redacting twice changes nothing more.
 */
export const redactText = (text: string): string => {
  let redacted = text
  for (let pass = 0; pass < PASSES; pass++) {
    const traits = traitsOf(redacted)
    if (traits === 0) break
    const before = redacted
    redacted = redactOnce(before, traits)
    if (redacted === before) break
  }
  return redacted
}

/**
 * The redacted beginning of a text that goes on, from its first `length` characters or some fewer. It looks further than it keeps: what
 * could be the start of a secret that is not yet to be seen as one is left off.
 */
export const redactPrefix = (text: string, length: number): string => {
  const window = beginning(text, length + LOOKAHEAD)
  if (window.length === text.length) return redactText(text)
  const redacted = redactText(closeTail(window))
  const mask = redacted.lastIndexOf(MASK)
  const end = Math.max(redacted.length - LOOKAHEAD, mask < 0 ? 0 : mask + MASK.length)
  return beginning(redacted, end)
}

/** A mask can bring a neighbour to light; more rounds than this no text has needed. */
const PASSES = 6

/** Longer than the part by which any secret is recognised. */
const LOOKAHEAD = 256

/** The shortest match of {@link TOKENS} and the patterns below, in characters of one run. */
const SHORTEST_TOKEN = 15

/** Tokens by what they begin with, and the characters that follow: at least so many. */
const TOKENS: ReadonlyArray<readonly [prefix: string, following: string, least: number]> = [
  ["sk-", "[\\w-]", 16], // OpenAI, Anthropic and those that follow them
  ["[srp]k_(?:live|test)_", "\\w", 16], // Stripe
  ["whsec_", "[\\w+/=]", 16],
  ["gh[opsur]_|github_pat_", "\\w", 20],
  ["gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat)-", "[\\w.-]", 16], // GitLab
  ["xox[a-z]-|xapp-", "[\\w-]", 10], // Slack
  ["(?:AKIA|ASIA|ABIA|ACCA)", "[A-Z0-9]", 16], // AWS
  ["AIza|ya29\\.|GOCSPX-", "[\\w-]", 20], // Google
  ["npm_|hf_", "[A-Za-z0-9]", 30],
  ["pypi-|dckr_pat_|hv[bsr]\\.|tskey-|PMAK-|ATATT3", "[\\w=-]", 20],
  ["SG\\.", "[\\w.-]", 16], // SendGrid
  ["AGE-SECRET-KEY-1", "[A-Z0-9]", 20],
  ["gsk_|r8_|xai-|pplx-|glsa_|ntn_|lin_api_|shp(?:at|ca|pa|ss)_|do[op]_v1_|rubygems_", "\\w", 30]
]

// Patterns end in a plain `*`: a counted or grouped repetition takes stack for each character of a long text.
const token = new RegExp(
  `(?<![A-Za-z0-9])(?:${TOKENS.map(([prefix, following, least]) => `(?:${prefix})${following}{${least}}${following}*`).join("|")})`,
  "g"
)
const privateKey =
  /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$)|PuTTY-User-Key-File-\d[\s\S]*/g
const webToken = /(?<![\w-])(?=[\w-]+\.[\w-]{8})[\w-]*?eyJ[\w-]{8}[\w-]*\.[\w.-]*/g
const bearer = /\b(bearer\s{1,8})[\w.~+/=:-]{8}[\w.~+/=:-]*/gi
/** English goes on with a word after "basic"; a credential has a digit, a sign or a capital inside. */
const basic = /\b((?:[Bb]asic|BASIC)\s{1,8})(?=[A-Za-z0-9][a-z]*[A-Z0-9+/=])[\w+/=-]{8}[\w+/=-]*/g
const userinfo = /(:\/\/[^\s/@:"'<>\\]*:)[^\s/"'<>\\]+@/g
const digitGroup = /(?<![\d.])\d{3,19}(?!\d)/g
const nextDigitGroup = /[ -](\d{3,19})(?!\d)/y

const redactOnce = (text: string, traits: number): string => {
  let out = text
  if ((traits & (LONG_RUN | DASHES)) !== 0) out = out.replace(privateKey, MASK)
  if ((traits & LONG_RUN) !== 0) {
    if (out.includes("eyJ")) out = out.replace(webToken, MASK)
    out = out.replace(token, MASK)
  }
  if ((traits & SCHEME) !== 0) out = out.replace(bearer, `$1${MASK}`).replace(basic, `$1${MASK}`)
  if ((traits & AT) !== 0) out = out.replace(userinfo, `$1${MASK}@`)
  if ((traits & DIGITS) !== 0) out = maskCards(out)
  return (traits & (ASSIGNS | DASHES)) !== 0 ? maskNamed(out, MASK) : out
}

/** What a text has of the things without which no pattern can match. */
const LONG_RUN = 1
const DIGITS = 2
const SCHEME = 4
const AT = 8
const ASSIGNS = 16
const DASHES = 32

/** Every text that is captured passes here, and most have none of it: one look at each character, no pattern. */
const traitsOf = (text: string): number => {
  let traits = 0
  let run = 0
  let digitCount = 0
  let previous = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    const letter = code | 0x20
    if (code >= 0x30 && code <= 0x39) {
      run++
      if (++digitCount >= 13) traits |= DIGITS
    } else {
      if (code !== 0x20 && code !== 0x2d) digitCount = 0
      if ((letter >= 0x61 && letter <= 0x7a) || code === 0x5f || code === 0x2e) {
        run++
        if (letter === 0x62) traits |= schemeAt(text, i)
        // "whsec_" goes on with signs that end a run.
        else if (code === 0x5f && previous === 0x63) traits |= LONG_RUN
      } else if (code === 0x2d) {
        run++
        if (previous === 0x2d) traits |= DASHES
      } else {
        run = 0
        if (code === 0x3a || code === 0x3d || code === 0x3e) traits |= ASSIGNS
        else if (code === 0x40) traits |= AT
      }
    }
    if (run >= SHORTEST_TOKEN) traits |= LONG_RUN
    previous = code
  }
  return traits
}

/** The beginning of "bearer" or of "basic". */
const schemeAt = (text: string, i: number): number => {
  const next = text.charCodeAt(i + 1) | 0x20
  const third = text.charCodeAt(i + 2) | 0x20
  return (next === 0x65 && third === 0x61) || (next === 0x61 && third === 0x73) ? SCHEME : 0
}

/** A card number can stand in groups, and beside other numbers: every stretch of whole groups is tried. */
const maskCards = (text: string): string => {
  let out = ""
  let done = 0
  digitGroup.lastIndex = 0
  for (let group = digitGroup.exec(text); group !== null; group = digitGroup.exec(text)) {
    let number = group[0]
    let end = digitGroup.lastIndex
    let cardEnd = isCardNumber(number) ? end : 0
    nextDigitGroup.lastIndex = end
    for (let next = nextDigitGroup.exec(text); next !== null; next = nextDigitGroup.exec(text)) {
      number += next[1]
      if (number.length > 19) break
      end = nextDigitGroup.lastIndex
      if (isCardNumber(number)) cardEnd = end
    }
    if (cardEnd === 0) continue
    out += text.slice(done, group.index) + MASK
    done = cardEnd
    digitGroup.lastIndex = cardEnd
  }
  return out + text.slice(done)
}

/** Thirteen to nineteen digits that begin as payment cards do and pass Luhn's check. */
const isCardNumber = (number: string): boolean => {
  if (number.length < 13 || number.length > 19 || !/^[2-6]/.test(number)) return false
  let sum = 0
  for (let i = 0; i < number.length; i++) {
    const digit = Number(number.charAt(number.length - 1 - i))
    const doubled = i % 2 === 0 ? digit : digit * 2
    sum += doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}

/** A window can end inside a secret that only its later part would tell: a web token, or a URL before its `@`. */
const closeTail = (window: string): string => {
  let run = window.length
  while (run > 0 && isNamePart(window.charCodeAt(run - 1))) run--
  const webToken = window.indexOf("eyJ", run)
  if (webToken >= 0) return window.slice(0, webToken) + MASK
  const url = window.lastIndexOf("://")
  const password = url < 0 ? null : /^[^\s/@:"'<>\\]*:(?=[^\s/@"'<>\\]*$)/.exec(window.slice(url + 3))
  return password === null ? window : window.slice(0, url + 3 + password[0].length) + MASK
}
