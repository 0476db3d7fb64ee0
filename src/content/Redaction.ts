/**
 * Masks what looks like a secret inside a text.
 *
 * By value: private keys, bearer and basic credentials, tokens with a well-known prefix, JSON web tokens, card numbers, passwords in
 * URLs. By name: `password=…`, `"api_key": "…"`, `--token …`, `<secret>…</secret>` and header lines; `SecretKey.ts` knows the names.
 * Every pattern takes linear time. A text that may be cut is redacted by {@link redactPrefix}, so that no half of a secret stays.
 */
import { maskNamed } from "./NamedSecrets.ts"
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

/** The shortest match of {@link TOKENS}, key header or web token, in characters of one run. */
const SHORTEST_TOKEN = 15

/** Well-known beginnings of tokens, each with what follows, at least. */
const TOKENS = [
  "sk-[\\w-]{16,}", // OpenAI, Anthropic and those that follow them
  "[srp]k_(?:live|test)_\\w{16,}|whsec_[\\w+/=]{16,}", // Stripe
  "gh[opsur]_\\w{20,}|github_pat_\\w{20,}", // GitHub
  "gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat)-[\\w.-]{16,}", // GitLab
  "xox[a-z]-[\\w-]{10,}|xapp-[\\w-]{16,}", // Slack
  "(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16,}", // AWS
  "AIza[\\w-]{30,}|ya29\\.[\\w-]{16,}|GOCSPX-[\\w-]{16,}", // Google
  "npm_[A-Za-z0-9]{30,}|pypi-[\\w-]{40,}|dckr_pat_[\\w-]{16,}|rubygems_[a-f0-9]{32,}",
  "hf_[A-Za-z0-9]{30,}|r8_\\w{30,}|gsk_\\w{30,}|xai-\\w{30,}|pplx-\\w{30,}",
  "SG\\.[\\w.-]{16,}|AGE-SECRET-KEY-1[A-Z0-9]{20,}|hv[bsr]\\.[\\w-]{20,}|tskey-[\\w-]{16,}|glsa_\\w{20,}",
  "shp(?:at|ca|pa|ss)_\\w{20,}|do[op]_v1_\\w{20,}|lin_api_\\w{20,}|ntn_\\w{30,}|PMAK-[\\w-]{20,}|ATATT3[\\w=-]{20,}"
].join("|")

const token = new RegExp(`(?<![A-Za-z0-9])(?:${TOKENS})`, "g")
const privateKey =
  /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$)|PuTTY-User-Key-File-\d[\s\S]*/g
const webToken = /(?<![\w-])(?=[\w-]+\.[\w-]{8})[\w-]*?eyJ[\w-]{8,}(?:\.[\w-]*)+/g
const bearer = /\b(bearer\s{1,8})[\w.~+/=:-]{8,}/gi
/** English goes on with a word after "basic"; a credential has a digit, a sign or a capital inside. */
const basic = /\b((?:[Bb]asic|BASIC)\s{1,8})(?=[A-Za-z0-9][a-z]*[A-Z0-9+/=])[\w+/=-]{8,}/g
const userinfo = /(:\/\/[^\s/@:"'<>\\]*:)[^\s/"'<>\\]+@/g
const digits = /(?<![\d.])\d(?:[ -]?\d){12,}/g

const redactOnce = (text: string, traits: number): string => {
  let out = text
  if ((traits & (LONG_RUN | DASHES)) !== 0) out = out.replace(privateKey, MASK)
  if ((traits & LONG_RUN) !== 0) {
    if (out.includes("eyJ")) out = out.replace(webToken, MASK)
    out = out.replace(token, MASK)
  }
  if ((traits & SCHEME) !== 0) out = out.replace(bearer, `$1${MASK}`).replace(basic, `$1${MASK}`)
  if ((traits & AT) !== 0) out = out.replace(userinfo, `$1${MASK}@`)
  if ((traits & DIGITS) !== 0) out = out.replace(digits, maskCards)
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

/** A run of digit groups can hold a card number beside other numbers: every stretch of whole groups is tried. */
const maskCards = (run: string): string => {
  const groups = [...run.matchAll(/\d+/g)]
  let out = ""
  let done = 0
  for (let first = 0; first < groups.length; first++) {
    let number = ""
    let last = -1
    for (let i = first; i < groups.length; i++) {
      const group = groups[i]?.[0] ?? ""
      number += group
      if (number.length > 19 || (number !== group && group.length < 3)) break
      if (isCardNumber(number)) last = i
    }
    const from = groups[first]
    const to = groups[last]
    if (from === undefined || to === undefined) continue
    out += run.slice(done, from.index) + MASK
    done = to.index + to[0].length
    first = last
  }
  return out + run.slice(done)
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
  while (run > 0 && /[\w.-]/.test(window.charAt(run - 1))) run--
  const webToken = window.indexOf("eyJ", run)
  if (webToken >= 0) return window.slice(0, webToken) + MASK
  const url = window.lastIndexOf("://")
  const password = url < 0 ? null : /^[^\s/@:"'<>\\]*:(?=[^\s/@"'<>\\]*$)/.exec(window.slice(url + 3))
  return password === null ? window : window.slice(0, url + 3 + password[0].length) + MASK
}
