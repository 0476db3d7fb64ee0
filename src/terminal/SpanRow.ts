/**
 * One span of a tree as a row of text.
 *
 * It has, from left to right, the place in the tree, a mark for how the span ended, its name, for a tool call its id and arguments, for
 * an approval the decision, then the duration and a bar on the time axis of the whole trace.
 */
import { OPERATION_EXECUTE_TOOL, type ToolOutcome } from "../semconv/Attributes.ts"
import * as ApprovalSpan from "./ApprovalSpan.ts"
import * as DisplayWidth from "./DisplayWidth.ts"
import * as HumanDuration from "./HumanDuration.ts"
import type { SpanSnapshot, ToolCall } from "./SpanSnapshot.ts"
import * as State from "./State.ts"
import * as StyledLine from "./StyledLine.ts"
import { piece } from "./StyledLine.ts"
import type { TimeAxis } from "./TimeAxis.ts"
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
  readonly axis: TimeAxis
  /** The time that unfinished spans reach up to, in nanoseconds. */
  readonly shownAt: bigint
}

/** Fewer cells than this say nothing of arguments. */
const SHORTEST_ARGUMENTS = 8

/** How long the span took, or has taken so far. */
export const duration = (span: SpanSnapshot, shownAt: bigint): string =>
  HumanDuration.format((span.endTime ?? shownAt) - span.startTime)

/** The row of a span; `guide` draws its place in the tree. */
export const row = (span: SpanSnapshot, guide: string, layout: Layout): Pieces => {
  const subject = [
    piece(guide, "faint"),
    piece(State.marks[span.state], State.styles[span.state]),
    piece(" "),
    ...label(span, guide, layout),
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
  const style = span.toolCall === undefined && span.state === "success" ? "faint" : State.styles[span.state]
  return [piece("  "), piece(TimeBar.draw(axis, barColumns, span.startTime, span.endTime ?? shownAt), style)]
}

const label = ({ approval, name, toolCall }: SpanSnapshot, guide: string, layout: Layout): Pieces => {
  if (approval !== undefined) return approvalLabel(approval, layout.leftColumns - DisplayWidth.of(guide) - 2)
  if (toolCall === undefined) return [piece(name)]
  const operation = layout.operation ? [piece(`${OPERATION_EXECUTE_TOOL} `, "faint")] : []
  const tool =
    toolCall.name === undefined ? [piece(name, "strong")] : [...operation, piece(toolCall.name, "strong")]
  return toolCall.callId === undefined ? tool : [...tool, piece(` ${toolCall.callId}`, "faint")]
}

/** Ids of calls can be long, and what was decided is what the row is for: it has `room` before the id. */
const approvalLabel = (approval: ApprovalSpan.Approval, room: number): Pieces => {
  const { callId, toolName } = approval
  const label = [
    piece("approval"),
    ...(toolName === undefined ? [] : [piece(" "), piece(toolName, "strong")])
  ]
  if (callId === undefined) return label
  const longer = [...label, piece(` ${callId}`, "faint")]
  const decision = piece(` (${ApprovalSpan.inWords({ ...approval, reason: undefined }) ?? ""})`)
  return StyledLine.width([...longer, decision]) <= room ? longer : label
}

/** Outcomes that the mark tells. */
const plainOutcomes: ReadonlySet<string> = new Set<ToolOutcome>(["success", "failure", "cancelled"])

/** What the mark does not tell. */
const notes = ({ approval, events, state, toolCall }: SpanSnapshot): Pieces => {
  const words: Array<string> = []
  if (state === "unfinished") words.push(state)
  const decision = approval && ApprovalSpan.inWords(approval)
  if (decision !== undefined) words.push(decision)
  const outcome = toolCall?.outcome
  if (outcome !== undefined && !plainOutcomes.has(outcome)) words.push(outcome.replaceAll("_", " "))
  const preliminaryCount = toolCall?.preliminaryCount ?? 0
  if (preliminaryCount > 0) words.push(`${preliminaryCount} preliminary`)
  else if (events.otherCount > 0)
    words.push(`${events.otherCount} ${events.otherCount === 1 ? "event" : "events"}`)
  // Of an approval this is what the row is for.
  const style = decision === undefined ? "faint" : "plain"
  return words.length === 0 ? [] : [piece(` (${words.join(", ")})`, style)]
}

const withArguments = (subject: Pieces, toolCall: ToolCall | undefined, layout: Layout): Pieces => {
  if (!layout.content || toolCall?.arguments === undefined) return subject
  const room = layout.leftColumns - StyledLine.width(subject) - 1
  return room < SHORTEST_ARGUMENTS ? subject : [...subject, piece(` ${toolCall.arguments}`)]
}
