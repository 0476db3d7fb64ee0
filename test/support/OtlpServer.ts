/**
 * An OTLP endpoint on localhost for tests: receives traces, metrics and logs as OTLP/HTTP JSON and shows them in plain values, decoded
 * from the bytes that arrived.
 *
 * How it answers can be scripted: status codes, or never. Protobuf requests are kept with their headers and bytes, not decoded.
 */
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

export type Value =
  | string
  | number
  | boolean
  | ReadonlyArray<Value>
  | { readonly [key: string]: Value }
  | undefined
export type Attributes = Readonly<Record<string, Value>>

/** A request as it arrived. Headers have lower-case names. */
export interface Request {
  readonly path: string
  readonly headers: Http.IncomingHttpHeaders
  readonly body: Buffer
  /** How it was answered. */
  readonly answer: Answer
}

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

/** A status code, with response headers if need be, or no answer at all. */
export type Answer =
  | number
  | { readonly status: number; readonly headers: Readonly<Record<string, string>> }
  | "hang"

export interface OtlpServer {
  /** `http://localhost:{port}`, for `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly url: string
  /** Decides how requests are answered from now on; default 200. Gets the path and the decoded JSON body, if it is one. */
  readonly answerWith: (answer: (path: string, body: unknown) => Answer) => void
  /** All requests so far, answered or not, in the order of arrival. */
  readonly requests: () => ReadonlyArray<Request>
  /** What arrived in JSON requests that were answered with 200, in the order of arrival. */
  readonly spans: () => ReadonlyArray<Span>
  readonly metrics: () => ReadonlyArray<Metric>
  readonly logRecords: () => ReadonlyArray<LogRecord>
  /** Waits until `found` gives something other than undefined, looking after each request; null after `seconds` (default 10). */
  readonly waitFor: <A>(
    found: (server: OtlpServer) => A | undefined,
    seconds?: number
  ) => Effect.Effect<A | null>
}

/** Listens on a free port until the scope closes. */
export const make: Effect.Effect<OtlpServer, never, Scope.Scope> = Effect.gen(function* () {
  const requests: Array<Request> = []
  const waiting = new Set<() => void>()
  let answerTo: (path: string, body: unknown) => Answer = () => 200

  const http = Http.createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const path = request.url ?? ""
      const body = Buffer.concat(chunks)
      const answer = answerTo(path, isJson(request.headers) ? JSON.parse(body.toString()) : undefined)
      requests.push({ path, headers: request.headers, body, answer })
      for (const look of waiting) look()
      if (answer === "hang") return
      const { headers, status } = typeof answer === "number" ? { headers: {}, status: answer } : answer
      response.writeHead(status, { "content-type": "application/json", ...headers }).end("{}")
    })
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve))),
    () =>
      Effect.promise(() => {
        http.closeAllConnections()
        return new Promise((resolve) => http.close(resolve))
      })
  )
  // A server that listens on TCP has an address of this kind.
  const { port } = http.address() as AddressInfo

  const received = (path: string): ReadonlyArray<Json> =>
    requests
      .filter((request) => request.path === path && request.answer === 200 && isJson(request.headers))
      .map((request) => JSON.parse(request.body.toString()))

  const server: OtlpServer = {
    url: `http://127.0.0.1:${port}`,
    answerWith: (answer) => {
      answerTo = answer
    },
    requests: () => requests,
    spans: () => received("/v1/traces").flatMap(toSpans),
    metrics: () => received("/v1/metrics").flatMap(toMetrics),
    logRecords: () => received("/v1/logs").flatMap(toLogRecords),
    waitFor: <A>(found: (server: OtlpServer) => A | undefined, seconds = 10) =>
      Effect.promise(
        () =>
          new Promise<A | null>((resolve) => {
            const finish = (value: A | null) => {
              waiting.delete(look)
              clearTimeout(timer)
              resolve(value)
            }
            const timer = setTimeout(() => finish(null), seconds * 1000)
            const look = () => {
              const value = found(server)
              if (value !== undefined) finish(value)
            }
            waiting.add(look)
            look()
          })
      )
  }
  return server
})

/** JSON of a known shape: OTLP's. */
// biome-ignore lint/suspicious/noExplicitAny: the shape is the protocol's, and what is wrong with it fails the test that reads it.
type Json = any

const isJson = (headers: Http.IncomingHttpHeaders): boolean => headers["content-type"] === "application/json"

const toSpans = (body: Json): ReadonlyArray<Span> =>
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

const toMetrics = (body: Json): ReadonlyArray<Metric> =>
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
          temporality: [undefined, "delta", "cumulative"][
            data.aggregationTemporality
          ] as Metric["temporality"],
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

const toLogRecords = (body: Json): ReadonlyArray<LogRecord> =>
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
