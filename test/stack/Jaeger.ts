/**
 * Jaeger with `stack/jaeger/`. Built from its module it has the HTTP API and no pages.
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Build from "./Build.ts"
import * as Programs from "./Programs.ts"
import * as Shipped from "./Shipped.ts"
import * as Supervised from "./Supervised.ts"

export const ports = ["jaegerOtlp", "jaegerHttp", "jaegerGrpc", "jaegerHealth", "jaegerMetrics"] as const

export interface Options {
  /** Where it keeps traces, in a folder of its own. */
  readonly folder: string
  readonly ports: Readonly<Record<(typeof ports)[number], number>>
  /** `http://{host}:{port}`, for the Monitor tab. */
  readonly prometheus: string
}

/** Not started yet. */
export const make = (
  options: Options
): Effect.Effect<Supervised.Supervised, Build.BuildFailed, Scope.Scope> =>
  Effect.gen(function* () {
    const storage = Path.join(options.folder, "jaeger")
    Fs.mkdirSync(storage, { recursive: true })
    return yield* Supervised.make({
      name: "jaeger",
      path: yield* Programs.path("jaeger"),
      args: [`--config=${Shipped.path("stack/jaeger/jaeger.yaml")}`],
      environment: { ...environment(options), JAEGER_STORAGE: storage },
      ready: `http://127.0.0.1:${options.ports.jaegerHealth}/status`
    })
  })

/** All but the folder of its data. */
export const environment = ({
  ports,
  prometheus
}: Pick<Options, "ports" | "prometheus">): Readonly<Record<string, string>> => ({
  JAEGER_LISTEN_HOST: "127.0.0.1",
  JAEGER_OTLP_PORT: String(ports.jaegerOtlp),
  JAEGER_HTTP_PORT: String(ports.jaegerHttp),
  JAEGER_GRPC_PORT: String(ports.jaegerGrpc),
  JAEGER_HEALTH_PORT: String(ports.jaegerHealth),
  JAEGER_METRICS_PORT: String(ports.jaegerMetrics),
  JAEGER_UI_CONFIG: Shipped.path("stack/jaeger/ui/ui.json"),
  PROMETHEUS_URL: prometheus
})
