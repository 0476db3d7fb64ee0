/**
 * What is shown of one span, read from a span of any tracer.
 *
 * Reads the GenAI attributes and `toolspan.*` of tool calls and approvals as `instrumentation/` writes them, and makes do with less:
 * `execute_tool` spans of other libraries. Holds short strings only, never the values of the program.
 */
import * as Cause from "effect/Cause"
import type * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type * as Tracer from "effect/Tracer"
import * as Redaction from "../content/Redaction.ts"
import {
  ATTR_ERROR_TYPE,
  ATTR_GEN_AI_TOOL_CALL_ARGUMENTS,
  ATTR_GEN_AI_TOOL_CALL_ID,
  ATTR_GEN_AI_TOOL_CALL_RESULT,
  ATTR_GEN_AI_TOOL_NAME,
  ATTR_TOOLSPAN_TOOL_OUTCOME,
  ATTR_TOOLSPAN_TOOL_PRELIMINARY_COUNT,
  OPERATION_EXECUTE_TOOL
} from "../semconv/Attributes.ts"
import * as ApprovalSpan from "./ApprovalSpan.ts"
import * as PlainText from "./PlainText.ts"
import * as ShortText from "./ShortText.ts"
import type { SpanEvents } from "./SpanEvents.ts"
import type { State } from "./State.ts"

/** What is shown of a tool call. */
export interface ToolCall {
  readonly name: string | undefined
  readonly callId: string | undefined
  readonly outcome: string | undefined
  readonly arguments: string | undefined
  readonly result: string | undefined
  readonly preliminaryCount: number
}

/** What is shown of a span. Times are in nanoseconds. */
export interface SpanSnapshot {
  readonly name: string
  readonly spanId: string
  readonly parentId: string | undefined
  readonly startTime: bigint
  readonly endTime: bigint | undefined
  readonly state: State
  readonly toolCall: ToolCall | undefined
  readonly approval: ApprovalSpan.Approval | undefined
  readonly errorType: string | undefined
  readonly errorMessage: string | undefined
  readonly events: SpanEvents
  readonly links: ReadonlyArray<{ readonly traceId: string; readonly spanId: string }>
  readonly linkCount: number
}

const LINK_LIMIT = 4

/** Whether a span is a tool call, by the name that the conventions give it: known from its start, as attributes may not be. */
export const isToolCall = ({ name }: Tracer.Span): boolean =>
  name === OPERATION_EXECUTE_TOOL || name.startsWith(`${OPERATION_EXECUTE_TOOL} `)

/** What is known now of the tool call that the span stands for. */
export const toolCallOf = (span: Tracer.Span): ToolCall => ({
  name: text(span, ATTR_GEN_AI_TOOL_NAME) ?? ShortText.of(span.name.slice(OPERATION_EXECUTE_TOOL.length + 1)),
  callId: text(span, ATTR_GEN_AI_TOOL_CALL_ID),
  outcome: text(span, ATTR_TOOLSPAN_TOOL_OUTCOME),
  arguments: text(span, ATTR_GEN_AI_TOOL_CALL_ARGUMENTS),
  result: text(span, ATTR_GEN_AI_TOOL_CALL_RESULT),
  preliminaryCount: count(span, ATTR_TOOLSPAN_TOOL_PRELIMINARY_COUNT)
})

/** The span as it is now: ended with `exit`, or unfinished. `events`: those that it was seen to get. */
export const of = (
  span: Tracer.Span,
  exit: Exit.Exit<unknown, unknown> | undefined,
  events: SpanEvents
): SpanSnapshot => {
  const toolCall = isToolCall(span) ? toolCallOf(span) : undefined
  const approval = ApprovalSpan.read(span)
  const errorType = text(span, ATTR_ERROR_TYPE)
  const state = stateOf(toolCall?.outcome ?? (approval && ApprovalSpan.stateOf(approval)), exit, errorType)
  const error = state === "failed" && exit?._tag === "Failure" ? errorOf(exit.cause) : undefined
  return {
    name: ShortText.short(span.name),
    spanId: span.spanId,
    parentId: Option.getOrUndefined(span.parent)?.spanId,
    startTime: span.status.startTime,
    endTime: span.status._tag === "Ended" ? span.status.endTime : undefined,
    state,
    toolCall,
    approval,
    errorType: state === "failed" ? (errorType ?? error?.type) : undefined,
    errorMessage: error?.message,
    events,
    links: span.links
      .slice(0, LINK_LIMIT)
      .map((link) => ({ traceId: link.span.traceId, spanId: link.span.spanId })),
    linkCount: span.links.length
  }
}

const stateOf = (
  outcome: string | undefined,
  exit: Exit.Exit<unknown, unknown> | undefined,
  errorType: string | undefined
): State => {
  if (exit === undefined) return "unfinished"
  switch (outcome) {
    case "success":
    case "cancelled":
    case "abandoned":
    case "denied":
      return outcome
  }
  if (exit._tag === "Failure") return Cause.hasInterruptsOnly(exit.cause) ? "cancelled" : "failed"
  return errorType === undefined ? "success" : "failed"
}

/**
 * The first error of a cause, as tracers export it. It can be any error of the program: its text may hold secrets, and reading it may
 * throw.
 */
const errorOf = (cause: Cause.Cause<unknown>) => {
  try {
    const [error] = Cause.prettyErrors(cause)
    return error && { type: ShortText.of(error.name), message: ShortText.nonEmpty(redacted(error.message)) }
  } catch {
    return undefined
  }
}

const text = (span: Tracer.Span, key: string): string | undefined => ShortText.of(span.attributes.get(key))

const count = (span: Tracer.Span, key: string): number => {
  const value = span.attributes.get(key)
  return typeof value === "number" && value > 0 ? value : 0
}

const redacted = (value: string): string => Redaction.redactPrefix(value, PlainText.LIMIT)
