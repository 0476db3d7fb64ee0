/**
 * What models and tools say, as it may be printed: nothing in it can act on the terminal, or show itself otherwise than it is.
 */
import * as PlainText from "../terminal/PlainText.ts"

/** What JSON leaves as it is, and a terminal or a reader may take for something else. */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu
const unseenInLines = /[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

const escaped = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`
  ).join("")

/** Exactly the value, as JSON on one line; what cannot be seen is escaped. */
export const json = (value: unknown): string =>
  (JSON.stringify(value) ?? String(value)).replace(unseen, escaped)

/** The same, indented over several lines. */
export const indented = (value: unknown): string =>
  (JSON.stringify(value, undefined, 2) ?? String(value)).replace(unseenInLines, escaped)

/** Exactly the value: on one line if it is short. */
export const exact = (value: unknown): string => {
  const line = json(value)
  return line.length <= 200 ? line : indented(value)
}

/** A name or an id. */
export const name = (text: string): string => PlainText.neutralise(text)

/** Text of any length with its line breaks and tabs; other control characters are shown. */
export const text = (value: string): string =>
  value
    .replaceAll("\r\n", "\n")
    // Character by character, so that none is cut in two.
    .replace(/[^\n\t]{1,500}/gu, (piece) => PlainText.neutralise(piece))
