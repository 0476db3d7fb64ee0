/**
 * Builds what stands between the program and the exporters: span processors, log record processors, metric readers.
 *
 * An exporter that cannot be made is left out, with an error on OpenTelemetry's diagnostic channel.
 */
import { diag } from "@opentelemetry/api"
import { logs, metrics, tracing } from "@opentelemetry/sdk-node"
import * as Effect from "effect/Effect"
import * as Dropped from "./Dropped.ts"
import * as Exporters from "./Exporters.ts"
import { ExportGuard } from "./ExportGuard.ts"
import * as MetricBridge from "./MetricBridge.ts"
import * as MissingPackage from "./MissingPackage.ts"
import type { Requests } from "./Requests.ts"
import * as Scrubbing from "./Scrubbing.ts"
import * as Settings from "./Settings.ts"

/** What a guard is to the end of the program. */
type Guard = Pick<ExportGuard<unknown>, "abandon" | "drain" | "forceFlush">

/** The way out for one signal. Empty stages: the signal is off. */
export interface Pipeline<Stage> {
  readonly stages: Array<Stage>
  readonly guards: ReadonlyArray<Guard>
}

/** Spans: masked first, then past `extra`, then to the exporters. */
export const spans = Effect.fnUntraced(function* (
  requests: Requests,
  count: Dropped.Count,
  extra: ReadonlyArray<tracing.SpanProcessor>
) {
  const exporters = yield* MissingPackage.load(Exporters.traces)
  const batches = Settings.batch("BSP")
  const guards = exporters.remote.flatMap((make) =>
    attempt(
      () => new ExportGuard<Array<tracing.ReadableSpan>>(make, items(count, batches.maxQueueSize), requests)
    )
  )
  const stages = [
    ...extra.map(contained),
    ...(exporters.console ? [new tracing.SimpleSpanProcessor(new tracing.ConsoleSpanExporter())] : []),
    ...guards.map((guard) => {
      const settings = { ...batches, selfObsMeterProvider: Dropped.queueMeter(count) }
      return new tracing.BatchSpanProcessor(guard, settings)
    })
  ]
  return masked<tracing.SpanProcessor>(Scrubbing.spanProcessor, stages, guards)
})

/** Log records: masked first, then to the exporters. */
export const logRecords = Effect.fnUntraced(function* (requests: Requests, count: Dropped.Count) {
  const exporters = yield* MissingPackage.load(Exporters.logRecords)
  const batches = Settings.batch("BLRP")
  const guards = exporters.remote.flatMap((make) =>
    attempt(
      () =>
        new ExportGuard<Array<logs.ReadableLogRecord>, logs.LogRecordExporter>(
          make,
          items(count, batches.maxQueueSize),
          requests
        )
    )
  )
  const stages = [
    ...(exporters.console
      ? [new logs.SimpleLogRecordProcessor({ exporter: new logs.ConsoleLogRecordExporter() })]
      : []),
    ...guards.map((exporter) => {
      const settings = { ...batches, selfObsMeterProvider: Dropped.queueMeter(count) }
      return new logs.BatchLogRecordProcessor({ exporter, ...settings })
    })
  ]
  return masked<logs.LogRecordProcessor>(Scrubbing.logRecordProcessor, stages, guards)
})

/** Metrics: those of Effect and those of the OpenTelemetry API, in one export. */
export const measures = Effect.fnUntraced(function* (requests: Requests) {
  const exporters = yield* MissingPackage.load(Exporters.measures)
  const guards = exporters.remote.flatMap((make) => attempt(() => new MetricGuard(make, requests)))
  const printers = exporters.console ? [new metrics.ConsoleMetricExporter()] : []
  const stages: Array<metrics.IMetricReader> = []
  for (const exporter of [...guards, ...printers]) {
    const producer = yield* MetricBridge.make((type) => exporter.selectAggregationTemporality(type))
    stages.push(
      new metrics.PeriodicExportingMetricReader({
        exporter,
        metricProducers: [producer],
        ...Settings.reader()
      })
    )
  }
  if (exporters.prometheus) {
    const { PrometheusExporter } = yield* MissingPackage.load(
      () => import("@opentelemetry/exporter-prometheus")
    )
    stages.push(new PrometheusExporter({ metricProducers: [yield* MetricBridge.make()] }))
  }
  return { stages, guards } satisfies Pipeline<metrics.IMetricReader>
})

/** A guard that also answers what a metric reader asks of its exporter. What fails is not counted: the next export has the totals. */
class MetricGuard
  extends ExportGuard<metrics.ResourceMetrics, metrics.PushMetricExporter>
  implements metrics.PushMetricExporter
{
  constructor(make: Exporters.Make<metrics.PushMetricExporter>, requests: Requests) {
    super(make, { halves: () => undefined, lost: () => undefined, size: () => 0, kept: 0 }, requests)
  }

  selectAggregationTemporality(type: metrics.InstrumentType): metrics.AggregationTemporality {
    return this.inner.selectAggregationTemporality?.(type) ?? metrics.AggregationTemporality.CUMULATIVE
  }

  selectAggregation(type: metrics.InstrumentType): metrics.AggregationOption {
    return this.inner.selectAggregation?.(type) ?? { type: metrics.AggregationType.DEFAULT }
  }
}

/** Batches that are lists of items: they can be halved, and each item that is lost counts. `kept`: as many as the queue before takes. */
const items = (count: Dropped.Count, kept: number) => ({
  halves: <Item>(batch: ReadonlyArray<Item>): readonly [Array<Item>, Array<Item>] | undefined => {
    const middle = batch.length >> 1
    return middle === 0 ? undefined : [batch.slice(0, middle), batch.slice(middle)]
  },
  lost: (batch: ReadonlyArray<unknown>) => count("export_failed", batch.length),
  size: (batch: ReadonlyArray<unknown>) => batch.length,
  kept
})

const masked = <Stage>(
  first: Stage,
  stages: Array<Stage>,
  guards: ReadonlyArray<Guard>
): Pipeline<Stage> => ({
  stages: stages.length === 0 ? [] : [first, ...stages],
  guards
})

/** A processor of the program's: what it throws must not reach the program, nor keep the span from those behind it. */
const contained = (processor: tracing.SpanProcessor): tracing.SpanProcessor => {
  const report = (error: unknown) => diag.error("toolspan: a span processor threw", error)
  const quietly = (call: () => void): void => {
    try {
      call()
    } catch (error) {
      report(error)
    }
  }
  return {
    onStart: (span, context) => quietly(() => processor.onStart(span, context)),
    onEnding: (span) => quietly(() => processor.onEnding?.(span)),
    onEnd: (span) => quietly(() => processor.onEnd(span)),
    forceFlush: async () => processor.forceFlush(),
    shutdown: async () => processor.shutdown()
  }
}

const attempt = <A>(make: () => A): ReadonlyArray<A> => {
  try {
    return [make()]
  } catch (error) {
    diag.error("toolspan: an exporter could not be made, and is left out", error)
    return []
  }
}
