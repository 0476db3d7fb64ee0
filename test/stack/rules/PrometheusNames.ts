/**
 * The names of `src/semconv/` as they arrive in Prometheus, over OTLP with the translation strategy `UnderscoreEscapingWithSuffixes`.
 */
import * as Context from "effect/Context"
import * as Metric from "effect/Metric"
import * as Attributes from "../../../src/semconv/Attributes.ts"
import * as Instruments from "../../../src/semconv/Instruments.ts"

/** Of an attribute: the label. */
export const label = (attribute: string): string => attribute.replaceAll(/[^\w]/g, "_")

/** Of an instrument: the metrics. */
export const metrics = (instrument: Metric.Metric<unknown, unknown>): ReadonlyArray<string> => {
  const base = `${label(instrument.id)}${instrument.attributes?.["unit"] === "s" ? "_seconds" : ""}`
  if (instrument.type === "Histogram") return [`${base}_bucket`, `${base}_count`, `${base}_sum`]
  return [isIncremental(instrument) ? `${base}_total` : base]
}

/** Every instrument that `Instruments.ts` makes. */
export const instruments: ReadonlyArray<Metric.Metric<unknown, unknown>> = Object.values(Instruments).flatMap(
  (make) =>
    // What they take, names and values of attributes, is no part of a metric's name.
    typeof make === "function" ? [Reflect.apply(make, undefined, ["t", "t"])] : []
)

/** Every attribute that `Attributes.ts` names. */
export const attributes: ReadonlyArray<string> = Object.entries(Attributes).flatMap(([name, value]) =>
  name.startsWith("ATTR_") && typeof value === "string" ? [value] : []
)

const isIncremental = (instrument: Metric.Metric<unknown, unknown>): boolean => {
  if (instrument.type !== "Counter") return false
  const state = instrument.valueUnsafe(Context.make(Metric.MetricRegistry, new Map()))
  return typeof state === "object" && state !== null && "incremental" in state && state.incremental === true
}
