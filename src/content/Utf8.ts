/**
 * Sizes in UTF-8 bytes, and cuts that respect characters.
 */

/** Stands where a text was cut. */
export const ELLIPSIS = "…"
/** Bytes of {@link ELLIPSIS}. */
export const ELLIPSIS_BYTES = 3

/** How many bytes `text` takes in UTF-8; a lone surrogate counts as the replacement character. */
export const byteLength = (text: string): number => {
  let bytes = 0
  for (let i = 0; i < text.length; ) {
    const code = text.codePointAt(i) ?? 0
    bytes += width(code)
    i += code > 0xffff ? 2 : 1
  }
  return bytes
}

/** The first `length` UTF-16 units of `text`; one less where that would split a character. */
export const beginning = (text: string, length: number): string => {
  const splits = length > 0 && length < text.length && (text.codePointAt(length - 1) ?? 0) > 0xffff
  return text.slice(0, splits ? length - 1 : length)
}

/** How many UTF-16 units of `text` fit into `room` bytes, never half a character. */
export const unitsThatFit = (text: string, room: number): number => fitting(text, room, width)

/** The same, where the text is to stand inside a JSON string: an escape is never cut either. */
export const escapedUnitsThatFit = (text: string, room: number): number => fitting(text, room, escapedWidth)

const fitting = (text: string, room: number, widthOf: (code: number) => number): number => {
  let left = room
  let i = 0
  while (i < text.length) {
    const code = text.codePointAt(i) ?? 0
    left -= widthOf(code)
    if (left < 0) break
    i += code > 0xffff ? 2 : 1
  }
  return i
}

const width = (code: number): number => (code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4)

/** As `JSON.stringify` escapes: the short forms, `\u00XX` for other control characters, `\uDXXX` for lone surrogates. */
const escapedWidth = (code: number): number => {
  if (code === 0x22 || code === 0x5c) return 2
  if (code < 0x20) return code === 8 || code === 9 || code === 10 || code === 12 || code === 13 ? 2 : 6
  return code >= 0xd800 && code <= 0xdfff ? 6 : width(code)
}
