/**
 * Prometheus with `stack/prometheus/` and the flags of `docker-compose.yml`. Its files know no variables: they are copied with other
 * addresses.
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Build from "./Build.ts"
import * as Compose from "./Compose.ts"
import * as Flags from "./Flags.ts"
import * as Programs from "./Programs.ts"
import * as Shipped from "./Shipped.ts"
import * as Supervised from "./Supervised.ts"

const FILE = "stack/prometheus/prometheus.yml"

export interface Options {
  readonly folder: string
  readonly ports: {
    readonly prometheus: number
    readonly alertmanager: number
    readonly collectorMetrics: number
    readonly jaegerMetrics: number
  }
  /** `http://{host}:{port}`, for the links in alerts. */
  readonly jaeger: string
}

/** Not started yet. */
export const make = (
  options: Options
): Effect.Effect<Supervised.Supervised, Build.BuildFailed, Scope.Scope> =>
  Effect.gen(function* () {
    const folder = Path.join(options.folder, "prometheus")
    const own = `127.0.0.1:${options.ports.prometheus}`
    Fs.mkdirSync(folder, { recursive: true })
    Fs.writeFileSync(Path.join(folder, "prometheus.yml"), configuration(options))
    Shipped.copyFolder("stack/prometheus/rules", ".rules.yml", Path.join(folder, "rules"), [
      ["http://localhost:16686", options.jaeger],
      ["http://localhost:9090", `http://${own}`]
    ])
    const { services } = yield* Compose.read
    return yield* Supervised.make({
      name: "prometheus",
      path: yield* Programs.path("prometheus"),
      args: Flags.withValues(services["prometheus"]?.command ?? [], {
        "config.file": Path.join(folder, "prometheus.yml"),
        "storage.tsdb.path": Path.join(folder, "data"),
        "web.external-url": `http://${own}/`,
        "web.listen-address": own
      }),
      ready: `http://${own}/-/ready`
    })
  })

const configuration = ({ ports }: Options): string =>
  Shipped.changed(
    Shipped.read(FILE),
    [
      ["collector:8888", `127.0.0.1:${ports.collectorMetrics}`],
      ["jaeger:8888", `127.0.0.1:${ports.jaegerMetrics}`],
      ["alertmanager:9093", `127.0.0.1:${ports.alertmanager}`],
      ["localhost:9090", `127.0.0.1:${ports.prometheus}`]
    ],
    FILE
  )
