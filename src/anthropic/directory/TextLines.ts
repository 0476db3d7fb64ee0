/**
 * Edits of a text, and how a model is shown it: by lines, numbered from 1. What an edit does not touch stays as it is, byte for byte, line
 * ends included. A text ends its lines with CRLF if all of its lines do; what is put in then gets the same.
 */
import * as FileError from "./FileError.ts"

/** The lines as they are counted: what follows the last line end is a line, too, even if it is empty. */
const linesOf = (text: string): ReadonlyArray<string> => text.split("\n")

const NUMBER_WIDTH = 6

const numbered = (lines: ReadonlyArray<string>, first: number): string =>
  lines
    .map((line, index) => `${String(first + index).padStart(NUMBER_WIDTH)}\t${line.replace(/\r$/, "")}`)
    .join("\n")

/** The lines `range[0]` to `range[1]`, both included, -1 for the last; all without a range. */
export const view = (
  text: string,
  range: readonly [first: number, last: number] | undefined,
  maxCharacters: number
): string => {
  const lines = linesOf(text)
  const [first, end] = range ?? [1, -1]
  const last = end === -1 ? lines.length : end
  if (first < 1 || first > lines.length || last < first || last > lines.length) {
    FileError.fail(
      "NoMatch",
      `Invalid \`view_range\` parameter: [${first}, ${end}]. Both should be within the lines of the file, [1, ${lines.length}], and the second not below the first; -1 is the last line`
    )
  }
  const whole = numbered(lines.slice(first - 1, last), first)
  if (whole.length <= maxCharacters) return whole
  const shown = whole
    .slice(0, maxCharacters)
    .toWellFormed()
    .replace(/\ufffd$/, "")
  const complete = shown.split("\n").length
  return `${shown}\n[… cut in line ${first + complete - 1} of ${lines.length}: view the rest by view_range …]`
}

/** A text after an edit, and the lines around it. */
export interface Edited {
  readonly text: string
  readonly snippet: string
}

/** How many lines before and after an edit are shown. */
const AROUND = 2

const edited = (text: string, firstLine: number, lineCount: number): Edited => {
  const lines = linesOf(text)
  const from = Math.max(0, firstLine - 1 - AROUND)
  return { text, snippet: numbered(lines.slice(from, firstLine - 1 + lineCount + AROUND), from + 1) }
}

/** Whether its lines end in CRLF: all that end. */
const isCrlf = (text: string): boolean => text.includes("\r\n") && !/(^|[^\r])\n/.test(text)

const toCrlf = (text: string): string => text.replaceAll(/\r?\n/g, "\r\n")

const lineEnds = (text: string): number => text.split("\n").length - 1

/** Replaces the one place where `oldText` stands. */
export const replace = (text: string, oldText: string, newText: string, shown: string): Edited => {
  if (oldText === "") {
    FileError.fail("NoMatch", "No replacement was performed, old_str is empty. Give the text to replace")
  }
  const convert = isCrlf(text) && !text.includes(oldText)
  const [from, to] = convert ? [toCrlf(oldText), toCrlf(newText)] : [oldText, newText]
  const at = text.indexOf(from)
  if (at < 0) {
    FileError.fail(
      "NoMatch",
      `No replacement was performed, old_str \`${oldText}\` did not appear verbatim in ${shown}.`
    )
  }
  const places: Array<number> = []
  for (let next = at; next >= 0; next = text.indexOf(from, next + 1)) {
    places.push(lineEnds(text.slice(0, next)) + 1)
  }
  if (places.length > 1) {
    FileError.fail(
      "NoMatch",
      `No replacement was performed. Multiple occurrences of old_str \`${oldText}\` in lines: ${places.join(", ")}. Please ensure it is unique`
    )
  }
  const changed = text.slice(0, at) + to + text.slice(at + from.length)
  return edited(changed, places[0] ?? 1, lineEnds(to) + 1)
}

/** Puts lines in after line `line`; 0 is before the first. */
export const insert = (text: string, line: number, inserted: string): Edited => {
  const count = text === "" ? 0 : linesOf(text).length - (text.endsWith("\n") ? 1 : 0)
  if (line < 0 || line > count) {
    FileError.fail(
      "NoMatch",
      `Invalid \`insert_line\` parameter: ${line}. It should be within the range of lines of the file: [0, ${count}]`
    )
  }
  const end = isCrlf(text) ? "\r\n" : "\n"
  const put = isCrlf(text) ? toCrlf(inserted) : inserted
  let at = 0
  for (let passed = 0; passed < line; passed++) {
    const next = text.indexOf("\n", at)
    at = next < 0 ? text.length : next + 1
  }
  const before = text.slice(0, at)
  const after = text.slice(at)
  // A last line without an end gets one, since something follows it.
  const opened = before === "" || before.endsWith("\n") ? before : before + end
  const closed = put.endsWith("\n") || (after === "" && !text.endsWith("\n")) ? put : put + end
  return edited(opened + closed + after, line + 1, lineEnds(closed) + (closed.endsWith("\n") ? 0 : 1))
}
