/** Native spans and snapshots to test with: made outside the program, with the times that a test wants. */
import * as Context from "effect/Context"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"
import type { Approval } from "../../src/terminal/ApprovalSpan.ts"
import * as SpanEvents from "../../src/terminal/SpanEvents.ts"
import type { SpanSnapshot, ToolCall } from "../../src/terminal/SpanSnapshot.ts"
import type { Trace, TraceNode } from "../../src/terminal/Trace.ts"

export const MILLI = 1_000_000n

/** A span of Effect's own tracer that started `start` milliseconds after the epoch. */
export const start = (
  name: string,
  options: {
    parent?: Tracer.AnySpan
    start?: number
    sampled?: boolean
    attributes?: Record<string, unknown>
  } = {}
): Tracer.NativeSpan => {
  const span = new Tracer.NativeSpan({
    name,
    parent: Option.fromNullishOr(options.parent),
    annotations: Context.empty(),
    links: [],
    startTime: BigInt(options.start ?? 0) * MILLI,
    kind: "internal",
    sampled: options.sampled ?? true
  })
  for (const [key, value] of Object.entries(options.attributes ?? {})) span.attribute(key, value)
  return span
}

export const end = (span: Tracer.Span, at = 1, exit: Exit.Exit<unknown, unknown> = Exit.void): void =>
  span.end(BigInt(at) * MILLI, exit)

/** A snapshot of a successful span from `start` to `end` milliseconds. */
export const snapshot = (
  name: string,
  start: number,
  end: number | undefined,
  rest: Partial<SpanSnapshot> = {}
): SpanSnapshot => ({
  name,
  spanId: "00f067aa0ba902b7",
  parentId: undefined,
  startTime: BigInt(start) * MILLI,
  endTime: end === undefined ? undefined : BigInt(end) * MILLI,
  state: end === undefined ? "unfinished" : "success",
  toolCall: undefined,
  approval: undefined,
  errorType: undefined,
  errorMessage: undefined,
  events: SpanEvents.none,
  links: [],
  linkCount: 0,
  ...rest
})

export const toolCall = (name: string, callId: string, rest: Partial<ToolCall> = {}): ToolCall => ({
  name,
  callId,
  outcome: undefined,
  arguments: undefined,
  result: undefined,
  preliminaryCount: 0,
  ...rest
})

/** A snapshot of an approval that was decided as it says, from `start` to `end` milliseconds. */
export const approval = (
  toolName: string,
  callId: string,
  [start, end]: readonly [start: number, end: number],
  rest: Partial<Approval> = {},
  span: Partial<SpanSnapshot> = {}
): SpanSnapshot =>
  snapshot(`tool_approval ${toolName}`, start, end, {
    state: rest.decision === "denied" || rest.decision === "expired" ? "denied" : "success",
    approval: {
      toolName,
      callId,
      approvalId: `approval of ${callId}`,
      decision: "approved",
      approver: undefined,
      reason: undefined,
      ...rest
    },
    ...span
  })

export type Event = readonly [name: string, attributes?: Record<string, unknown>]

/** What is kept of the events of a span. */
export const events = (...all: ReadonlyArray<Event>): SpanEvents.SpanEvents =>
  all.reduce((events, [name, attributes]) => SpanEvents.add(events, name, attributes), SpanEvents.none)

/** The event of a turn that asks for an approval of a call. */
export const asked = (toolName: string, callId: string): Event => [
  "toolspan.approval.requested",
  {
    "gen_ai.tool.name": toolName,
    "gen_ai.tool.call.id": callId,
    "toolspan.approval.id": `approval of ${callId}`
  }
]

export const node = (span: SpanSnapshot, ...children: ReadonlyArray<TraceNode>): TraceNode => ({
  span,
  children
})

/** A trace that was shown when all of it had ended. */
export const trace = (...roots: ReadonlyArray<TraceNode>): Trace => ({
  traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
  continued: false,
  hiddenCount: 0,
  shownAt: 0n,
  roots
})
