/**
 * The events that a span got: those that tell of a tool call without a span of its own are kept, up to a limit, all others counted.
 */
import * as ToolEvent from "./ToolEvent.ts"

export interface SpanEvents {
  readonly ofTools: ReadonlyArray<ToolEvent.ToolEvent>
  /** How many more events of tools there were, that are not kept. */
  readonly moreOfTools: number
  readonly otherCount: number
}

/** More than are shown: those whose approval was decided are left out there. */
const LIMIT = 32

export const none: SpanEvents = { ofTools: [], moreOfTools: 0, otherCount: 0 }

/** The events with one more. */
export const add = (
  events: SpanEvents,
  name: string,
  attributes: Readonly<Record<string, unknown>> | undefined
): SpanEvents => {
  const event = ToolEvent.read(name, attributes)
  if (event === undefined) return { ...events, otherCount: events.otherCount + 1 }
  return events.ofTools.length < LIMIT
    ? { ...events, ofTools: [...events.ofTools, event] }
    : { ...events, moreOfTools: events.moreOfTools + 1 }
}
