/**
 * A line of text in pieces, each with a meaning that is a colour where colours are shown.
 *
 * Every text that is printed becomes a {@link Piece} here, and is made harmless by that (`PlainText`). The only control sequences of a
 * line are the colours of {@link toText}.
 */
import * as DisplayWidth from "./DisplayWidth.ts"
import * as PlainText from "./PlainText.ts"

/** What a piece means to the reader. */
export type Style = "plain" | "strong" | "faint" | "success" | "failed" | "warning" | "running"

/** A part of a line in one style. */
export interface Piece {
  readonly text: string
  readonly style: Style
}

/** Select Graphic Rendition parameters: bold, faint, and the colours that every terminal has. */
const parameters: Readonly<Record<Style, string>> = {
  plain: "",
  strong: "1",
  faint: "2",
  success: "32",
  failed: "31",
  warning: "33",
  running: "36"
}

/** A piece of a line, harmless to a terminal. */
export const piece = (text: string, style: Style = "plain"): Piece => ({
  text: PlainText.neutralise(text),
  style
})

/** Cells that the pieces take together. */
export const width = (pieces: ReadonlyArray<Piece>): number =>
  pieces.reduce((sum, { text }) => sum + DisplayWidth.of(text), 0)

/** The pieces, cut to at most `columns` cells; what was cut ends in `…`. */
const cut = (pieces: ReadonlyArray<Piece>, columns: number): ReadonlyArray<Piece> => {
  if (columns < 1) return []
  if (width(pieces) <= columns) return pieces
  const kept: Array<Piece> = []
  let left = columns - 1
  for (const { style, text } of pieces) {
    const shown = DisplayWidth.take(text, left)
    if (shown !== text) return [...kept, { text: `${shown}…`, style }]
    kept.push({ style, text })
    left -= DisplayWidth.of(text)
  }
  return kept
}

/** The pieces in exactly `columns` cells: cut, or filled with spaces. */
export const column = (pieces: ReadonlyArray<Piece>, columns: number): ReadonlyArray<Piece> => {
  const kept = cut(pieces, columns)
  return [...kept, { text: " ".repeat(columns - width(kept)), style: "plain" }]
}

/** The line as text, at most `columns` cells wide, without spaces at its end. */
export const toText = (pieces: ReadonlyArray<Piece>, columns: number, color: boolean): string => {
  const kept = [...cut(pieces, columns)]
  while (kept.at(-1)?.text.trim() === "") kept.pop()
  return kept
    .map(({ style, text }, index) => paint(index === kept.length - 1 ? text.trimEnd() : text, style, color))
    .join("")
}

const paint = (text: string, style: Style, color: boolean): string =>
  color && style !== "plain" && text !== "" ? `\u001b[${parameters[style]}m${text}\u001b[0m` : text
