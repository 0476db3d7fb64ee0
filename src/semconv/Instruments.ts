/**
 * The metric instruments that toolspan updates: names, units, descriptions and bucket advice.
 *
 * `gen_ai.execute_tool.duration` follows the OpenTelemetry GenAI conventions. Units travel in the attribute `unit`,
 * where `@effect/opentelemetry` and Effect's own exporters look for them; the `sdk/` room takes that attribute off the data
 * points on the way out. Attributes of a series are set by whoever records it.
 */
import * as Metric from "effect/Metric"
import {
  ATTR_GEN_AI_TOOL_NAME,
  ATTR_TOOLSPAN_APPROVAL_DECISION,
  ATTR_TOOLSPAN_DROPPED_REASON,
  type DroppedReason
} from "./Attributes.ts"

type Attributes = Readonly<Record<string, string>>

const doubling = (first: number, count: number): ReadonlyArray<number> =>
  Array.from({ length: count }, (_, n) => first * 2 ** n)

/** Seconds, doubling from 10 ms to 81.92 s: the advice of the conventions. */
export const DURATION_BUCKETS: ReadonlyArray<number> = doubling(0.01, 14)

/** Seconds, from one to seven days: people answer within a meeting, a night or a weekend. */
export const WAIT_BUCKETS: ReadonlyArray<number> = [
  1, 5, 15, 30, 60, 300, 900, 1800, 3600, 14_400, 28_800, 86_400, 259_200, 604_800
]

/** Calls, doubling from 1 to 128. */
export const STREAK_BUCKETS: ReadonlyArray<number> = doubling(1, 8)

/** Seconds, doubling from 100 ms to 409.6 s: the advice of the conventions for agents. */
export const AGENT_DURATION_BUCKETS: ReadonlyArray<number> = doubling(0.1, 13)

/** Calls, doubling from 1 to 128: the advice of the conventions for agents. */
export const AGENT_CALL_BUCKETS: ReadonlyArray<number> = doubling(1, 8)

/** Histogram `gen_ai.invoke_agent.duration`, seconds: how long a stretch of a run took. */
export const invokeAgentDuration = (attributes: Attributes) =>
  Metric.histogram("gen_ai.invoke_agent.duration", {
    description: "Duration of an uninterrupted stretch of an agent's run.",
    boundaries: AGENT_DURATION_BUCKETS,
    attributes: { ...attributes, unit: "s" }
  })

/** Histogram `gen_ai.invoke_agent.tool_calls`, {tool_call}: calls that a stretch of a run handed to tools. */
export const invokeAgentToolCalls = (attributes: Attributes) =>
  Metric.histogram("gen_ai.invoke_agent.tool_calls", {
    description: "Tool calls in an uninterrupted stretch of an agent's run.",
    boundaries: AGENT_CALL_BUCKETS,
    attributes: { ...attributes, unit: "{tool_call}" }
  })

/** Histogram `gen_ai.invoke_agent.inference_calls`, {inference_call}: answers of the model in a stretch of a run. */
export const invokeAgentInferenceCalls = (attributes: Attributes) =>
  Metric.histogram("gen_ai.invoke_agent.inference_calls", {
    description: "Model calls in an uninterrupted stretch of an agent's run.",
    boundaries: AGENT_CALL_BUCKETS,
    attributes: { ...attributes, unit: "{inference_call}" }
  })

/** Histogram `gen_ai.execute_tool.duration`, seconds: how long a call took, from `handle` to the end of its results. */
export const executeToolDuration = (attributes: Attributes) =>
  Metric.histogram("gen_ai.execute_tool.duration", {
    description: "Duration of a tool call, from the call of its handler to the end of its results.",
    boundaries: DURATION_BUCKETS,
    attributes: { ...attributes, unit: "s" }
  })

/** Counter `toolspan.tool.calls`, {call}: calls that ended, by outcome. */
export const toolCalls = (attributes: Attributes) =>
  Metric.counter("toolspan.tool.calls", {
    description: "Tool calls that ended, by outcome.",
    incremental: true,
    attributes: { ...attributes, unit: "{call}" }
  })

/** Up-down counter `toolspan.tool.active`, {call}: calls that are running now. */
export const toolActive = (toolName: string) =>
  Metric.counter("toolspan.tool.active", {
    description: "Tool calls that are running now.",
    attributes: { [ATTR_GEN_AI_TOOL_NAME]: toolName, unit: "{call}" }
  })

/** Histogram `toolspan.tool.streak`, {call}: how often a tool was called since the user last said something. */
export const toolStreak = (toolName: string) =>
  Metric.histogram("toolspan.tool.streak", {
    description: "Calls of a tool since the last message of the user, at each turn that calls it.",
    boundaries: STREAK_BUCKETS,
    attributes: { [ATTR_GEN_AI_TOOL_NAME]: toolName, unit: "{call}" }
  })

/** Counter `toolspan.approval.requests`, {approval}: approvals that were asked for. */
export const approvalRequests = (toolName: string) =>
  Metric.counter("toolspan.approval.requests", {
    description: "Approvals of tool calls that were asked for.",
    incremental: true,
    attributes: { [ATTR_GEN_AI_TOOL_NAME]: toolName, unit: "{approval}" }
  })

/** Counter `toolspan.approval.decisions`, {approval}: approvals that were decided. */
export const approvalDecisions = (toolName: string, decision: string) =>
  Metric.counter("toolspan.approval.decisions", {
    description: "Approvals of tool calls that were decided, by decision.",
    incremental: true,
    attributes: {
      [ATTR_GEN_AI_TOOL_NAME]: toolName,
      [ATTR_TOOLSPAN_APPROVAL_DECISION]: decision,
      unit: "{approval}"
    }
  })

/** Histogram `toolspan.approval.wait`, seconds: from the asking for an approval to its decision. */
export const approvalWait = (toolName: string, decision: string) =>
  Metric.histogram("toolspan.approval.wait", {
    description: "Time from the request of an approval to its decision.",
    boundaries: WAIT_BUCKETS,
    attributes: {
      [ATTR_GEN_AI_TOOL_NAME]: toolName,
      [ATTR_TOOLSPAN_APPROVAL_DECISION]: decision,
      unit: "s"
    }
  })

/** Gauge `toolspan.approval.pending`, {approval}: asked for in this process, and not yet seen decided here. */
export const approvalPending = (toolName: string) =>
  Metric.gauge("toolspan.approval.pending", {
    description: "Approvals that were asked for in this process and not yet seen decided here.",
    attributes: { [ATTR_GEN_AI_TOOL_NAME]: toolName, unit: "{approval}" }
  })

/** Counter `toolspan.telemetry.dropped`, {item}: telemetry that could not be captured or delivered. */
export const telemetryDropped = (reason: DroppedReason) =>
  Metric.counter("toolspan.telemetry.dropped", {
    description:
      "Pieces of telemetry that were dropped: attributes not captured, spans and logs not delivered.",
    incremental: true,
    attributes: { [ATTR_TOOLSPAN_DROPPED_REASON]: reason, unit: "{item}" }
  })

/** Counter `toolspan.tool.replays`, {call}: stored results that were given again in place of a second run. For a durable runtime. */
export const toolReplays = (toolName: string) =>
  Metric.counter("toolspan.tool.replays", {
    description: "Stored results that were given again in place of a second run.",
    incremental: true,
    attributes: { [ATTR_GEN_AI_TOOL_NAME]: toolName, unit: "{call}" }
  })

/** Gauge `toolspan.approval.stored`, {approval}: all that wait, as a durable store knows them. Aggregate by `max`. */
export const approvalStored = (toolName: string) =>
  Metric.gauge("toolspan.approval.stored", {
    description: "Approvals that wait, as the store knows them.",
    attributes: { [ATTR_GEN_AI_TOOL_NAME]: toolName, unit: "{approval}" }
  })

/** Gauge `toolspan.approval.oldest`, seconds: how long the oldest in a durable store has waited, 0 if none. Aggregate by `max`. */
export const approvalOldest = (toolName: string) =>
  Metric.gauge("toolspan.approval.oldest", {
    description: "How long the oldest approval in the store has waited.",
    attributes: { [ATTR_GEN_AI_TOOL_NAME]: toolName, unit: "s" }
  })
