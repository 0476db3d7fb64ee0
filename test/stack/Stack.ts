/**
 * The whole stack, run natively on free ports of the loopback interface: collector, Jaeger, Prometheus and Alertmanager, each with its
 * shipped file. Only addresses and folders are changed. All of it is gone when the scope closes.
 */
import { tmpdir } from "node:os"
import * as Path from "node:path"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Alertmanager from "./Alertmanager.ts"
import type * as Build from "./Build.ts"
import * as Collector from "./Collector.ts"
import * as Folder from "./Folder.ts"
import * as Jaeger from "./Jaeger.ts"
import * as Ports from "./Ports.ts"
import * as Prometheus from "./Prometheus.ts"
import type * as Supervised from "./Supervised.ts"

export interface Stack {
  /** `http://127.0.0.1:{port}`: OTLP over HTTP, for `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly otlpHttp: string
  /** The same over gRPC. */
  readonly otlpGrpc: string
  /** The collector's own metrics, in Prometheus' text format. */
  readonly collectorMetrics: string
  /** These three: UI and HTTP API, without a slash at the end. */
  readonly jaeger: string
  readonly prometheus: string
  readonly alertmanager: string
  /** They run. Each can be killed and started again, with the same addresses and data. */
  readonly programs: {
    readonly collector: Supervised.Supervised
    readonly jaeger: Supervised.Supervised
    readonly prometheus: Supervised.Supervised
    readonly alertmanager: Supervised.Supervised
  }
}

export interface Options {
  /** Gets the messages of Alertmanager, at `/page`, `/ticket`, `/info` and `/heartbeat`. No slash at the end. */
  readonly webhook?: string
  /** More environment variables of the collector: the sizes of its queues, say. See `collector-config.yaml`. */
  readonly collector?: Readonly<Record<string, string>>
}

/** Needs all programs (see `Programs.skipReason`). Takes a few seconds once they are built. */
export const make = (
  options: Options = {}
): Effect.Effect<Stack, Build.BuildFailed | Supervised.NotRunning, Scope.Scope> =>
  Effect.gen(function* () {
    const folder = yield* Folder.make(Path.join(tmpdir(), "toolspan-stack-"))
    const ports = yield* Ports.free([...Collector.ports, ...Jaeger.ports, "prometheus", "alertmanager"])
    const url = (port: number) => `http://127.0.0.1:${port}`
    const urls = {
      prometheus: url(ports.prometheus),
      alertmanager: url(ports.alertmanager),
      jaeger: url(ports.jaegerHttp)
    }
    const jaeger = yield* Jaeger.make({ folder, ports, prometheus: urls.prometheus })
    const prometheus = yield* Prometheus.make({ folder, ports, jaeger: urls.jaeger })
    const alertmanager = yield* Alertmanager.make({
      folder,
      port: ports.alertmanager,
      webhook: options.webhook
    })
    const collector = yield* Collector.make({
      folder,
      ports,
      jaeger: `127.0.0.1:${ports.jaegerOtlp}`,
      prometheus: urls.prometheus,
      environment: options.collector
    })
    const programs = { collector, jaeger, prometheus, alertmanager }
    yield* Effect.forEach(Object.values(programs), ({ start }) => start, { concurrency: "unbounded" })
    return {
      otlpHttp: url(ports.otlpHttp),
      otlpGrpc: url(ports.otlpGrpc),
      collectorMetrics: `${url(ports.collectorMetrics)}/metrics`,
      ...urls,
      programs
    }
  })
