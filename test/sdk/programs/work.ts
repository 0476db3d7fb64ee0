/**
 * A program with telemetry: one span with a log line and a metric in it, then what the first argument says.
 *
 * - `end`: ends at once, under `NodeRuntime.runMain`
 * - `wait`: says "waiting" and waits for a signal, under `NodeRuntime.runMain`
 * - `wait-plain`: the same under `Effect.runFork`, with the layer's own handling of signals
 *
 * With `WORK_OWN_HANDLER`, it handles SIGTERM itself: it says "drained" half a second later and exits.
 *
 * `WORK_BOUND` is the layer's `shutdownTimeout`, `WORK_LINGER` the milliseconds that it lives after the span. On standard output: the
 * headers that an outgoing request would have, and "done" when there is nothing left to do but to close the layer.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { context, propagation } from "@opentelemetry/api"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { Sdk } from "../../../src/sdk/index.ts"

const say = (line: string) =>
  Effect.sync(() => {
    process.stdout.write(`${line}\n`)
  })

const headers = Effect.sync(() => {
  const carrier = {}
  propagation.inject(context.active(), carrier)
  return Object.keys(carrier).sort().join(",")
})

const mode = process.argv[2]

const program = Effect.gen(function* () {
  yield* Effect.gen(function* () {
    yield* Metric.update(
      Metric.counter("test.work", { incremental: true, attributes: { unit: "{work}", kind: "hard" } }),
      1
    )
    yield* Effect.logInfo("working")
    yield* say(`headers: ${yield* headers}`)
  }).pipe(Effect.withSpan("work", { attributes: { tries: 1 } }))
  yield* Effect.sleep(Number(process.env["WORK_LINGER"] ?? 0))
  if (mode === "end") return yield* say("done")
  yield* say("waiting")
  return yield* Effect.never.pipe(Effect.withSpan("wait"))
}).pipe(
  Effect.provide(
    Sdk.layer({
      shutdownTimeout: Number(process.env["WORK_BOUND"] ?? 5000),
      ...(mode === "wait-plain" && { handleSignals: true })
    })
  )
)

if (process.env["WORK_OWN_HANDLER"]) {
  process.once("SIGTERM", () => {
    setTimeout(() => {
      process.stdout.write("drained\n")
      process.exit(0)
    }, 500)
  })
}

if (mode === "wait-plain") {
  setInterval(() => undefined, 60_000)
  Effect.runFork(program)
} else {
  NodeRuntime.runMain(program)
}
