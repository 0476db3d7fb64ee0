/**
 * A trace as lines of text for an engineer's eyes: a header (`TreeHeader`), then one row for each span (`SpanRow`) with
 * lines of detail below it (`SpanDetails`).
 *
 * Where the terminal is narrow the word `execute_tool` goes first, then the bars, then arguments and results. No line is wider than
 * the terminal.
 */
import * as DisplayWidth from "./DisplayWidth.ts"
import * as SpanDetails from "./SpanDetails.ts"
import * as SpanRow from "./SpanRow.ts"
import type { SpanSnapshot } from "./SpanSnapshot.ts"
import * as StyledLine from "./StyledLine.ts"
import { piece } from "./StyledLine.ts"
import * as TimeAxis from "./TimeAxis.ts"
import * as Trace from "./Trace.ts"
import * as TreeHeader from "./TreeHeader.ts"

export interface Options {
  /** Cells of the terminal; from 40 on the layout reads well. */
  readonly columns: number
  readonly color: boolean
}

type Line = ReadonlyArray<StyledLine.Piece>

/** Wider than this, eyes lose the row between its name and its bar. */
const WIDEST = 160
const OPERATION_FROM = 120
const BAR_FROM = 72
const CONTENT_FROM = 56

/** The lines of a trace, each at most `columns` cells wide. */
export const render = (trace: Trace.Trace, { color, columns }: Options): ReadonlyArray<string> => {
  const spans = Array.from(Trace.spans(trace.roots))
  const width = Math.min(columns, WIDEST)
  const layout = layoutOf(trace, spans, width)
  const lines = [
    ...TreeHeader.lines(trace, spans, layout.axis, width),
    ...tree(trace, decidedOf(spans), layout),
    ...trailer(trace)
  ]
  return lines.map((line) => StyledLine.toText(line, columns, color))
}

const layoutOf = (trace: Trace.Trace, spans: ReadonlyArray<SpanSnapshot>, width: number): SpanRow.Layout => {
  const { shownAt } = trace
  const durations = spans.map((span) => DisplayWidth.of(SpanRow.duration(span, shownAt)))
  const durationColumns = Math.max(0, ...durations)
  const barColumns = width < BAR_FROM ? 0 : Math.floor(width / 4)
  return {
    leftColumns: Math.max(0, width - durationColumns - 2 - (barColumns === 0 ? 0 : barColumns + 2)),
    durationColumns,
    barColumns,
    content: width >= CONTENT_FROM,
    operation: width >= OPERATION_FROM,
    axis: TimeAxis.of(spans, shownAt),
    shownAt
  }
}

const tree = ({ roots, traceId }: Trace.Trace, decided: ReadonlySet<string>, layout: SpanRow.Layout) => {
  const lines: Array<Line> = []
  const shared: SpanDetails.Tree = { traceId, decided, content: layout.content }
  /** `guide` is drawn before the row of the span, `below` before all that is below it. */
  const visit = (
    { children, span }: Trace.TraceNode,
    rootsOfParent: number,
    guide: string,
    below: string
  ): void => {
    lines.push(SpanRow.row(span, shortened(guide, layout), layout))
    const margin = piece(shortened(below + (children.length === 0 ? "  " : "│ "), layout), "faint")
    const { errorMessage } = span
    const toldBelow =
      errorMessage !== undefined && children.some((child) => child.span.errorMessage === errorMessage)
    for (const detail of SpanDetails.lines(span, { rootsOfParent, toldBelow }, shared)) {
      lines.push([margin, ...detail])
    }
    children.forEach((child, index) => {
      const isLast = index === children.length - 1
      visit(child, 0, below + (isLast ? "└─ " : "├─ "), below + (isLast ? "   " : "│  "))
    })
  }
  for (const family of Trace.families(roots)) {
    family.forEach((root, index) => {
      visit(root, index === 0 ? family.length : 0, "", "")
    })
  }
  return lines
}

/** Ids of the approvals whose decision is among the spans. */
const decidedOf = (spans: ReadonlyArray<SpanSnapshot>): ReadonlySet<string> =>
  new Set(
    spans.flatMap(({ approval, state }) =>
      approval?.approvalId === undefined || state === "unfinished" ? [] : approval.approvalId
    )
  )

const trailer = ({ hiddenCount }: Trace.Trace): ReadonlyArray<Line> =>
  hiddenCount === 0 ? [] : [[piece(`+ ${TreeHeader.counted(hiddenCount, "more span")}, not kept`, "faint")]]

/** A very deep place in the tree, without the outermost levels, so that it leaves room for what stands there. */
const shortened = (guide: string, { leftColumns }: SpanRow.Layout): string => {
  const columns = Math.floor(leftColumns / 2)
  return guide.length <= columns ? guide : `⋯${guide.slice(guide.length - columns + 1)}`
}
