/**
 * A collector with `collector-config.yaml` and files of `stack/scale/` over it, in front of a back end that tests read.
 */
import { tmpdir } from "node:os"
import * as Path from "node:path"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as OtlpServer from "../support/OtlpServer.ts"
import * as Api from "./Api.ts"
import type * as Build from "./Build.ts"
import * as Collector from "./Collector.ts"
import * as Folder from "./Folder.ts"
import * as Ports from "./Ports.ts"
import * as Programs from "./Programs.ts"
import * as Shipped from "./Shipped.ts"
import * as Supervised from "./Supervised.ts"
import type { Span } from "./scaleTraces.ts"
import { request } from "./scaleTraces.ts"

export interface Options {
  /** Shipped files, or absolute paths, over `collector-config.yaml`. */
  readonly files: ReadonlyArray<string>
  /** The pipelines that end in the back end. What others end in is the files' own. */
  readonly pipelines: ReadonlyArray<string>
  readonly environment?: Readonly<Record<string, string>>
}

export interface Running {
  readonly program: Supervised.Supervised
  readonly backend: OtlpServer.OtlpServer
  /** `{host}:{port}` of OTLP over gRPC. */
  readonly grpc: string
  /** One request. Fails the test if it is not answered with 200. */
  readonly send: (spans: ReadonlyArray<Span>) => Effect.Effect<void>
  /** Waits until no trace waits for a decision any more. */
  readonly decided: Effect.Effect<void>
}

/** Soon, instead of after minutes. */
const waits = {
  SAMPLING_WAIT: "5s",
  SAMPLING_WAIT_AFTER_ROOT: "1s",
  SPAN_METRICS_INTERVAL: "1s"
}

const overlay = (backend: string, pipelines: ReadonlyArray<string>) =>
  JSON.stringify({
    exporters: {
      "otlp_http/test": {
        endpoint: backend,
        encoding: "json",
        compression: "none",
        sending_queue: { enabled: false }
      }
    },
    service: {
      pipelines: Object.fromEntries(pipelines.map((name) => [name, { exporters: ["otlp_http/test"] }]))
    }
  })

export const start = ({
  environment,
  files,
  pipelines
}: Options): Effect.Effect<Running, Build.BuildFailed | Supervised.NotRunning, Scope.Scope> =>
  Effect.gen(function* () {
    const folder = yield* Folder.make(Path.join(tmpdir(), "toolspan-scale-"))
    const ports = yield* Ports.free(Collector.ports)
    const backend = yield* OtlpServer.make
    const address = (port: number) => `127.0.0.1:${port}`
    const metrics = `http://${address(ports.collectorMetrics)}/metrics`
    const program = yield* Supervised.make({
      name: "collector",
      path: yield* Programs.path("otelcol"),
      args: [
        ...["collector-config.yaml", ...files].map(
          (file) => `--config=${Path.isAbsolute(file) ? file : Shipped.path(file)}`
        ),
        `--config=yaml:${overlay(backend.url, pipelines)}`
      ],
      environment: {
        OTLP_GRPC_ENDPOINT: address(ports.otlpGrpc),
        OTLP_HTTP_ENDPOINT: address(ports.otlpHttp),
        HEALTH_ENDPOINT: address(ports.collectorHealth),
        COLLECTOR_METRICS_HOST: "127.0.0.1",
        COLLECTOR_METRICS_PORT: String(ports.collectorMetrics),
        COLLECTOR_STORAGE: Path.join(folder, "collector"),
        JAEGER_ENDPOINT: "127.0.0.1:1",
        PROMETHEUS_OTLP_ENDPOINT: "http://127.0.0.1:1",
        ...waits,
        ...environment
      },
      ready: `http://${address(ports.collectorHealth)}/`
    })
    yield* program.start
    return {
      program,
      backend,
      grpc: address(ports.otlpGrpc),
      send: (spans) =>
        Effect.promise(async (signal) => {
          const response = await fetch(`http://${address(ports.otlpHttp)}/v1/traces`, {
            method: "POST",
            signal,
            headers: { "content-type": "application/json" },
            body: request(spans)
          })
          assert.strictEqual(response.status, 200, await response.text())
        }),
      decided: Effect.gen(function* () {
        // What it says of itself is up to a second old.
        yield* Effect.sleep("1500 millis")
        const none = Effect.map(waiting(metrics), (count) => (count === 0 ? true : undefined))
        assert.isTrue(yield* Api.until(none, 20), "traces still wait for a decision")
      })
    }
  })

/** How many traces the sampler has in memory, by its own account; it says so once a second. */
const waiting = (metrics: string): Effect.Effect<number | undefined> =>
  Effect.promise(async () => {
    const text = await (await fetch(metrics)).text()
    const line = /^otelcol_processor_tail_sampling_sampling_traces_on_memory\S* (\S+)$/m.exec(text)
    return line?.[1] === undefined ? undefined : Number(line[1])
  })
