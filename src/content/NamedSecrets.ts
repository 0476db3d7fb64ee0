/**
 * Masks, inside a text, the values that follow a secret's name: `password=…`, `"api_key": "…"`, `--token …`, `<secret>…</secret>`,
 * `Cookie: …`.
 *
 * What a secret's name is, `SecretKey.ts` knows. Quotes stay where they are; `null`, `true` and names of types are not masked.
 */
import { candidate, isSecretKey } from "./SecretKey.ts"

const assignment = /(?:=>|:=|={1,3}|:)\s{0,4}/g
const flag = /(?<![\w-])(--?[A-Za-z][\w-]*)[ \t]{1,4}(?![-\s])/g
const element = /<([\w.:-]{1,100})>/g

const quote = /["'`]/y
const bracketed = /\[[^\]]*\]?|\{[^}]*\}?/y
const noSecret = /(?:null|undefined|none|nil|true|false|string|number|boolean)(?![\w-])/iy
/** A scheme may stand before the value. */
const word = /(?:(?:bearer|basic|digest|token|negotiate|apikey)\s{1,4})?[^\s"'`<>&;]+/iy
const elementContent = /[^<]+/y
/** Names whose value is a whole header line. */
const header = /(?:authorization|cookie)$/i

const number = /^\d+(?:\.\d+)?$/

/** `text` with `mask` in place of each value that a secret's name introduces. */
export const maskNamed = (text: string, mask: string): string => {
  if (!candidate.test(text)) return text
  const assigned = maskAfter(text, assignment, mask, nameBefore, assignedValue)
  const flagged = assigned.includes("-")
    ? maskAfter(assigned, flag, mask, nameInside, assignedValue)
    : assigned
  return flagged.includes("<") ? maskAfter(flagged, element, mask, nameInside, elementValue) : flagged
}

/** A name and where it starts. */
interface Name {
  readonly name: string
  readonly start: number
}

/** Where a value ends; quotes are kept around the mask. */
interface Value {
  readonly end: number
  readonly open: string
  readonly close: string
}

type FindValue = (text: string, at: number, introduced: Name, by: string) => Value | undefined

const maskAfter = (
  text: string,
  introducer: RegExp,
  mask: string,
  nameOf: (text: string, match: RegExpExecArray) => Name,
  find: FindValue
): string => {
  let out = ""
  let done = 0
  introducer.lastIndex = 0
  for (let match = introducer.exec(text); match !== null; match = introducer.exec(text)) {
    const at = introducer.lastIndex
    const name = nameOf(text, match)
    const value = isSecretKey(name.name) ? find(text, at, name, match[0]) : undefined
    if (value === undefined) continue
    out += text.slice(done, at) + value.open + mask + value.close
    done = value.end
    introducer.lastIndex = done
  }
  return done === 0 ? text : out + text.slice(done)
}

const nameInside = (_: string, match: RegExpExecArray): Name => ({ name: match[1] ?? "", start: match.index })

/** Up to three words, for `api key: …`; perhaps quoted, perhaps in brackets. */
const nameBefore = (text: string, match: RegExpExecArray): Name => {
  let end = back(text, match.index, isSpace, 4)
  for (const closing of [isBracket, isQuote, isBackslash]) end = back(text, end, closing, 1)
  let start = back(text, end, isNamePart, LONGEST_WORD)
  for (let words = 1; words < 3 && start > 1; words++) {
    const word = back(text, start - 1, isNamePart, LONGEST_WORD)
    if (text.charCodeAt(start - 1) !== 0x20 || word === start - 1) break
    start = word
  }
  return { name: text.slice(start, end), start }
}

const LONGEST_WORD = 80

/** The start of the stretch of at most `most` characters before `end` that are all of one kind. */
const back = (text: string, end: number, isKind: (code: number) => boolean, most: number): number => {
  let start = end
  while (start > 0 && end - start < most && isKind(text.charCodeAt(start - 1))) start--
  return start
}

const isSpace = (code: number): boolean => code === 0x20 || (code >= 0x09 && code <= 0x0d)
const isBracket = (code: number): boolean => code === 0x5d
const isQuote = (code: number): boolean => code === 0x22 || code === 0x27 || code === 0x60
const isBackslash = (code: number): boolean => code === 0x5c
/** `,` `)` `]` `}` after a value belong to the text around it. */
const isClosing = (code: number): boolean => code === 0x2c || code === 0x29 || code === 0x5d || code === 0x7d
/** A letter, a digit, `_`, `-` or `.`, in ASCII. */
export const isNamePart = (code: number): boolean =>
  (code >= 0x61 && code <= 0x7a) ||
  (code >= 0x41 && code <= 0x5a) ||
  (code >= 0x30 && code <= 0x39) ||
  code === 0x5f ||
  code === 0x2d ||
  code === 0x2e

const assignedValue: FindValue = (text, at, { name, start }, by) => {
  const escaped = text.charAt(at) === "\\" ? matchAt(quote, text, at + 1) : undefined
  if (escaped !== undefined) return untilNext(text, at, `\\${escaped}`)
  const plain = matchAt(quote, text, at)
  if (plain !== undefined) return untilUnescaped(text, at, plain)
  if (by.includes(":") && header.test(name)) return restOfLine(text, start, at)
  if (matchAt(noSecret, text, at) !== undefined) return undefined
  const brackets = matchAt(bracketed, text, at)
  return brackets === undefined ? wordValue(text, at, name) : bare(at + brackets.length)
}

/** An amount is no secret; a call is taken with its text: `token = encode("…")`. */
const wordValue = (text: string, at: number, name: string): Value | undefined => {
  const found = matchAt(word, text, at) ?? ""
  const inner = found.endsWith("(") ? matchAt(quote, text, at + found.length) : undefined
  if (inner !== undefined) return bare(untilUnescaped(text, at + found.length, inner).end)
  const value = found.slice(0, back(found, found.length, isClosing, found.length))
  if (value === "" || (number.test(value) && !isSecretKey(name, Number(value)))) return undefined
  return bare(at + value.length)
}

const bare = (end: number): Value => ({ end, open: "", close: "" })

/** From one quote to the next, or to the end of the text. */
const untilNext = (text: string, at: number, quote: string): Value => {
  const close = text.indexOf(quote, at + quote.length)
  return close < 0
    ? { end: text.length, open: quote, close: "" }
    : { end: close + quote.length, open: quote, close: quote }
}

/** The same, where a backslash escapes what follows it. */
const untilUnescaped = (text: string, at: number, quote: string): Value => {
  let close = at + 1
  while (close < text.length && text.charAt(close) !== quote) close += text.charAt(close) === "\\" ? 2 : 1
  return close < text.length
    ? { end: close + 1, open: quote, close: quote }
    : { end: text.length, open: quote, close: "" }
}

const elementValue: FindValue = (text, at, { name }) => {
  const content = matchAt(elementContent, text, at)
  if (content === undefined) return undefined
  const end = at + content.length
  return end === text.length || text.startsWith(`</${name}`, end) ? bare(end) : undefined
}

/** A header line ends where its line does, or where the quote closes that was opened right before its name. */
const restOfLine = (text: string, start: number, at: number): Value | undefined => {
  const before = text.charAt(start - 1)
  const closes = before === '"' || before === "'" || before === "`" ? text.indexOf(before, at) : -1
  const breaks = text.slice(at, closes < 0 ? text.length : closes).search(/[\r\n]/)
  const end = breaks >= 0 ? at + breaks : closes < 0 ? text.length : closes
  return end > at ? bare(end) : undefined
}

const matchAt = (pattern: RegExp, text: string, at: number): string | undefined => {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}
