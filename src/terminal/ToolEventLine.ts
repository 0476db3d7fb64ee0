/**
 * Lines for the tool calls that a turn has events of, and no spans: `? pay call_1 waits for approval`.
 */
import type { SpanEvents } from "./SpanEvents.ts"
import * as State from "./State.ts"
import { type Piece, piece } from "./StyledLine.ts"
import type { ToolEvent } from "./ToolEvent.ts"

type Line = ReadonlyArray<Piece>

/** A turn can ask for very many calls, and the tree is to stay one. */
const LIMIT = 8

/** A line for each event, the first of many. A call whose approval is among the `decided` waits no more, and is left out. */
export const lines = (events: SpanEvents, decided: ReadonlySet<string>): ReadonlyArray<Line> => {
  const told = events.ofTools.filter(
    ({ approvalId, kind }) =>
      kind !== "approvalRequested" || approvalId === undefined || !decided.has(approvalId)
  )
  const more = Math.max(0, told.length - LIMIT) + events.moreOfTools
  return [...told.slice(0, LIMIT).map(line), ...(more === 0 ? [] : [[piece(`  and ${more} more`, "faint")]])]
}

const line = (event: ToolEvent): Line => {
  const { mark, style, words } = said(event)
  return [
    piece(mark, style),
    ...(event.toolName === undefined ? [] : [piece(" "), piece(event.toolName, "strong")]),
    ...(event.callId === undefined ? [] : [piece(` ${event.callId}`, "faint")]),
    piece(` ${words}`)
  ]
}

const said = ({ kind, outcome }: ToolEvent) => {
  switch (kind) {
    case "approvalRequested":
      return { mark: "?", style: "running", words: "waits for approval" } as const
    case "notStarted":
      return { mark: "…", style: "warning", words: "not started" } as const
    case "providerExecuted": {
      const state = stateOf(outcome)
      const how = outcome === undefined || outcome === "success" ? "" : ` (${outcome.replaceAll("_", " ")})`
      return { mark: State.marks[state], style: State.styles[state], words: `run by the provider${how}` }
    }
  }
}

/** That the provider ran the tool is all that is known without an outcome. */
const stateOf = (outcome = "success"): State.State =>
  outcome === "success" || outcome === "cancelled" || outcome === "abandoned" ? outcome : "failed"
