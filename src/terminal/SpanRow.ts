/**
 * One span of a tree as text: its row, and the lines of detail below it.
 *
 * A row has, from left to right, the place in the tree, a mark for how the span ended, its name, for a tool call its id and arguments,
 * then the duration and a bar on the time axis of the whole trace.
 */
import { OPERATION_EXECUTE_TOOL, type ToolOutcome } from "../semconv/Attributes.ts"
import * as HumanDuration from "./HumanDuration.ts"
import type { SpanSnapshot, State, ToolCall } from "./SpanSnapshot.ts"
import * as StyledLine from "./StyledLine.ts"
import { piece } from "./StyledLine.ts"
import * as TimeBar from "./TimeBar.ts"

type Pieces = ReadonlyArray<StyledLine.Piece>

/** What all rows of a tree share. */
export interface Layout {
  readonly leftColumns: number
  readonly durationColumns: number
  /** 0 where there is no room for bars. */
  readonly barColumns: number
  /** Whether there is room for arguments and results. */
  readonly content: boolean
  /** Whether there is room for the operation before the name of a tool. */
  readonly operation: boolean
  readonly axis: TimeBar.Axis
  /** The time that unfinished spans reach up to, in nanoseconds. */
  readonly shownAt: bigint
}

/** Fewer cells than this say nothing of arguments. */
const SHORTEST_ARGUMENTS = 8

const marks: Readonly<Record<State, string>> = {
  success: "✓",
  failed: "✗",
  cancelled: "⊘",
  abandoned: "…",
  unfinished: "…"
}

const styles: Readonly<Record<State, StyledLine.Style>> = {
  success: "success",
  failed: "failed",
  cancelled: "warning",
  abandoned: "warning",
  unfinished: "running"
}

/** How long the span took, or has taken so far. */
export const duration = (span: SpanSnapshot, shownAt: bigint): string =>
  HumanDuration.format((span.endTime ?? shownAt) - span.startTime)

/** The row of a span; `guide` draws its place in the tree. */
export const row = (span: SpanSnapshot, guide: string, layout: Layout): Pieces => {
  const style = styles[span.state]
  const subject = [
    piece(guide, "faint"),
    piece(marks[span.state], style),
    piece(" "),
    ...label(span, layout),
    ...notes(span)
  ]
  const took = duration(span, layout.shownAt).padStart(layout.durationColumns)
  return [
    ...StyledLine.column(withArguments(subject, span.toolCall, layout), layout.leftColumns),
    piece(`  ${took}`),
    ...bar(span, layout)
  ]
}

const bar = (span: SpanSnapshot, { axis, barColumns, shownAt }: Layout): Pieces => {
  if (barColumns === 0) return []
  // Spans around the tool calls are often the longest and the least of interest.
  const style = span.toolCall === undefined && span.state === "success" ? "faint" : styles[span.state]
  return [piece("  "), piece(TimeBar.draw(axis, barColumns, span.startTime, span.endTime ?? shownAt), style)]
}

const label = ({ name, toolCall }: SpanSnapshot, layout: Layout): Pieces => {
  if (toolCall === undefined) return [piece(name)]
  const operation = layout.operation ? [piece(`${OPERATION_EXECUTE_TOOL} `, "faint")] : []
  const tool =
    toolCall.name === undefined ? [piece(name, "strong")] : [...operation, piece(toolCall.name, "strong")]
  return toolCall.callId === undefined ? tool : [...tool, piece(` ${toolCall.callId}`, "faint")]
}

/** Outcomes that the mark tells. */
const plainOutcomes: ReadonlySet<string> = new Set<ToolOutcome>(["success", "failure", "cancelled"])

/** What the mark does not tell. */
const notes = ({ eventCount, state, toolCall }: SpanSnapshot): Pieces => {
  const words: Array<string> = []
  if (state === "unfinished") words.push(state)
  const outcome = toolCall?.outcome
  if (outcome !== undefined && !plainOutcomes.has(outcome)) words.push(outcome.replaceAll("_", " "))
  const preliminaryCount = toolCall?.preliminaryCount ?? 0
  if (preliminaryCount > 0) words.push(`${preliminaryCount} preliminary`)
  else if (eventCount > 0) words.push(`${eventCount} ${eventCount === 1 ? "event" : "events"}`)
  return words.length === 0 ? [] : [piece(` (${words.join(", ")})`, "faint")]
}

const withArguments = (subject: Pieces, toolCall: ToolCall | undefined, layout: Layout): Pieces => {
  if (!layout.content || toolCall?.arguments === undefined) return subject
  const room = layout.leftColumns - StyledLine.width(subject) - 1
  return room < SHORTEST_ARGUMENTS ? subject : [...subject, piece(` ${toolCall.arguments}`)]
}

/** What is told below the row. `toldBelow`: a child has the same error message, and tells it. */
export const details = (
  span: SpanSnapshot,
  traceId: string,
  place: { readonly isRoot: boolean; readonly toldBelow: boolean },
  layout: Layout
): ReadonlyArray<StyledLine.Piece> => [
  ...(place.isRoot && span.parentId !== undefined
    ? [piece(`↖ parent span ${span.parentId}, not in this tree`, "faint")]
    : []),
  ...(place.toldBelow ? [] : error(span)),
  ...(layout.content && span.toolCall?.result !== undefined
    ? [piece(`→ ${span.toolCall.result}`, "faint")]
    : []),
  ...span.links.map((link) =>
    piece(
      `⇄ link to ${link.spanId} in ${link.traceId === traceId ? "this trace" : `trace ${link.traceId}`}`,
      "faint"
    )
  ),
  ...(span.linkCount > span.links.length
    ? [piece(`⇄ and ${span.linkCount - span.links.length} more`, "faint")]
    : [])
]

const error = ({ errorMessage = "", errorType = "" }: SpanSnapshot): Pieces => {
  const said = errorMessage.startsWith(errorType) ? [errorMessage] : [errorType, errorMessage]
  const text = said.filter((part) => part !== "").join(": ")
  return text === "" ? [] : [piece(`! ${text}`, "failed")]
}
