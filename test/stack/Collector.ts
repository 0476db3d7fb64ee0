/**
 * The collector with `collector-config.yaml`.
 */
import * as Path from "node:path"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Build from "./Build.ts"
import * as Programs from "./Programs.ts"
import * as Shipped from "./Shipped.ts"
import * as Supervised from "./Supervised.ts"

export const ports = ["otlpGrpc", "otlpHttp", "collectorHealth", "collectorMetrics"] as const

export interface Options {
  /** Where it keeps its queue, in a folder of its own. */
  readonly folder: string
  readonly ports: Readonly<Record<(typeof ports)[number], number>>
  /** `{host}:{port}` of OTLP over gRPC. */
  readonly jaeger: string
  /** `http://{host}:{port}`. */
  readonly prometheus: string
  readonly environment?: Readonly<Record<string, string>> | undefined
  /** A second configuration, as YAML, that is laid over the shipped one. */
  readonly overlay?: string
}

/** Not started yet. */
export const make = (
  options: Options
): Effect.Effect<Supervised.Supervised, Build.BuildFailed, Scope.Scope> =>
  Effect.gen(function* () {
    const health = `127.0.0.1:${options.ports.collectorHealth}`
    return yield* Supervised.make({
      name: "collector",
      path: yield* Programs.path("otelcol"),
      args: [
        `--config=${Shipped.path("collector-config.yaml")}`,
        ...(options.overlay === undefined ? [] : [`--config=yaml:${options.overlay}`])
      ],
      environment: { ...environment(options, health), ...options.environment },
      ready: `http://${health}/`
    })
  })

const environment = (
  { folder, jaeger, ports, prometheus }: Options,
  health: string
): Readonly<Record<string, string>> => ({
  OTLP_GRPC_ENDPOINT: `127.0.0.1:${ports.otlpGrpc}`,
  OTLP_HTTP_ENDPOINT: `127.0.0.1:${ports.otlpHttp}`,
  HEALTH_ENDPOINT: health,
  COLLECTOR_METRICS_HOST: "127.0.0.1",
  COLLECTOR_METRICS_PORT: String(ports.collectorMetrics),
  COLLECTOR_STORAGE: Path.join(folder, "collector"),
  JAEGER_ENDPOINT: jaeger,
  PROMETHEUS_OTLP_ENDPOINT: `${prometheus}/api/v1/otlp/v1/metrics`
})
