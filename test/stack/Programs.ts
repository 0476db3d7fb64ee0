/**
 * The real programs that the stack tests run: which, in which version, and where their binaries are.
 *
 * Each is built from its own small Go module under `programs/`, since their dependencies contradict one another. How a build goes and
 * where it is kept, `Build.ts` knows.
 */
import * as Effect from "effect/Effect"
import * as Build from "./Build.ts"

/** In the order in which they are built: the quickest first, so that what is missing shows early. */
export const binaries = [
  "alertmanager",
  "amtool",
  "docker-compose",
  "otelcol",
  "jaeger",
  "prometheus",
  "promtool"
] as const

export type Binary = (typeof binaries)[number]

const version = (module: string, value: string) => `-X ${module}.Version=${value}`

const programs: ReadonlyArray<Build.Program> = [
  {
    name: "alertmanager",
    // Later ones do not build from their module: the page they embed is not in it.
    version: "0.31.1",
    binaries: {
      alertmanager: "github.com/prometheus/alertmanager/cmd/alertmanager",
      amtool: "github.com/prometheus/alertmanager/cmd/amtool"
    },
    link: version("github.com/prometheus/common/version", "0.31.1")
  },
  {
    name: "compose",
    version: "2.40.3",
    binaries: { "docker-compose": "github.com/docker/compose/v2/cmd" },
    link: version("github.com/docker/compose/v2/internal", "2.40.3")
  },
  {
    name: "collector",
    version: "0.161.0",
    binaries: { otelcol: "go.opentelemetry.io/collector/cmd/builder" },
    manifest: "manifest.yaml"
  },
  {
    name: "jaeger",
    // Module v1.76.0 is 2.13.0: later ones cannot be required as modules.
    version: "2.13.0",
    binaries: { jaeger: "github.com/jaegertracing/jaeger/cmd/jaeger" },
    link: "-X github.com/jaegertracing/jaeger/internal/version.latestVersion=2.13.0"
  },
  {
    name: "prometheus",
    // Module v0.315.0.
    version: "3.15.0",
    binaries: {
      prometheus: "github.com/prometheus/prometheus/cmd/prometheus",
      promtool: "github.com/prometheus/prometheus/cmd/promtool"
    },
    link: version("github.com/prometheus/common/version", "3.15.0")
  }
]

const programOf = (binary: Binary): Build.Program => {
  const found = programs.find((program) => binary in program.binaries)
  if (found === undefined) throw new Error(`no program of the stack has a binary ${binary}`)
  return found
}

/** The path of a binary. Builds it if it is not in the cache, which takes minutes; fails with what Go said. */
export const path = (binary: Binary): Effect.Effect<string, Build.BuildFailed> =>
  Effect.map(Build.build(programOf(binary)), (folder) => `${folder}/${binary}`)

/** Why these cannot be had on this machine, in a sentence; undefined if they can. Under CI nothing is skipped: the build fails. */
export const skipReason = (...binaries: ReadonlyArray<Binary>): string | undefined => {
  const missing = binaries.filter((binary) => !Build.isBuilt(programOf(binary)))
  if (missing.length === 0 || Build.goVersion() !== undefined || process.env["CI"]) return undefined
  return `${missing.join(", ")}: not in the cache, and there is no Go (1.26 or newer) on this machine to build from source`
}
