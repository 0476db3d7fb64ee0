/**
 * Makes text from outside harmless to a terminal.
 *
 * Tool names, arguments and errors come from a model or from data. A control character among them could move the cursor, rewrite what
 * was printed, or make the terminal act; a direction control could show text in an order that lies. What must not be sent is shown
 * instead: never dropped, so that it is seen.
 */

/** Longest text in UTF-16 code units that is looked at; no line has room for more. */
export const LIMIT = 1000

const lineBreaks = /[\t\n\v\f\r\u0085\u2028\u2029]+/g
const forbidden =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the purpose
  /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufff9-\ufffb]|\p{Surrogate}/gu

/**
 * One line of text without control characters, direction controls and lone surrogates. Line breaks and tabs become a space, the other
 * ASCII controls their control picture (`␛`), the rest `\ufffd`. Cut to {@link LIMIT}.
 */
export const neutralise = (text: string): string =>
  text.slice(0, LIMIT).replace(lineBreaks, " ").replace(forbidden, picture)

const picture = (character: string): string => {
  const code = character.charCodeAt(0)
  if (code < 0x20) return String.fromCharCode(0x2400 + code)
  return code === 0x7f ? "\u2421" : "\ufffd"
}
