/**
 * What is emitted of approvals: the request as an event on the turn that asks, the decision as a span from the asking to the deciding, in
 * the trace that asked; and their metrics.
 *
 * Which approvals there are is found by `Turn.ts`, in the parts of an answer, and by `DecidedCalls.ts`, in the conversation.
 */

import type * as Prompt from "effect/ai/Prompt"
import * as Context from "effect/Context"
import * as Metric from "effect/Metric"
import * as Result from "effect/Result"
import type * as Tracer from "effect/Tracer"
import * as Approval from "../propagation/Approval.ts"
import type { Decided } from "../propagation/ApprovalHistory.ts"
import * as ToolCallContext from "../propagation/ToolCallContext.ts"
import {
  ATTR_GEN_AI_AGENT_NAME,
  ATTR_GEN_AI_CONVERSATION_ID,
  ATTR_GEN_AI_TOOL_CALL_ID,
  ATTR_GEN_AI_TOOL_NAME,
  ATTR_TOOLSPAN_APPROVAL_APPROVER,
  ATTR_TOOLSPAN_APPROVAL_DECISION,
  ATTR_TOOLSPAN_APPROVAL_ID,
  ATTR_TOOLSPAN_APPROVAL_REASON,
  EVENT_TOOLSPAN_APPROVAL_REQUESTED,
  OTHER,
  SPAN_TOOL_APPROVAL
} from "../semconv/Attributes.ts"
import * as Instruments from "../semconv/Instruments.ts"
import { CurrentApprovals } from "./ApprovalMemory.ts"
import { ContentWriter } from "./ContentWriter.ts"
import { bounded } from "./Identifier.ts"
import type { InstrumentedTool } from "./InstrumentedTool.ts"
import type { TurnScope } from "./TurnScope.ts"

/** An approval that a turn asks for. */
export interface Request {
  readonly approvalId: string
  readonly toolCallId: string
  readonly toolName: string
  readonly tool: InstrumentedTool
  /** The call, where that tells which span asks, and not the one that the request is said on. */
  readonly toolCall?: Prompt.ToolCallPart | undefined
}

/** Emits the request, on the span of the turn that asks, or of whoever resolves its calls. */
export const requested = (scope: TurnScope, turn: Tracer.Span, request: Request): void => {
  scope.event(turn, EVENT_TOOLSPAN_APPROVAL_REQUESTED, {
    [ATTR_GEN_AI_TOOL_NAME]: bounded(request.toolName),
    [ATTR_GEN_AI_TOOL_CALL_ID]: bounded(request.toolCallId),
    [ATTR_TOOLSPAN_APPROVAL_ID]: bounded(request.approvalId)
  })
  const toolName = nameOnMetrics(request.tool)
  const memory = Context.get(scope.context, CurrentApprovals)
  const key = keyOf(request.toolCall === undefined ? turn : askedBy(request.toolCall), request)
  if (!scope.metrics) {
    memory.asked(key, () => undefined)
    return
  }
  // Where the decision comes from another scope, it is still this series that falls.
  const registry = Context.pick(Metric.MetricRegistry, Metric.CurrentMetricAttributes)(scope.context)
  const pending = (change: number) => Instruments.approvalPending(toolName).modifyUnsafe(change, registry)
  Instruments.approvalRequests(toolName).updateUnsafe(1, scope.context)
  pending(1)
  memory.asked(key, () => pending(-1))
}

/**
 * Emits the decision, once for each approval in this process. `turn`: the turn that acts on it, which is the parent where the conversation
 * does not tell who asked. `requestedAt` (milliseconds since the epoch): when it was asked, where a store knows; else the conversation tells.
 * Whether this was the first time.
 */
export const decided = (
  scope: TurnScope,
  turn: Tracer.Span,
  { approvalId, response, toolCall }: Decided,
  tool: InstrumentedTool,
  requestedAt?: number
): boolean => {
  const asked = ToolCallContext.read(toolCall.options)
  const parent = Result.isSuccess(asked) ? asked.success.span : turn
  const key = keyOf(Result.isSuccess(asked) ? asked.success.span : undefined, {
    approvalId,
    toolCallId: toolCall.id
  })
  if (!Context.get(scope.context, CurrentApprovals).decided(key, response.approved)) return false
  const { approver, decidedAt, decision } = Approval.read(response)
  const toolName = nameOnMetrics(tool)
  const since = requestedAt ?? (Result.isSuccess(asked) ? asked.success.requestedAt : undefined)
  const times = timesOf(scope.now(), since, decidedAt)
  const span = scope.open({
    name: tool.tool === undefined ? SPAN_TOOL_APPROVAL : `${SPAN_TOOL_APPROVAL} ${tool.tool.name}`,
    kind: "internal",
    parent,
    link: undefined,
    startTime: times.start,
    attributes: {
      [ATTR_GEN_AI_TOOL_NAME]: bounded(toolCall.name),
      [ATTR_GEN_AI_TOOL_CALL_ID]: bounded(toolCall.id),
      [ATTR_TOOLSPAN_APPROVAL_ID]: bounded(approvalId),
      [ATTR_TOOLSPAN_APPROVAL_DECISION]: decision,
      ...(approver !== undefined && { [ATTR_TOOLSPAN_APPROVAL_APPROVER]: approver }),
      ...(scope.agentName !== undefined && { [ATTR_GEN_AI_AGENT_NAME]: scope.agentName }),
      ...(scope.conversationId !== undefined && { [ATTR_GEN_AI_CONVERSATION_ID]: scope.conversationId })
    }
  })
  if (span?.sampled && response.reason !== undefined) {
    const content = new ContentWriter(span, tool.policy(scope.policy), toolCall.name, scope.context)
    content.attribute(ATTR_TOOLSPAN_APPROVAL_REASON, "reasons", response.reason)
    content.ended()
  }
  scope.end(span, times.end)
  if (Result.isFailure(asked) && since === undefined) scope.dropped(asked.failure)
  if (!scope.metrics) return true
  if (since !== undefined)
    Instruments.approvalWait(toolName, decision).updateUnsafe(seconds(times), scope.context)
  Instruments.approvalDecisions(toolName, decision).updateUnsafe(1, scope.context)
  return true
}

interface Times {
  readonly start: bigint
  readonly end: bigint
}

/**
 * From the asking to the deciding. Clocks of two processes differ: nothing begins or ends after now, or ends before it begins. Where it is not
 * known when it was asked, only the decision is told.
 */
const timesOf = (now: bigint, requestedAt: number | undefined, decidedAt: number | undefined): Times => {
  const decided = decidedAt === undefined ? now : earlier(nanos(decidedAt), now)
  const start = requestedAt === undefined ? decided : earlier(nanos(requestedAt), now)
  return { start, end: later(decided, start) }
}

const nanos = (millis: number): bigint => BigInt(millis) * 1_000_000n

const earlier = (a: bigint, b: bigint): bigint => (a < b ? a : b)

const later = (a: bigint, b: bigint): bigint => (a < b ? b : a)

const seconds = ({ end, start }: Times): number => Number(end - start) / 1e9

const askedBy = ({ options }: Prompt.ToolCallPart): Tracer.AnySpan | undefined => {
  const asked = ToolCallContext.read(options)
  return Result.isSuccess(asked) ? asked.success.span : undefined
}

const nameOnMetrics = ({ tool }: InstrumentedTool): string => tool?.name ?? OTHER

/** Ids of approvals and calls are unique in one conversation; the span that asked, if it is known, tells which one it is. */
const keyOf = (
  asked: Tracer.AnySpan | undefined,
  { approvalId, toolCallId }: Pick<Request, "approvalId" | "toolCallId">
): string => `${asked?.traceId}/${asked?.spanId}/${bounded(toolCallId)}/${bounded(approvalId)}`
