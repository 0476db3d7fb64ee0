/**
 * Counts the telemetry that does not arrive: `toolspan.telemetry.dropped`.
 */
import { type Counter, createNoopMeter, type Meter, type MeterProvider } from "@opentelemetry/api"
import type * as Context from "effect/Context"
import { ATTR_ERROR_TYPE, type DroppedReason } from "../semconv/Attributes.ts"
import * as Instruments from "../semconv/Instruments.ts"

/** Adds dropped items to the counter. Never throws. */
export type Count = (reason: DroppedReason, items: number) => void

/** Counts in the metric registry of `context`. */
export const count =
  (context: Context.Context<never>): Count =>
  (reason, items) =>
    Instruments.telemetryDropped(reason).updateUnsafe(items, context)

/**
 * Hears through OpenTelemetry's metrics about the processors of the SDK (the option `selfObsMeterProvider`) that a queue was full, and
 * keeps nothing else of what they report.
 */
export const queueMeter = (count: Count): MeterProvider => {
  const meter = createNoopMeter()
  const counter: Counter = {
    add: (items, attributes) => {
      if (attributes?.[ATTR_ERROR_TYPE] === "queue_full") count("queue_full", items)
    }
  }
  const listening: Meter = Object.assign(Object.create(meter), { createCounter: () => counter })
  return { getMeter: () => listening }
}
