/**
 * What the `OTEL_*` variables do, in processes of their own.
 */
import * as Http2 from "node:http2"
import type * as Net from "node:net"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as OtlpServer from "../support/OtlpServer.ts"
import * as Ports from "../support/Ports.ts"
import * as ChildProgram from "./ChildProgram.ts"

const types = (server: OtlpServer.OtlpServer) =>
  Object.fromEntries(server.requests().map(({ headers, path }) => [path, headers["content-type"]]))

describe.concurrent("by environment", () => {
  it.live("all signals go to the endpoint as JSON, with headers and resource", () =>
    Effect.gen(function* () {
      const server = yield* OtlpServer.make
      const { code } = yield* ChildProgram.run({
        OTEL_EXPORTER_OTLP_ENDPOINT: server.url,
        OTEL_EXPORTER_OTLP_HEADERS: "x-key=all",
        OTEL_EXPORTER_OTLP_TRACES_HEADERS: "x-key=traces",
        OTEL_SERVICE_NAME: "from-name",
        OTEL_RESOURCE_ATTRIBUTES: "service.name=from-attributes,deployment.environment.name=test"
      })
      assert.strictEqual(code, 0)
      assert.deepStrictEqual(types(server), {
        "/v1/traces": "application/json",
        "/v1/metrics": "application/json",
        "/v1/logs": "application/json"
      })
      for (const { headers, path } of server.requests()) {
        assert.strictEqual(headers["x-key"], path === "/v1/traces" ? "traces" : "all")
      }
      const [span] = server.spans()
      assert.deepInclude(span, { name: "work", kind: "internal", attributes: { tries: 1 } })
      assert.deepStrictEqual(span?.status.code, "unset")
      const metric = server.metrics().find(({ name }) => name === "test.work")
      assert.deepInclude(metric, { unit: "{work}", temporality: "cumulative", monotonic: true })
      assert.deepStrictEqual(
        metric?.points.map(({ attributes, value }) => [attributes, value]),
        [[{ kind: "hard" }, 1]]
      )
      const [record] = server.logRecords()
      assert.strictEqual(record?.body, "working")
      assert.deepStrictEqual([record?.traceId, record?.spanId], [span?.traceId, span?.spanId])
      for (const signal of [span, metric, record]) {
        assert.strictEqual(signal?.resource["service.name"], "from-name")
        assert.strictEqual(signal?.resource["deployment.environment.name"], "test")
        assert.match(
          String(signal?.resource["service.instance.id"]),
          /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/
        )
        assert.strictEqual(signal?.resource["service.instance.id"], span?.resource["service.instance.id"])
      }
    })
  )

  it.live("a sampler with its argument, and a propagator", () =>
    Effect.gen(function* () {
      const server = yield* OtlpServer.make
      const { output } = yield* ChildProgram.run({
        OTEL_EXPORTER_OTLP_ENDPOINT: server.url,
        OTEL_TRACES_SAMPLER: "traceidratio",
        OTEL_TRACES_SAMPLER_ARG: "0",
        OTEL_PROPAGATORS: "b3"
      })
      assert.include(output, "headers: b3\n")
      assert.deepStrictEqual(Object.keys(types(server)).sort(), ["/v1/logs", "/v1/metrics"])
    })
  )

  it.live("none: nothing is sent", () =>
    Effect.gen(function* () {
      const server = yield* OtlpServer.make
      const { code, output } = yield* ChildProgram.run({
        OTEL_EXPORTER_OTLP_ENDPOINT: server.url,
        OTEL_TRACES_EXPORTER: "none",
        OTEL_METRICS_EXPORTER: "none",
        OTEL_LOGS_EXPORTER: "none"
      })
      assert.strictEqual(code, 0)
      assert.include(output, "done")
      assert.deepStrictEqual(server.requests(), [])
    })
  )

  it.live("console, and Zipkin next to it", () =>
    Effect.gen(function* () {
      const server = yield* OtlpServer.make
      const { output } = yield* ChildProgram.run({
        OTEL_EXPORTER_OTLP_ENDPOINT: server.url,
        OTEL_EXPORTER_ZIPKIN_ENDPOINT: `${server.url}/zipkin`,
        OTEL_TRACES_EXPORTER: "console,zipkin",
        OTEL_METRICS_EXPORTER: "console",
        OTEL_LOGS_EXPORTER: "console"
      })
      assert.match(output, /name: 'work'/)
      assert.match(output, /name: 'test\.work'/)
      assert.match(output, /body: 'working'/)
      assert.deepStrictEqual(
        server.requests().map(({ path }) => path),
        ["/zipkin"]
      )
      assert.strictEqual(JSON.parse(String(server.requests()[0]?.body))[0].name, "work")
    })
  )

  it.live("an exporter without a protocol has sdk-node's default", () =>
    Effect.gen(function* () {
      const server = yield* OtlpServer.make
      yield* ChildProgram.run({ OTEL_EXPORTER_OTLP_ENDPOINT: server.url, OTEL_TRACES_EXPORTER: "otlp" })
      assert.deepStrictEqual(types(server), {
        "/v1/traces": "application/x-protobuf",
        "/v1/metrics": "application/json",
        "/v1/logs": "application/json"
      })
    })
  )

  it.live("a protocol for each signal", () =>
    Effect.gen(function* () {
      const server = yield* OtlpServer.make
      const grpc = yield* grpcServer
      const { code } = yield* ChildProgram.run({
        OTEL_EXPORTER_OTLP_ENDPOINT: server.url,
        OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf",
        OTEL_EXPORTER_OTLP_LOGS_PROTOCOL: "http/json",
        OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "grpc",
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: grpc.url
      })
      assert.strictEqual(code, 0)
      assert.deepStrictEqual(types(server), {
        "/v1/metrics": "application/x-protobuf",
        "/v1/logs": "application/json"
      })
      assert.deepStrictEqual(grpc.calls, ["/opentelemetry.proto.collector.trace.v1.TraceService/Export"])
    })
  )

  it.live("metrics leave at the interval, in the temporality that is preferred", () =>
    Effect.gen(function* () {
      const server = yield* OtlpServer.make
      yield* ChildProgram.start("wait", {
        OTEL_EXPORTER_OTLP_ENDPOINT: server.url,
        OTEL_METRIC_EXPORT_INTERVAL: "100",
        OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: "delta"
      })
      const values = yield* server.waitFor(() => {
        const work = server.metrics().filter(({ name }) => name === "test.work")
        return work.length >= 3
          ? work.map(({ points, temporality }) => [temporality, points[0]?.value])
          : undefined
      })
      assert.deepStrictEqual(values?.slice(0, 3), [
        ["delta", 1],
        ["delta", 0],
        ["delta", 0]
      ])
    })
  )

  it.live("Prometheus reads metrics from the process", () =>
    Effect.gen(function* () {
      const port = yield* Ports.free
      const server = yield* OtlpServer.make
      const child = yield* ChildProgram.start("wait", {
        OTEL_EXPORTER_OTLP_ENDPOINT: server.url,
        OTEL_METRICS_EXPORTER: "prometheus",
        OTEL_EXPORTER_PROMETHEUS_HOST: "127.0.0.1",
        OTEL_EXPORTER_PROMETHEUS_PORT: String(port)
      })
      yield* child.said("waiting")
      const text = yield* Effect.promise(async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text())
      assert.match(text, /^test_work_total\{kind="hard"[^}]*\} 1/m)
      assert.notMatch(text, /unit="/)
    })
  )

  it.live("what is not known is warned of where OTEL_LOG_LEVEL asks, and costs nothing else", () =>
    Effect.gen(function* () {
      const server = yield* OtlpServer.make
      const { code, output } = yield* ChildProgram.run({
        OTEL_EXPORTER_OTLP_ENDPOINT: server.url,
        OTEL_LOG_LEVEL: "warn",
        OTEL_TRACES_EXPORTER: "carrier-pigeon",
        OTEL_METRICS_EXPORTER: "none",
        OTEL_EXPORTER_OTLP_LOGS_PROTOCOL: "morse",
        OTEL_BLRP_MAX_QUEUE_SIZE: "0"
      })
      assert.strictEqual(code, 0)
      assert.include(
        output,
        'Unsupported OTEL_TRACES_EXPORTER value: "carrier-pigeon". Supported values are: otlp'
      )
      assert.include(output, 'Unsupported OTLP logs protocol: "morse". Using http/protobuf.')
      assert.include(output, "OTEL_BLRP_MAX_QUEUE_SIZE (0) is invalid")
      assert.notInclude(output, "overwrit")
      assert.deepStrictEqual(types(server), { "/v1/logs": "application/x-protobuf" })
    })
  )
})

/** Answers every gRPC call with an empty message. */
const grpcServer: Effect.Effect<
  { readonly url: string; readonly calls: ReadonlyArray<string | undefined> },
  never,
  Scope.Scope
> = Effect.gen(function* () {
  const calls: Array<string | undefined> = []
  const server = Http2.createServer()
  server.on("stream", (stream, headers) => {
    calls.push(headers[":path"])
    stream.respond({ ":status": 200, "content-type": "application/grpc+proto" }, { waitForTrailers: true })
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }))
    stream.end(Buffer.alloc(5))
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
    () => Effect.sync(() => server.close())
  )
  return { url: `http://127.0.0.1:${portOf(server)}`, calls }
})

function portOf(server: Net.Server | Http2.Http2Server): number {
  const address = server.address()
  return typeof address === "object" && address !== null ? address.port : assert.fail("not listening")
}
