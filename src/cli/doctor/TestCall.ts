/**
 * One tool call, sent as a program would send it: through `Sdk.layer`, with the same variables.
 */
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as ToolkitInstrumentation from "../../instrumentation/ToolkitInstrumentation.ts"
import * as Sdk from "../../sdk/Sdk.ts"
import { ATTR_TOOLSPAN_DROPPED_REASON } from "../../semconv/Attributes.ts"
import * as Finding from "./Finding.ts"

const Ping = Tool.make("toolspan_doctor_ping", { success: Schema.String })
const toolkit = Toolkit.make(Ping)

/** The trace that was sent. */
export interface Sent {
  readonly traceId: string
  readonly finding: Finding.Finding
}

/** Sends it, and waits until it is delivered or given up. */
export const send: Effect.Effect<Sent> = Effect.gen(function* () {
  const before = yield* lost
  const traceId = yield* Effect.provide(call, Sdk.layer({ serviceName: "toolspan-doctor" }))
  const count = (yield* lost) - before
  return {
    traceId,
    finding:
      count === 0
        ? Finding.good(`a test call was sent and accepted, as trace ${traceId}`)
        : Finding.bad(
            `the test call was not delivered: ${count} ${count === 1 ? "item was" : "items were"} dropped`,
            "Programs lose theirs in the same way: mend what stands above first. OTEL_LOG_LEVEL=debug shows each export."
          )
  }
})

const call = Effect.gen(function* () {
  const span = yield* Effect.currentSpan
  const { handle } = yield* ToolkitInstrumentation.instrument(toolkit)
  yield* Stream.runDrain(yield* handle("toolspan_doctor_ping", {}, "call_doctor"))
  return span.traceId
}).pipe(
  Effect.withSpan("toolspan doctor"),
  Effect.provide(toolkit.toLayer({ toolspan_doctor_ping: () => Effect.succeed("pong") })),
  Effect.orDie
)

/** Spans that could not be delivered so far. */
const lost = Effect.map(Metric.snapshot, (snapshots) =>
  snapshots.reduce(
    (sum, snapshot) =>
      snapshot.id === "toolspan.telemetry.dropped" &&
      snapshot.type === "Counter" &&
      snapshot.attributes?.[ATTR_TOOLSPAN_DROPPED_REASON] === "export_failed"
        ? sum + Number(snapshot.state.count)
        : sum,
    0
  )
)
