/**
 * What is told of a span in lines below its row: a parent elsewhere, its error, tool calls without spans, the result, links.
 */
import type { SpanSnapshot } from "./SpanSnapshot.ts"
import { type Piece, piece } from "./StyledLine.ts"
import * as ToolEventLine from "./ToolEventLine.ts"

type Line = ReadonlyArray<Piece>

/** What the details of all spans of a tree share. */
export interface Tree {
  readonly traceId: string
  /** Ids of the approvals whose decision is in the tree. */
  readonly decided: ReadonlySet<string>
  /** Whether there is room for results. */
  readonly content: boolean
}

/** What a span's place in the tree has to do with its details. */
export interface Place {
  /** At the first of the roots that share a parent, how many they are; elsewhere 0. */
  readonly rootsOfParent: number
  /** A child has the same error message, and tells it. */
  readonly toldBelow: boolean
}

export const lines = (span: SpanSnapshot, place: Place, tree: Tree): ReadonlyArray<Line> => [
  ...parent(span, place),
  ...(place.toldBelow ? [] : error(span)),
  ...ToolEventLine.lines(span.events, tree.decided),
  ...(tree.content && span.toolCall?.result !== undefined
    ? [[piece(`→ ${span.toolCall.result}`, "faint")]]
    : []),
  ...span.links.map((link) => [
    piece(
      `⇄ link to ${link.spanId} in ${link.traceId === tree.traceId ? "this trace" : `trace ${link.traceId}`}`,
      "faint"
    )
  ]),
  ...(span.linkCount > span.links.length
    ? [[piece(`⇄ and ${span.linkCount - span.links.length} more`, "faint")]]
    : [])
]

const parent = ({ parentId }: SpanSnapshot, { rootsOfParent }: Place): ReadonlyArray<Line> => {
  if (parentId === undefined || rootsOfParent === 0) return []
  const whose = rootsOfParent === 1 ? "" : ` of these ${rootsOfParent}`
  return [[piece(`↖ parent span ${parentId}${whose}, not in this tree`, "faint")]]
}

const error = ({ errorMessage = "", errorType = "" }: SpanSnapshot): ReadonlyArray<Line> => {
  const said = errorMessage.startsWith(errorType) ? [errorMessage] : [errorType, errorMessage]
  const text = said.filter((part) => part !== "").join(": ")
  return text === "" ? [] : [[piece(`! ${text}`, "failed")]]
}
