/**
 * A program that calls a tool at a steady pace, each call in a trace of its own, and says what came of it.
 *
 * `CALLS`: how many (default: until SIGTERM), `PAUSE`: milliseconds between them, `BROKEN`: a file; while it exists the tool fails. Prints
 * `failed` at the first failure, and at the end, as JSON, what it did, and what telemetry was dropped.
 */
import { existsSync } from "node:fs"
import { Effect, Metric, Schema, Stream } from "effect"
import { Tool, Toolkit } from "effect/ai"
import { ToolkitInstrumentation } from "toolspan"
import { Sdk } from "toolspan/sdk"

class CardDeclined extends Schema.TaggedError<CardDeclined>("CardDeclined")("CardDeclined", {}) {}

const ChargeCard = Tool.make("charge_card", {
  parameters: Schema.Struct({ order: Schema.Number }),
  success: Schema.String,
  failure: CardDeclined,
  failureMode: "return"
})
const toolkit = Toolkit.make(ChargeCard)
const handlers = toolkit.toLayer({
  charge_card: () =>
    existsSync(process.env["BROKEN"] ?? "") ? Effect.fail(new CardDeclined()) : Effect.succeed("charged")
})

const calls = Number(process.env["CALLS"] ?? Number.POSITIVE_INFINITY)
const pause = Number(process.env["PAUSE"] ?? 500)

const done = { calls: 0, failures: 0, slowestMillis: 0 }
let stopped = false
process.once("SIGTERM", () => {
  stopped = true
})

const program = Effect.gen(function* () {
  const { handle } = yield* ToolkitInstrumentation.instrument(toolkit)
  while (done.calls < calls && !stopped) {
    const order = done.calls++
    const start = performance.now()
    const [result] = yield* handle("charge_card", { order }, `call_${order}`).pipe(
      Effect.flatMap(Stream.runCollect),
      Effect.withSpan("order")
    )
    done.slowestMillis = Math.max(done.slowestMillis, performance.now() - start)
    if (result?.isFailure && done.failures++ === 0) console.log("failed")
    yield* Effect.sleep(pause)
  }
}).pipe(Effect.provide(handlers))

await Effect.runPromise(Effect.provide(program, Sdk.layer({ serviceName: "shop" })))

const dropped: Record<string, number> = {}
for (const snapshot of await Effect.runPromise(Metric.snapshot)) {
  if (snapshot.id !== "toolspan.telemetry.dropped" || snapshot.type !== "Counter") continue
  dropped[snapshot.attributes?.["toolspan.dropped.reason"] ?? ""] = Number(snapshot.state.count)
}
console.log(JSON.stringify({ ...done, dropped }))
