/**
 * Which exporters the environment asks for.
 *
 * Reads `OTEL_{TRACES,METRICS,LOGS}_EXPORTER`, `OTEL_EXPORTER_OTLP_{TRACES,METRICS,LOGS}_PROTOCOL` and `OTEL_EXPORTER_OTLP_PROTOCOL` as
 * `@opentelemetry/sdk-node` does, warnings on OpenTelemetry's diagnostic channel included, because sdk-node keeps what it makes of them
 * to itself. One difference: where a signal has neither variable, it goes out as OTLP/HTTP with JSON. An exporter's package is loaded
 * only when the exporter is chosen; endpoint, headers, timeout, compression and certificates are read there.
 */
import { diag } from "@opentelemetry/api"
import { core, type logs, type metrics, type tracing } from "@opentelemetry/sdk-node"

/** Makes an exporter; a timeout shortens the one in the environment. Throws what the exporter's constructor throws. */
export type Make<E> = (timeoutMillis?: number) => E

/** The exporters of one signal. */
interface Chosen<E> {
  /** They send over the network. */
  readonly remote: ReadonlyArray<Make<E>>
  /** Whether to print. */
  readonly console: boolean
}

/** The exporters for spans. */
export const traces = async (): Promise<Chosen<tracing.SpanExporter>> => {
  const { names, protocol } = read("TRACES", ["otlp", "console", "zipkin"])
  const remote: Array<Make<tracing.SpanExporter>> = []
  if (names.has("otlp")) {
    const { OTLPTraceExporter } = await otlpTraces[protocol]()
    remote.push((timeout) => new OTLPTraceExporter(config("TRACES", timeout)))
  }
  if (names.has("zipkin")) {
    const { ZipkinExporter } = await import("@opentelemetry/exporter-zipkin")
    remote.push(() => new ZipkinExporter())
  }
  return { remote, console: names.has("console") }
}

/** The exporters for metrics, and whether to serve them to Prometheus. */
export const measures = async (): Promise<Chosen<metrics.PushMetricExporter> & { prometheus: boolean }> => {
  const { names, protocol } = read("METRICS", ["otlp", "console", "prometheus"])
  const remote: Array<Make<metrics.PushMetricExporter>> = []
  if (names.has("otlp")) {
    const { OTLPMetricExporter } = await otlpMetrics[protocol]()
    remote.push((timeout) => new OTLPMetricExporter(config("METRICS", timeout)))
  }
  return { remote, console: names.has("console"), prometheus: names.has("prometheus") }
}

/** The exporters for log records. */
export const logRecords = async (): Promise<Chosen<logs.LogRecordExporter>> => {
  const { names, protocol } = read("LOGS", ["otlp", "console"])
  const remote: Array<Make<logs.LogRecordExporter>> = []
  if (names.has("otlp")) {
    const { OTLPLogExporter } = await otlpLogs[protocol]()
    remote.push((timeout) => new OTLPLogExporter(config("LOGS", timeout)))
  }
  return { remote, console: names.has("console") }
}

/** Never a longer timeout than the one in the environment. */
const config = (signal: Signal, timeoutMillis: number | undefined): { timeoutMillis?: number } => {
  if (timeoutMillis === undefined) return {}
  const set =
    core.getNumberFromEnv(`OTEL_EXPORTER_OTLP_${signal}_TIMEOUT`) ??
    core.getNumberFromEnv("OTEL_EXPORTER_OTLP_TIMEOUT")
  return { timeoutMillis: set !== undefined && set > 0 ? Math.min(set, timeoutMillis) : timeoutMillis }
}

type Signal = "TRACES" | "METRICS" | "LOGS"
type Protocol = "grpc" | "http/json" | "http/protobuf"

const otlpTraces = {
  grpc: () => import("@opentelemetry/exporter-trace-otlp-grpc"),
  "http/json": () => import("@opentelemetry/exporter-trace-otlp-http"),
  "http/protobuf": () => import("@opentelemetry/exporter-trace-otlp-proto")
}

const otlpMetrics = {
  grpc: () => import("@opentelemetry/exporter-metrics-otlp-grpc"),
  "http/json": () => import("@opentelemetry/exporter-metrics-otlp-http"),
  "http/protobuf": () => import("@opentelemetry/exporter-metrics-otlp-proto")
}

const otlpLogs = {
  grpc: () => import("@opentelemetry/exporter-logs-otlp-grpc"),
  "http/json": () => import("@opentelemetry/exporter-logs-otlp-http"),
  "http/protobuf": () => import("@opentelemetry/exporter-logs-otlp-proto")
}

const read = (signal: Signal, known: ReadonlyArray<string>) => {
  const asked = core.getStringListFromEnv(`OTEL_${signal}_EXPORTER`) ?? []
  return { names: namesOf(signal, asked, known), protocol: protocolOf(signal, asked.length > 0) }
}

const namesOf = (signal: Signal, asked: ReadonlyArray<string>, known: ReadonlyArray<string>): Set<string> => {
  if (asked.length === 0) return new Set(["otlp"])
  if (asked.includes("none")) {
    // Of spans, and only of them, sdk-node takes a "none" behind other names for a mistake.
    if (signal === "TRACES" && asked[0] !== "none") {
      diag.warn(
        `OTEL_${signal}_EXPORTER contains "none" along with other exporters. Using default otlp exporter.`
      )
      return new Set(["otlp"])
    }
    diag.info(`OTEL_${signal}_EXPORTER contains "none". Nothing of this signal is exported.`)
    return new Set()
  }
  const names = new Set(asked)
  for (const name of names) {
    if (known.includes(name)) continue
    diag.warn(
      `Unsupported OTEL_${signal}_EXPORTER value: "${name}". Supported values are: ${known.join(", ")}, none.`
    )
  }
  return names
}

const protocolOf = (signal: Signal, exporterAsked: boolean): Protocol => {
  const asked = (
    core.getStringFromEnv(`OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`) ??
    core.getStringFromEnv("OTEL_EXPORTER_OTLP_PROTOCOL")
  )?.trim()
  switch (asked) {
    case undefined:
      return exporterAsked ? "http/protobuf" : "http/json"
    case "grpc":
    case "http/json":
    case "http/protobuf":
      return asked
  }
  diag.warn(`Unsupported OTLP ${signal.toLowerCase()} protocol: "${asked}". Using http/protobuf.`)
  return "http/protobuf"
}
