/**
 * The shipped files, as the programs themselves judge them.
 */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { tmpdir } from "node:os"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Alertmanager from "./Alertmanager.ts"
import * as Collector from "./Collector.ts"
import * as Compose from "./Compose.ts"
import * as Folder from "./Folder.ts"
import * as Ports from "./Ports.ts"
import * as Programs from "./Programs.ts"
import * as Shipped from "./Shipped.ts"

const needs = (title: string, binaries: ReadonlyArray<Programs.Binary>, tests: () => void) => {
  const reason = Programs.skipReason(...binaries)
  describe.skipIf(reason !== undefined)(reason === undefined ? title : `${title} (${reason})`, tests)
}

const run = (
  binary: Programs.Binary,
  args: ReadonlyArray<string>,
  environment: Readonly<Record<string, string>> = {}
) =>
  Effect.map(Programs.path(binary), (path) => {
    const { status, stderr, stdout } = ChildProcess.spawnSync(path, args, {
      encoding: "utf8",
      env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...environment }
    })
    return { status, output: `${stdout}${stderr}` }
  })

const passes = (
  binary: Programs.Binary,
  args: ReadonlyArray<string>,
  environment?: Readonly<Record<string, string>>
) =>
  Effect.map(run(binary, args, environment), ({ output, status }) => {
    assert.strictEqual(status, 0, output)
    return output
  })

needs("docker-compose.yml", ["docker-compose"], () => {
  it.live("names images by a fixed version, and limits and restarts what stays", () =>
    Effect.gen(function* () {
      const { services } = yield* Compose.read
      assert.sameMembers(Object.keys(services), [
        "collector",
        "jaeger",
        "prometheus",
        "alertmanager",
        "grafana",
        "volumes"
      ])
      for (const [name, service] of Object.entries(services)) {
        assert.match(service.image, /^[\w./-]+:v?\d+\.\d+\.\d+$/, name)
        assert.isDefined(service.mem_limit, name)
        if (name === "volumes") continue
        assert.strictEqual(service.restart, "unless-stopped", name)
        assert.isDefined(service.healthcheck, name)
      }
    })
  )

  it.live("listens on this machine alone", () =>
    Effect.gen(function* () {
      const { services } = yield* Compose.read
      const ports = Object.values(services).flatMap((service) => service.ports ?? [])
      assert.sameMembers(
        ports.map(({ host_ip, published }) => `${host_ip}:${published}`),
        ["4317", "4318", "16686", "9090", "9093", "3000"].map((port) => `127.0.0.1:${port}`)
      )
    })
  )

  it.live("mounts only what exists, and only to be read", () =>
    Effect.gen(function* () {
      const { services } = yield* Compose.read
      const mounts = Object.values(services)
        .flatMap(({ volumes = [] }) => volumes)
        .filter(({ type }) => type === "bind")
      assert.isAbove(mounts.length, 4)
      for (const { read_only, source } of mounts) {
        assert.isTrue(Fs.existsSync(source), source)
        assert.isTrue(read_only, source)
      }
    })
  )

  it.live("has no account for Grafana, hence no password to know", () =>
    Effect.gen(function* () {
      const environment = (yield* Compose.read).services["grafana"]?.environment ?? {}
      assert.strictEqual(environment["GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION"], "true")
      assert.strictEqual(environment["GF_AUTH_ANONYMOUS_ORG_ROLE"], "Viewer")
      assert.isEmpty(Object.keys(environment).filter((name) => /PASSWORD|SECRET/.test(name)))
    })
  )

  it.live("gives the collector the version that is tested", () =>
    Effect.gen(function* () {
      const image = (yield* Compose.read).services["collector"]?.image ?? ""
      assert.include(yield* passes("otelcol", ["--version"]), image.split(":")[1] ?? "no version")
    }).pipe(Effect.when(Effect.sync(() => Programs.skipReason("otelcol") === undefined)))
  )
})

needs("collector-config.yaml", ["otelcol"], () => {
  it.live("is valid, as shipped", () =>
    passes("otelcol", ["validate", `--config=${Shipped.path("collector-config.yaml")}`])
  )

  it.live("lets the collector be its own health check", () =>
    Effect.gen(function* () {
      const folder = yield* Folder.make(Path.join(tmpdir(), "toolspan-collector-"))
      const ports = yield* Ports.free(Collector.ports)
      const collector = yield* Collector.make({
        folder,
        ports,
        jaeger: "127.0.0.1:1",
        prometheus: "http://127.0.0.1:1"
      })
      // As in docker-compose.yml.
      const check = ["validate", `--config=http://127.0.0.1:${ports.collectorHealth}/`]
      yield* collector.start
      yield* passes("otelcol", check)
      yield* collector.kill()
      assert.notStrictEqual((yield* run("otelcol", check)).status, 0)
    }).pipe(Effect.scoped)
  )
})

needs("stack/jaeger", ["jaeger"], () => {
  it.live("is valid, as shipped", () =>
    passes("jaeger", ["validate", `--config=${Shipped.path("stack/jaeger/jaeger.yaml")}`])
  )

  it.live("has a folder of its own for what Jaeger watches", () =>
    Effect.sync(() => assert.deepStrictEqual(Fs.readdirSync(Shipped.path("stack/jaeger/ui")), ["ui.json"]))
  )
})

needs("stack/prometheus", ["promtool"], () => {
  it.live("is valid, as shipped, with its rules", () =>
    passes("promtool", [
      "check",
      "config",
      "--lint=all",
      "--lint-fatal",
      Shipped.path("stack/prometheus/prometheus.yml")
    ])
  )
})

needs("stack/alertmanager", ["amtool"], () => {
  const shipped = `--config.file=${Shipped.path("stack/alertmanager/alertmanager.yml")}`

  it.live("is valid, as shipped, and with its own examples", () =>
    Effect.gen(function* () {
      yield* passes("amtool", ["check-config", Shipped.path("stack/alertmanager/alertmanager.yml")])
      const folder = yield* Folder.make(Path.join(tmpdir(), "toolspan-alertmanager-"))
      const file = Path.join(folder, "alertmanager.yml")
      Fs.writeFileSync(file, Alertmanager.configuration("http://127.0.0.1:1"))
      assert.include(yield* passes("amtool", ["check-config", file]), "4 receivers")
      const examples = Shipped.read("stack/alertmanager/alertmanager.yml").replace(/# (\w+_configs:)/g, "$1")
      Fs.writeFileSync(file, examples)
      yield* passes("amtool", ["check-config", file])
    }).pipe(Effect.scoped)
  )

  const routes: ReadonlyArray<readonly [labels: string, receiver: string]> = [
    ["severity=page", "page"],
    ["severity=ticket", "ticket"],
    ["severity=info", "info"],
    ["alertname=Watchdog severity=info", "heartbeat"],
    ["alertname=SomebodysOwn", "ticket"]
  ]
  for (const [labels, receiver] of routes) {
    it.live(`sends ${labels} to ${receiver}`, () =>
      Effect.gen(function* () {
        const output = yield* passes("amtool", ["config", "routes", "test", shipped, ...labels.split(" ")])
        assert.strictEqual(output.trim(), receiver)
      })
    )
  }
})
