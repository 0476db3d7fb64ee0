/**
 * What the collector with its shipped file passes on to a back end: spans where Jaeger would be, and log records.
 *
 * The exporters alone are others: OTLP/HTTP as plain JSON, which the test server reads. Receivers, processors and their order are the
 * file's.
 */
import { tmpdir } from "node:os"
import * as Path from "node:path"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as OtlpServer from "../support/OtlpServer.ts"
import type * as Build from "./Build.ts"
import * as Collector from "./Collector.ts"
import * as Folder from "./Folder.ts"
import * as Ports from "./Ports.ts"
import type * as Supervised from "./Supervised.ts"

export interface Delivered {
  /** Where programs send OTLP/HTTP. */
  readonly url: string
  readonly backend: OtlpServer.OtlpServer
}

const overlay = (backend: string) => `
exporters:
  otlp_http/test: { endpoint: "${backend}", encoding: json, compression: none, sending_queue: { enabled: false } }
service:
  pipelines:
    traces: { exporters: [otlp_http/test, span_metrics] }
    metrics: { exporters: [otlp_http/test] }
    metrics/spans: { exporters: [otlp_http/test] }
    logs: { exporters: [otlp_http/test] }
`

export const make: Effect.Effect<Delivered, Build.BuildFailed | Supervised.NotRunning, Scope.Scope> =
  Effect.gen(function* () {
    const folder = yield* Folder.make(Path.join(tmpdir(), "toolspan-collector-"))
    const ports = yield* Ports.free(Collector.ports)
    const backend = yield* OtlpServer.make
    const collector = yield* Collector.make({
      folder,
      ports,
      jaeger: "127.0.0.1:1",
      prometheus: "http://127.0.0.1:1",
      overlay: overlay(backend.url)
    })
    yield* collector.start
    return { url: `http://127.0.0.1:${ports.otlpHttp}`, backend }
  })
