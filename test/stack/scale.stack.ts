/**
 * `stack/scale/`: which traces a collector keeps that samples, alone and as the second of two tiers, what becomes of spans that come late,
 * and what the programs say of the files.
 */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { tmpdir } from "node:os"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Yaml from "yaml"
import type * as OtlpServer from "../support/OtlpServer.ts"
import type * as Api from "./Api.ts"
import * as Folder from "./Folder.ts"
import * as Jaeger from "./Jaeger.ts"
import * as Ports from "./Ports.ts"
import * as Programs from "./Programs.ts"
import * as Shipped from "./Shipped.ts"
import * as ScaleCollector from "./scaleCollector.ts"
import * as Traces from "./scaleTraces.ts"

const needs = (title: string, binaries: ReadonlyArray<Programs.Binary>, tests: () => void) => {
  const reason = Programs.skipReason(...binaries)
  describe.skipIf(reason !== undefined)(reason === undefined ? title : `${title} (${reason})`, tests)
}

const EACH = 8
const ORDINARY = 400
/** As shipped. */
const SHARE = 0.1

const remarkable = Traces.remarkable(EACH)
const ordinary = Traces.ordinary(ORDINARY)
const all = [...[...remarkable.values()].flat(), ...ordinary]

const sizeOf = (traces: ReadonlyArray<Traces.Trace>) =>
  traces.reduce((sum, { arrivals }) => sum + arrivals.flat().length, 0)

/** First what all traces export first, then what they export next. */
const sendAll = ({ send }: ScaleCollector.Running, traces: ReadonlyArray<Traces.Trace>) =>
  Effect.forEach(
    Array.from({ length: Traces.ARRIVALS }, (_, i) => traces.flatMap(({ arrivals }) => arrivals[i] ?? [])),
    send,
    { discard: true }
  )

/** The ids of spans that arrived, by trace. */
const received = ({ backend }: ScaleCollector.Running): ReadonlyMap<string, ReadonlySet<string>> => {
  const found = new Map<string, Set<string>>()
  for (const { spanId, traceId } of backend.spans())
    found.set(traceId, (found.get(traceId) ?? new Set()).add(spanId))
  return found
}

const isWhole = (found: ReadonlyMap<string, ReadonlySet<string>>) => (trace: Traces.Trace) =>
  found.get(trace.id)?.size === sizeOf([trace])

/** All that is remarkable is there, and of the rest a share within four standard deviations; and whatever is there is whole. */
const assertSampled = (found: ReadonlyMap<string, ReadonlySet<string>>) => {
  for (const [kind, traces] of remarkable)
    assert.strictEqual(traces.filter(isWhole(found)).length, EACH, kind)
  const kept = ordinary.filter(({ id }) => found.has(id))
  assert.deepStrictEqual(kept.filter(isWhole(found)), kept)
  assert.closeTo(kept.length, ORDINARY * SHARE, 4 * Math.sqrt(ORDINARY * SHARE * (1 - SHARE)))
}

/** How many spans are counted: the latest value of each series. */
const counted = (backend: OtlpServer.OtlpServer): number => {
  const series = new Map<string, number>()
  for (const { name, points } of backend.metrics()) {
    if (name !== "traces_span_metrics.calls") continue
    for (const { attributes, value } of points) series.set(JSON.stringify(attributes), value ?? 0)
  }
  return [...series.values()].reduce((sum, value) => sum + value, 0)
}

const assertCounted = (backend: OtlpServer.OtlpServer, spans: number) =>
  Effect.gen(function* () {
    yield* backend.waitFor((server) => (counted(server) >= spans ? true : undefined))
    assert.strictEqual(counted(backend), spans)
  })

/** Waits for spans, whose names tell them from one another in their trace. */
const assertArrive = ({ backend }: ScaleCollector.Running, spans: ReadonlyArray<Traces.Span>, why: string) =>
  Effect.gen(function* () {
    const missing = (server: OtlpServer.OtlpServer) => {
      const ids = new Set(server.spans().map(({ spanId }) => spanId))
      return spans.filter(({ spanId }) => !ids.has(spanId)).map(({ name }) => name)
    }
    yield* backend.waitFor((server) => (missing(server).length === 0 ? true : undefined))
    assert.deepStrictEqual(missing(backend), [], why)
  })

const secondTier = ScaleCollector.start({
  files: ["stack/scale/sampling.yaml", "stack/scale/tier-two.yaml"],
  pipelines: ["traces/sampled", "metrics/spans"]
})

needs("sampling.yaml", ["otelcol"], () => {
  const start = ScaleCollector.start({
    files: ["stack/scale/sampling.yaml"],
    pipelines: ["traces/sampled", "metrics/spans"]
  })

  it.live("keeps whole what failed, was slow, denied or asked for an approval, and a share of the rest", () =>
    Effect.gen(function* () {
      const collector = yield* start
      yield* sendAll(collector, all)
      yield* collector.decided
      assertSampled(received(collector))
      yield* assertCounted(collector.backend, sizeOf(all))
    }).pipe(Effect.scoped)
  )

  it.live("keeps what comes late of a kept trace, and of another from the span on that is to be kept", () =>
    Effect.gen(function* () {
      const collector = yield* start
      const [waiting] = remarkable.get("approval waits") ?? []
      assert(waiting)
      yield* sendAll(collector, [waiting, ...ordinary])
      yield* collector.decided
      const found = received(collector)
      const dropped = ordinary.filter(({ id }) => !found.has(id))
      const [decided, failing, silent] = dropped.map((trace) => Traces.later(trace, "later"))
      const [shared] = ordinary.filter(({ id }) => found.has(id))
      assert(decided && failing && silent && shared)

      // Days later: what the approved call did, the decision, and the call. The first of them says nothing of approvals.
      const { approved, child, decision } = Traces.later(waiting, "later")
      for (const span of [child, decision, approved]) {
        yield* collector.send([span])
        yield* assertArrive(collector, [span], "its trace is remembered")
      }
      // The same in a trace of which nothing was kept; one that fails after all, and goes on; and two with nothing to say.
      const fromThereOn = [decided.child, decided.decision, decided.approved, failing.failed, failing.child]
      for (const span of fromThereOn) yield* collector.send([span])
      yield* assertArrive(collector, fromThereOn, "from there on")
      const { child: ofShare } = Traces.later(shared, "later")
      yield* collector.send([silent.child, ofShare])
      yield* assertArrive(collector, [ofShare], "of the share")
      yield* collector.decided
      const after = received(collector)
      const sizes = [decided, failing, silent].map(({ id }) => after.get(id)?.size)
      assert.deepStrictEqual(sizes, [3, 2, undefined])
    }).pipe(Effect.scoped)
  )

  it.live("keeps what says itself that it is to be kept also when it has forgotten the trace", () =>
    Effect.gen(function* () {
      const collector = yield* start
      const [waiting, another] = remarkable.get("approval waits") ?? []
      const [failed] = remarkable.get("last call failed") ?? []
      assert(waiting && another && failed)
      yield* sendAll(collector, [waiting, another, failed, ...ordinary])
      yield* collector.decided
      const found = received(collector)
      const [shared] = ordinary.filter(({ id }) => found.has(id))
      const [dropped] = ordinary.filter(({ id }) => !found.has(id))
      assert(shared && dropped)

      // As when a trace comes to another collector.
      yield* collector.program.kill()
      yield* collector.program.start
      const { child, decision } = Traces.later(waiting, "later")
      const { approved } = Traces.later(another, "later")
      const { failed: fails } = Traces.later(dropped, "later")
      const { child: ofShare } = Traces.later(shared, "later")
      const { child: unmarked } = Traces.later(failed, "later")
      yield* collector.send([child, unmarked])
      yield* collector.send([decision, approved, fails, ofShare])
      yield* assertArrive(collector, [decision, approved, fails], "they say it themselves")
      yield* assertArrive(collector, [child], "of its trace something is kept now")
      yield* assertArrive(collector, [ofShare], "the share is known by the trace's id")
      yield* collector.decided
      assert.strictEqual(received(collector).get(failed.id)?.size, sizeOf([failed]), "nothing speaks for it")
    }).pipe(Effect.scoped)
  )

  it.live("loses nothing when its queue is full: senders wait", () =>
    Effect.gen(function* () {
      // A collector stands for Jaeger.
      const jaeger = yield* secondTier
      yield* jaeger.program.kill()
      const collector = yield* ScaleCollector.start({
        files: ["stack/scale/sampling.yaml"],
        pipelines: ["metrics/spans"],
        environment: { JAEGER_ENDPOINT: jaeger.grpc, TRACES_QUEUE_BYTES: "50000" }
      })
      const accepted: Array<Traces.Span> = []
      for (;;) {
        const spans = ordinary.slice(0, 50).map((trace) => Traces.later(trace, `${accepted.length}`).failed)
        const answered = yield* collector.send(spans).pipe(Effect.timeoutOption("1 second"))
        if (Option.isNone(answered)) break
        accepted.push(...spans)
        assert.isBelow(accepted.length, 5000, "the queue is never full")
      }
      yield* jaeger.program.start
      yield* assertArrive(jaeger, accepted, "accepted")
    }).pipe(Effect.scoped)
  )
})

/** The first tier, with an exporter that sends to one collector in place of the one that our build lacks. All else is the file's. */
const withoutBalancing = (endpoint: string): string => {
  const file: Api.Json = Yaml.parse(Shipped.read("stack/scale/tier-one.yaml"))
  const { protocol, resolver, routing_key, ...queue } = file.exporters.load_balancing
  assert.deepStrictEqual([Object.keys(resolver), routing_key], [["dns"], "traceID"])
  file.exporters = { "otlp_grpc/tier_two": { ...protocol.otlp, ...queue, endpoint } }
  const { exporters } = file.service.pipelines.traces
  file.service.pipelines.traces.exporters = ["otlp_grpc/tier_two", ...exporters.slice(1)]
  assert.strictEqual(exporters[0], "load_balancing")
  return Yaml.stringify(file)
}

needs("two tiers", ["otelcol"], () => {
  it.live("mask and count in the first, and keep in the second what one collector keeps", () =>
    Effect.gen(function* () {
      const second = yield* secondTier
      const folder = yield* Folder.make(Path.join(tmpdir(), "toolspan-scale-"))
      const file = Path.join(folder, "tier-one.yaml")
      Fs.writeFileSync(file, withoutBalancing(second.grpc))
      const first = yield* ScaleCollector.start({ files: [file], pipelines: ["metrics/spans"] })
      yield* sendAll(first, all)
      const { failed } = Traces.later({ id: "ab".repeat(16) }, "password=hunter22")
      yield* first.send([failed])
      yield* assertArrive(second, [failed], "it failed")
      yield* second.decided
      assertSampled(received(second))
      const arrived = second.backend.spans().find(({ spanId }) => spanId === failed.spanId)
      assert.strictEqual(arrived?.name, "execute_tool undo password=[REDACTED]")
      yield* assertCounted(first.backend, sizeOf(all) + 1)
      assert.isEmpty(second.backend.metrics())
    }).pipe(Effect.scoped)
  )
})

const run = (
  binary: Programs.Binary,
  args: ReadonlyArray<string>,
  environment: Readonly<Record<string, string>> = {}
) =>
  Effect.map(Programs.path(binary), (path) => {
    const { status, stderr, stdout } = ChildProcess.spawnSync(path, args, {
      encoding: "utf8",
      timeout: 20_000,
      env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...environment }
    })
    return { status, output: `${stdout}${stderr}` }
  })

const configs = (...files: ReadonlyArray<string>) => files.map((file) => `--config=${Shipped.path(file)}`)

needs("tier-one.yaml", ["otelcol"], () => {
  it.live("is valid, as far as a build without its exporter can tell", () =>
    Effect.gen(function* () {
      const args = ["validate", ...configs("collector-config.yaml", "stack/scale/tier-one.yaml")]
      const { output, status } = yield* run("otelcol", args)
      // A build that has it says nothing.
      if (status !== 0) assert.match(output, /^[^']*'exporters' unknown type: "load_balancing"[^']*$/)
    })
  )
})

needs("Jaeger's storage", ["jaeger"], () => {
  const nowhere = "127.0.0.1:1"
  const environment = {
    CLICKHOUSE_ADDRESS: nowhere,
    OPENSEARCH_URL: `http://${nowhere}`,
    CASSANDRA_ADDRESS: nowhere
  }
  for (const storage of ["clickhouse", "opensearch", "cassandra"]) {
    it.live(`is ${storage} with its file, and nothing else`, () =>
      Effect.gen(function* () {
        const folder = yield* Folder.make(Path.join(tmpdir(), "toolspan-scale-"))
        const shipped = Shipped.read(`stack/scale/jaeger-${storage}.yaml`)
        // What 2.13 does not know yet; it says nothing else against it.
        const known = storage === "clickhouse" ? shipped.replace(/^ +ttl: .*\n/m, "") : shipped
        const own = Path.join(folder, "storage.yaml")
        Fs.writeFileSync(own, shipped)
        const args = [...configs("stack/jaeger/jaeger.yaml"), `--config=${own}`]
        const valid = yield* run("jaeger", ["validate", ...args])
        if (known !== shipped) assert.match(valid.output, /'clickhouse' has invalid keys: ttl$/m)
        else assert.strictEqual(valid.status, 0, valid.output)

        Fs.writeFileSync(own, known)
        const ports = yield* Ports.free(Jaeger.ports)
        const started = yield* run("jaeger", args, {
          ...Jaeger.environment({ ports, prometheus: `http://${nowhere}` }),
          ...environment,
          JAEGER_STORAGE: Path.join(folder, "badger")
        })
        assert.match(
          started.output,
          /failed to initialize storage 'cluster'.*127\.0\.0\.1:1: connect: connection refused/
        )
        assert.isFalse(Fs.existsSync(Path.join(folder, "badger")))
      }).pipe(Effect.scoped)
    )
  }
})

needs("remote-write.yml", ["promtool"], () => {
  it.live("is valid as a part of prometheus.yml", () =>
    Effect.gen(function* () {
      const folder = yield* Folder.make(Path.join(tmpdir(), "toolspan-scale-"))
      const file = Path.join(folder, "prometheus.yml")
      const whole = `${Shipped.read("stack/prometheus/prometheus.yml")}\n${Shipped.read("stack/scale/remote-write.yml")}`
      Fs.writeFileSync(file, whole)
      const { output, status } = yield* run("promtool", [
        "check",
        "config",
        "--lint=all",
        "--lint-fatal",
        file
      ])
      assert.strictEqual(status, 0, output)
    }).pipe(Effect.scoped)
  )
})
