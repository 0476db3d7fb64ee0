/**
 * The metric instruments that toolspan updates: names, units, descriptions and bucket advice.
 *
 * `gen_ai.execute_tool.duration` follows the OpenTelemetry GenAI conventions. Units travel in the attribute `unit`,
 * where `@effect/opentelemetry` and Effect's own exporters look for them; the `sdk/` room takes that attribute off the data
 * points on the way out. Attributes of a series are set by whoever records it.
 */
import * as Metric from "effect/Metric"
import { ATTR_GEN_AI_TOOL_NAME, ATTR_TOOLSPAN_DROPPED_REASON, type DroppedReason } from "./Attributes.ts"

type Attributes = Readonly<Record<string, string>>

/** Seconds, doubling from 10 ms to 81.92 s: the advice of the conventions. */
export const DURATION_BUCKETS: ReadonlyArray<number> = Array.from({ length: 14 }, (_, n) => 0.01 * 2 ** n)

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

/** Counter `toolspan.telemetry.dropped`, {item}: telemetry that could not be captured or delivered. */
export const telemetryDropped = (reason: DroppedReason) =>
  Metric.counter("toolspan.telemetry.dropped", {
    description:
      "Pieces of telemetry that were dropped: attributes not captured, spans and logs not delivered.",
    incremental: true,
    attributes: { [ATTR_TOOLSPAN_DROPPED_REASON]: reason, unit: "{item}" }
  })
