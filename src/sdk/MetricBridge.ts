/**
 * Effect's metrics for an OpenTelemetry metric reader.
 *
 * The reading is `@effect/opentelemetry`'s; this puts right what leaves: each kind of metric in the temporality that the exporter
 * prefers (upstream has one for all), the unit on the metric and not as a label too, no extremes of an empty histogram.
 */
import * as OtelMetrics from "@effect/opentelemetry/OtelMetrics"
import type { Resource } from "@effect/opentelemetry/Resource"
import { metrics } from "@opentelemetry/sdk-node"
import * as Effect from "effect/Effect"

type Selector = (type: metrics.InstrumentType) => metrics.AggregationTemporality

/** A producer of the metrics in the registry of the context it is made in. Default temporality: cumulative. */
export const make = (
  temporality: Selector = () => metrics.AggregationTemporality.CUMULATIVE
): Effect.Effect<metrics.MetricProducer, never, Resource> =>
  Effect.gen(function* () {
    const cumulative = yield* OtelMetrics.makeProducer("cumulative")
    if (temporality(metrics.InstrumentType.COUNTER) === metrics.AggregationTemporality.CUMULATIVE) {
      return { collect: async (options) => tidy(await cumulative.collect(options)) }
    }
    const delta = yield* OtelMetrics.makeProducer("delta")
    return {
      collect: async (options) => {
        const totals = metricsOf(await cumulative.collect(options))
        return tidy(await delta.collect(options), (metric) =>
          temporality(instrumentType(metric)) === metrics.AggregationTemporality.DELTA
            ? metric
            : (totals.find(({ descriptor }) => descriptor.name === metric.descriptor.name) ?? metric)
        )
      }
    }
  })

const metricsOf = (result: metrics.CollectionResult): ReadonlyArray<metrics.MetricData> =>
  result.resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics)

/** Upstream's metric data do not say of which instrument they are, but there is one for each kind of data. */
const instrumentType = (metric: metrics.MetricData): metrics.InstrumentType => {
  switch (metric.dataPointType) {
    case metrics.DataPointType.SUM:
      return metric.isMonotonic ? metrics.InstrumentType.COUNTER : metrics.InstrumentType.UP_DOWN_COUNTER
    case metrics.DataPointType.GAUGE:
      return metrics.InstrumentType.OBSERVABLE_GAUGE
    default:
      return metrics.InstrumentType.HISTOGRAM
  }
}

const tidy = (
  { errors, resourceMetrics }: metrics.CollectionResult,
  choose = (metric: metrics.MetricData) => metric
): metrics.CollectionResult => ({
  errors,
  resourceMetrics: {
    resource: resourceMetrics.resource,
    scopeMetrics: resourceMetrics.scopeMetrics
      .filter((scope) => scope.metrics.length > 0)
      .map((scope) => ({ ...scope, metrics: scope.metrics.map((metric) => tidyMetric(choose(metric))) }))
  }
})

const tidyMetric = (metric: metrics.MetricData): metrics.MetricData => {
  const { unit } = metric.descriptor
  switch (metric.dataPointType) {
    case metrics.DataPointType.HISTOGRAM:
      return {
        ...metric,
        dataPoints: metric.dataPoints.map((point) =>
          withoutUnit({ ...point, value: extremes(point.value) }, unit)
        )
      }
    case metrics.DataPointType.EXPONENTIAL_HISTOGRAM:
      return metric
    default:
      return { ...metric, dataPoints: metric.dataPoints.map((point) => withoutUnit(point, unit)) }
  }
}

/** A label that says another unit than the metric's is left: without it two series could become one. */
const withoutUnit = <A>(point: metrics.DataPoint<A>, unit: string): metrics.DataPoint<A> => {
  if (point.attributes["unit"] !== unit) return point
  const { unit: _, ...attributes } = point.attributes
  return { ...point, attributes }
}

const extremes = ({ max, min, ...histogram }: metrics.Histogram): metrics.Histogram =>
  histogram.count === 0 || min === undefined || max === undefined ? histogram : { ...histogram, min, max }
