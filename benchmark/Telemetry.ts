/**
 * OpenTelemetry set-ups for the benchmark: the layer that a user takes, with an exporter that takes batches and drops them.
 *
 * What leaves the process is not measured: encoding and sending happen after the call, on whatever protocol a user chose.
 */
import * as NodeSdk from "@effect/opentelemetry/NodeSdk"
import { tracing } from "@opentelemetry/sdk-node"
import * as Effect from "effect/Effect"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { Sdk } from "../src/sdk/index.ts"

/** Counts what it is given, so that a run that lost spans is seen. */
export class CountingExporter implements tracing.SpanExporter {
  count = 0

  export(spans: ReadonlyArray<tracing.ReadableSpan>, done: (result: { code: number }) => void): void {
    this.count += spans.length
    done({ code: 0 })
  }

  async shutdown(): Promise<void> {}
}

/** A runtime with `Sdk.layer`, its own exporters off, batching into `exporter`. */
export const runtime = async (exporter: tracing.SpanExporter, sampler: "always_on" | "always_off") => {
  process.env["OTEL_TRACES_EXPORTER"] = "none"
  process.env["OTEL_METRICS_EXPORTER"] = "none"
  process.env["OTEL_LOGS_EXPORTER"] = "none"
  process.env["OTEL_TRACES_SAMPLER"] = sampler
  const managed = ManagedRuntime.make(
    Sdk.layer({ spanProcessors: [new tracing.BatchSpanProcessor(exporter, { maxQueueSize: 1_000_000 })] })
  )
  await managed.runPromise(Effect.void)
  return managed
}

/** A runtime with the tracer of `@effect/opentelemetry`, batching into `exporter`. */
export const upstream = (exporter: tracing.SpanExporter) =>
  ManagedRuntime.make(NodeSdk.layer(() => ({ spanProcessor: new tracing.BatchSpanProcessor(exporter) })))
