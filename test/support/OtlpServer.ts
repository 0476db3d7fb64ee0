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
import {
  type Json,
  type LogRecord,
  type Metric,
  type Span,
  toLogRecords,
  toMetrics,
  toSpans
} from "./OtlpPayload.ts"

export type { LogRecord, Metric, Span } from "./OtlpPayload.ts"

/** A request as it arrived. Headers have lower-case names. */
export interface Request {
  readonly path: string
  readonly headers: Http.IncomingHttpHeaders
  readonly body: Buffer
  /** How it was answered. */
  readonly answer: Answer
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

const isJson = (headers: Http.IncomingHttpHeaders): boolean => headers["content-type"] === "application/json"
