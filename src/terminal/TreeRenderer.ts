/**
 * A trace as lines of text for an engineer's eyes: a header, then one row for each span with lines of detail below it (`SpanRow`).
 *
 * Where the terminal is narrow the word `execute_tool` goes first, then the bars, then arguments and results. No line is wider than
 * the terminal.
 */
import * as DisplayWidth from "./DisplayWidth.ts"
import * as HumanDuration from "./HumanDuration.ts"
import * as SpanRow from "./SpanRow.ts"
import type { SpanSnapshot } from "./SpanSnapshot.ts"
import * as StyledLine from "./StyledLine.ts"
import { piece } from "./StyledLine.ts"
import type * as TimeBar from "./TimeBar.ts"
import * as Trace from "./Trace.ts"

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
  const lines = [...header(trace, spans, layout, width), ...tree(trace, layout), ...trailer(trace)]
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
    axis: axisOf(spans, shownAt),
    shownAt
  }
}

const axisOf = (spans: ReadonlyArray<SpanSnapshot>, shownAt: bigint): TimeBar.Axis => {
  let start = spans[0]?.startTime ?? shownAt
  let end = start
  for (const span of spans) {
    const spanEnd = span.endTime ?? shownAt
    if (span.startTime < start) start = span.startTime
    if (spanEnd > end) end = spanEnd
  }
  return { start, end }
}

/** Root, duration, numbers and trace id: on one line where they fit, else on as many as it takes. */
const header = (
  trace: Trace.Trace,
  spans: ReadonlyArray<SpanSnapshot>,
  { axis }: SpanRow.Layout,
  width: number
): ReadonlyArray<Line> => {
  const toolCalls = spans.filter((span) => span.toolCall !== undefined)
  const failedCount = toolCalls.filter((span) => span.state === "failed").length
  const facts: ReadonlyArray<Line> = [
    [piece(trace.roots[0]?.span.name ?? "", "strong")],
    [piece(HumanDuration.format(axis.end - axis.start))],
    [piece(counted(spans.length + trace.hiddenCount, "span"))],
    ...(toolCalls.length === 0
      ? []
      : [[piece(counted(toolCalls.length, "tool call")), ...failures(failedCount)]]),
    ...(trace.continued ? [[piece("continued", "warning")]] : []),
    ...(spans.some((span) => span.state === "unfinished") ? [[piece("unfinished", "running")]] : []),
    [piece(`trace ${trace.traceId}`, "faint")]
  ]
  const lines: Array<Line> = []
  for (const fact of facts) {
    const line = lines.at(-1)
    const longer = line && [...line, piece(" · "), ...fact]
    if (longer !== undefined && StyledLine.width(longer) <= width) lines[lines.length - 1] = longer
    else lines.push(fact)
  }
  return lines
}

const failures = (count: number): Line =>
  count === 0 ? [] : [piece(", "), piece(`${count} failed`, "failed")]

const tree = ({ roots, traceId }: Trace.Trace, layout: SpanRow.Layout): ReadonlyArray<Line> => {
  const lines: Array<Line> = []
  /** `guide` is drawn before the row of the span, `below` before all that is below it. */
  const visit = ({ children, span }: Trace.TraceNode, guide: string, below: string): void => {
    lines.push(SpanRow.row(span, shortened(guide, layout), layout))
    const margin = piece(shortened(below + (children.length === 0 ? "  " : "│ "), layout), "faint")
    const { errorMessage } = span
    const toldBelow =
      errorMessage !== undefined && children.some((child) => child.span.errorMessage === errorMessage)
    for (const detail of SpanRow.details(span, traceId, { isRoot: guide === "", toldBelow }, layout)) {
      lines.push([margin, detail])
    }
    children.forEach((child, index) => {
      const isLast = index === children.length - 1
      visit(child, below + (isLast ? "└─ " : "├─ "), below + (isLast ? "   " : "│  "))
    })
  }
  for (const root of roots) visit(root, "", "")
  return lines
}

const trailer = ({ hiddenCount }: Trace.Trace): ReadonlyArray<Line> =>
  hiddenCount === 0 ? [] : [[piece(`+ ${counted(hiddenCount, "more span")}, not kept`, "faint")]]

/** A very deep place in the tree, without the outermost levels, so that it leaves room for what stands there. */
const shortened = (guide: string, { leftColumns }: SpanRow.Layout): string => {
  const columns = Math.floor(leftColumns / 2)
  return guide.length <= columns ? guide : `⋯${guide.slice(guide.length - columns + 1)}`
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`
