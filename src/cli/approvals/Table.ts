/**
 * Rows in aligned columns, for a terminal. What is in them may come from a model.
 */
import * as DisplayWidth from "../../terminal/DisplayWidth.ts"
import * as Shown from "../Shown.ts"

/** A column. The last one is cut to the room that is left; the others are as wide as they need. */
export interface Column<Row> {
  readonly heading: string
  readonly text: (row: Row) => string
}

/** Cells that the last column has in any case. */
const LEAST = 20

/** The lines of the table. `columns`: cells of the terminal. */
export const render = <Row>(
  table: ReadonlyArray<Column<Row>>,
  rows: ReadonlyArray<Row>,
  columns: number
): ReadonlyArray<string> => {
  const cells = [
    table.map(({ heading }) => heading),
    ...rows.map((row) => table.map(({ text }) => Shown.name(text(row))))
  ]
  const widths = table.map((_, index) => Math.max(...cells.map((line) => DisplayWidth.of(line[index] ?? ""))))
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + GAP.length, 0)
  const room = Math.max(LEAST, columns - before)
  return cells.map((line) =>
    line
      .map((text, index) => {
        const width = widths[index] ?? 0
        if (index < table.length - 1) return text + " ".repeat(width - DisplayWidth.of(text))
        return DisplayWidth.of(text) <= room ? text : `${DisplayWidth.take(text, room - 1)}…`
      })
      .join(GAP)
      .trimEnd()
  )
}

const GAP = "  "
