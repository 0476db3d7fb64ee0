/**
 * OTLP JSON in plain values: what tests compare.
 */

export type Value =
  | string
  | number
  | boolean
  | ReadonlyArray<Value>
  | { readonly [key: string]: Value }
  | undefined
export type Attributes = Readonly<Record<string, Value>>

export interface Span {
  readonly resource: Attributes
  readonly scope: string
  readonly traceId: string
  readonly spanId: string
  /** Empty at a root. */
  readonly parentSpanId: string
  readonly name: string
  readonly kind: "unspecified" | "internal" | "server" | "client" | "producer" | "consumer"
  /** Nanoseconds since the epoch. */
  readonly startTime: bigint
  readonly endTime: bigint
  readonly attributes: Attributes
  readonly events: ReadonlyArray<{
    readonly name: string
    readonly time: bigint
    readonly attributes: Attributes
  }>
  readonly links: ReadonlyArray<{
    readonly traceId: string
    readonly spanId: string
    readonly attributes: Attributes
  }>
  readonly status: { readonly code: "unset" | "ok" | "error"; readonly message: string | undefined }
}

export interface Metric {
  readonly resource: Attributes
  readonly scope: string
  readonly name: string
  readonly unit: string
  readonly description: string
  readonly kind: "sum" | "gauge" | "histogram"
  /** Undefined for gauges. */
  readonly temporality: "delta" | "cumulative" | undefined
  readonly monotonic: boolean
  readonly points: ReadonlyArray<Point>
}

/** A data point: `value` of a sum or gauge; the others of a histogram. */
export interface Point {
  readonly attributes: Attributes
  readonly value: number | undefined
  readonly count: number | undefined
  readonly sum: number | undefined
  readonly min: number | undefined
  readonly max: number | undefined
  readonly bounds: ReadonlyArray<number>
  readonly buckets: ReadonlyArray<number>
}

export interface LogRecord {
  readonly resource: Attributes
  readonly scope: string
  readonly traceId: string
  readonly spanId: string
  readonly severity: string
  readonly body: Value
  readonly attributes: Attributes
}

/** JSON of a known shape: OTLP's. */
// biome-ignore lint/suspicious/noExplicitAny: the shape is the protocol's, and what is wrong with it fails the test that reads it.
export type Json = any

/** What a request for this signal carries, in its order. */
export const toSpans = (body: Json): ReadonlyArray<Span> =>
  body.resourceSpans.flatMap(({ resource, scopeSpans }: Json) =>
    scopeSpans.flatMap(({ scope, spans }: Json) =>
      spans.map(
        (span: Json): Span => ({
          resource: toAttributes(resource.attributes),
          scope: scope.name,
          traceId: span.traceId,
          spanId: span.spanId,
          parentSpanId: span.parentSpanId ?? "",
          name: span.name,
          kind: kinds[span.kind] ?? "unspecified",
          startTime: BigInt(span.startTimeUnixNano),
          endTime: BigInt(span.endTimeUnixNano),
          attributes: toAttributes(span.attributes),
          events: (span.events ?? []).map((event: Json) => ({
            name: event.name,
            time: BigInt(event.timeUnixNano),
            attributes: toAttributes(event.attributes)
          })),
          links: (span.links ?? []).map((link: Json) => ({
            traceId: link.traceId,
            spanId: link.spanId,
            attributes: toAttributes(link.attributes)
          })),
          status: { code: codes[span.status?.code ?? 0] ?? "unset", message: span.status?.message }
        })
      )
    )
  )

const kinds: ReadonlyArray<Span["kind"]> = [
  "unspecified",
  "internal",
  "server",
  "client",
  "producer",
  "consumer"
]
const codes: ReadonlyArray<Span["status"]["code"]> = ["unset", "ok", "error"]

/** What a request for this signal carries, in its order. */
export const toMetrics = (body: Json): ReadonlyArray<Metric> =>
  body.resourceMetrics.flatMap(({ resource, scopeMetrics }: Json) =>
    scopeMetrics.flatMap(({ metrics, scope }: Json) =>
      metrics.map((metric: Json): Metric => {
        const kind = metric.histogram ? "histogram" : metric.gauge ? "gauge" : "sum"
        const data = metric[kind]
        return {
          resource: toAttributes(resource.attributes),
          scope: scope.name,
          name: metric.name,
          unit: metric.unit,
          description: metric.description,
          kind,
          temporality: temporalities[data.aggregationTemporality],
          monotonic: data.isMonotonic ?? false,
          points: data.dataPoints.map(
            (point: Json): Point => ({
              attributes: toAttributes(point.attributes),
              value: toNumber(point.asDouble ?? point.asInt),
              count: toNumber(point.count),
              sum: toNumber(point.sum),
              min: toNumber(point.min),
              max: toNumber(point.max),
              bounds: (point.explicitBounds ?? []).map(Number),
              buckets: (point.bucketCounts ?? []).map(Number)
            })
          )
        }
      })
    )
  )

const temporalities: ReadonlyArray<Metric["temporality"]> = [undefined, "delta", "cumulative"]

/** What a request for this signal carries, in its order. */
export const toLogRecords = (body: Json): ReadonlyArray<LogRecord> =>
  body.resourceLogs.flatMap(({ resource, scopeLogs }: Json) =>
    scopeLogs.flatMap(({ logRecords, scope }: Json) =>
      logRecords.map(
        (record: Json): LogRecord => ({
          resource: toAttributes(resource.attributes),
          scope: scope.name,
          traceId: record.traceId ?? "",
          spanId: record.spanId ?? "",
          severity: record.severityText,
          body: toValue(record.body),
          attributes: toAttributes(record.attributes)
        })
      )
    )
  )

const toAttributes = (attributes: ReadonlyArray<Json> | undefined): Attributes =>
  Object.fromEntries((attributes ?? []).map(({ key, value }) => [key, toValue(value)]))

const toValue = (value: Json): Value => {
  if (value?.arrayValue) return (value.arrayValue.values ?? []).map(toValue)
  if (value?.kvlistValue) return toAttributes(value.kvlistValue.values)
  if (value?.intValue !== undefined) return Number(value.intValue)
  return value?.stringValue ?? value?.boolValue ?? value?.doubleValue
}

const toNumber = (value: Json): number | undefined => (value === undefined ? undefined : Number(value))
