/**
 * The lines above a tree: what ran, how long, how much of it there is, and the id to find it by.
 */
import * as HumanDuration from "./HumanDuration.ts"
import type { SpanSnapshot } from "./SpanSnapshot.ts"
import * as StyledLine from "./StyledLine.ts"
import { piece } from "./StyledLine.ts"
import type { Stretch } from "./TimeAxis.ts"
import type { Trace } from "./Trace.ts"

type Line = ReadonlyArray<StyledLine.Piece>

/** On one line where they fit into `width` cells, else on as many as it takes. */
export const lines = (
  trace: Trace,
  spans: ReadonlyArray<SpanSnapshot>,
  whole: Stretch,
  width: number
): ReadonlyArray<Line> => {
  const lines: Array<Line> = []
  for (const fact of facts(trace, spans, whole)) {
    const line = lines.at(-1)
    const longer = line && [...line, piece(" · "), ...fact]
    if (longer !== undefined && StyledLine.width(longer) <= width) lines[lines.length - 1] = longer
    else lines.push(fact)
  }
  return lines
}

const facts = (trace: Trace, spans: ReadonlyArray<SpanSnapshot>, { end, start }: Stretch) => {
  const toolCalls = spans.filter((span) => span.toolCall !== undefined)
  const failedCount = toolCalls.filter((span) => span.state === "failed").length
  const deniedCount = spans.filter((span) => span.approval !== undefined && span.state === "denied").length
  const facts: ReadonlyArray<Line> = [
    [piece(title(trace), "strong")],
    [piece(HumanDuration.format(end - start))],
    [piece(counted(spans.length + trace.hiddenCount, "span"))],
    ...(toolCalls.length === 0
      ? []
      : [[piece(counted(toolCalls.length, "tool call")), ...failures(failedCount)]]),
    // By themselves, for a denied call has no span and is not among those that are counted.
    ...(deniedCount === 0 ? [] : [[piece(`${deniedCount} denied`, "warning")]]),
    ...(trace.continued ? [[piece("continued", "warning")]] : []),
    ...(spans.some((span) => span.state === "unfinished") ? [[piece("unfinished", "running")]] : []),
    [piece(`trace ${trace.traceId}`, "faint")]
  ]
  return facts
}

/** Where a run is resumed the approvals began first, in the run before: what was resumed says more. */
const title = ({ roots }: Trace): string => {
  const root = roots.find(({ span }) => span.approval === undefined) ?? roots[0]
  return root?.span.name ?? ""
}

const failures = (count: number): Line =>
  count === 0 ? [] : [piece(", "), piece(`${count} failed`, "failed")]

/** A number of things, in words. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`
