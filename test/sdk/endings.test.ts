/**
 * How programs end with telemetry on, in processes of their own.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as OtlpServer from "../support/OtlpServer.ts"
import * as ChildProgram from "./ChildProgram.ts"

/** Milliseconds. Without the bound, exporters wait or retry for 8 to 10 seconds. */
const BOUND = 600
/** For a machine that is busy. */
const SLACK = 3500

const names = (server: OtlpServer.OtlpServer) => server.spans().map(({ name }) => name)

describe.concurrent("a program", () => {
  it.live("that ends right after its work delivers, and is not held up", () =>
    Effect.gen(function* () {
      const server = yield* OtlpServer.make
      const { code, delay } = yield* ChildProgram.run({ OTEL_EXPORTER_OTLP_ENDPOINT: server.url })
      assert.strictEqual(code, 0)
      assert.deepStrictEqual(names(server), ["work"])
      assert.isBelow(delay, SLACK)
    })
  )

  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    it.live(`under NodeRuntime.runMain delivers on ${signal}`, () =>
      Effect.gen(function* () {
        const server = yield* OtlpServer.make
        const child = yield* ChildProgram.start("wait", { OTEL_EXPORTER_OTLP_ENDPOINT: server.url })
        yield* child.said("waiting")
        yield* child.kill(signal)
        assert.strictEqual((yield* child.ended).code, 130)
        assert.deepStrictEqual(names(server), ["work", "wait"])
        assert.deepStrictEqual(server.spans()[1]?.attributes, { "effect.fiber.interrupted": true })
      })
    )

    it.live(`that asked for it delivers on ${signal}, and ends by it`, () =>
      Effect.gen(function* () {
        const server = yield* OtlpServer.make
        const child = yield* ChildProgram.start("wait-plain", { OTEL_EXPORTER_OTLP_ENDPOINT: server.url })
        yield* child.said("waiting")
        yield* child.kill(signal)
        const ended = yield* child.ended
        assert.deepStrictEqual([ended.code, ended.signal], [null, signal])
        assert.deepStrictEqual(names(server), ["work"])
      })
    )
  }

  it.live("that handles a signal itself decides when it ends, and delivers meanwhile", () =>
    Effect.gen(function* () {
      const server = yield* OtlpServer.make
      const child = yield* ChildProgram.start("wait-plain", {
        OTEL_EXPORTER_OTLP_ENDPOINT: server.url,
        WORK_OWN_HANDLER: "true"
      })
      yield* child.said("waiting")
      yield* child.kill("SIGTERM")
      const ended = yield* child.ended
      assert.deepStrictEqual([ended.code, ended.signal], [0, null])
      assert.include(ended.output, "drained")
      assert.deepStrictEqual(names(server), ["work"])
    })
  )

  it.live("whose endpoint is overloaded does not try again for long after its end", () =>
    Effect.gen(function* () {
      const server = yield* OtlpServer.make
      server.answerWith(() => 503)
      const { delay } = yield* ChildProgram.run({
        OTEL_EXPORTER_OTLP_ENDPOINT: server.url,
        OTEL_BSP_SCHEDULE_DELAY: "50",
        WORK_BOUND: String(BOUND),
        WORK_LINGER: "1200"
      })
      // Without the end of retries, it would be six seconds more.
      assert.isBelow(delay, BOUND + SLACK)
    })
  )

  const endpoints = {
    "that never answers": () => "hang",
    "that is overloaded": () => 503
  } satisfies Record<string, () => OtlpServer.Answer>
  for (const [which, answer] of Object.entries(endpoints)) {
    it.live(`is held up by an endpoint ${which} no longer than the bound`, () =>
      Effect.gen(function* () {
        const server = yield* OtlpServer.make
        server.answerWith(answer)
        const { code, delay } = yield* ChildProgram.run({
          OTEL_EXPORTER_OTLP_ENDPOINT: server.url,
          WORK_BOUND: String(BOUND)
        })
        assert.strictEqual(code, 0)
        assert.isBelow(delay, BOUND + SLACK)
        assert.include(
          server.requests().map(({ path }) => path),
          "/v1/traces"
        )
      })
    )
  }

  it.live("is held up by a dead endpoint no longer than the bound, even in the midst of retries", () =>
    Effect.gen(function* () {
      const { code, delay } = yield* ChildProgram.run({
        ...underWay,
        OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1"
      })
      assert.strictEqual(code, 0)
      assert.isBelow(delay, BOUND + SLACK)
    })
  )

  it.live("is held up by requests that are under way no longer than the bound", () =>
    Effect.gen(function* () {
      const server = yield* OtlpServer.make
      server.answerWith(() => "hang")
      const { code, delay } = yield* ChildProgram.run({
        ...underWay,
        OTEL_EXPORTER_OTLP_ENDPOINT: server.url
      })
      assert.strictEqual(code, 0)
      assert.isBelow(delay, BOUND + SLACK)
    })
  )
})

/** Exports begin long before the end. */
const underWay = {
  OTEL_BSP_SCHEDULE_DELAY: "10",
  OTEL_BLRP_SCHEDULE_DELAY: "10",
  OTEL_METRIC_EXPORT_INTERVAL: "20",
  WORK_LINGER: "300",
  WORK_BOUND: String(BOUND)
}
