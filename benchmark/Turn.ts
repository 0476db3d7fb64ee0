/**
 * A whole turn of an agent: the model asks for a tool, the tool runs, the model answers.
 */
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as LanguageModelInstrumentation from "../src/instrumentation/LanguageModelInstrumentation.ts"
import * as ToolkitInstrumentation from "../src/instrumentation/ToolkitInstrumentation.ts"
import * as Measure from "./Measure.ts"
import * as Peer from "./Peer.ts"
import * as Telemetry from "./Telemetry.ts"
import { handlers, toolkit } from "./ToolCall.ts"

const BATCH = 20

const answers = [
  [
    { type: "tool-call", id: "call_1", name: "get_weather", params: { city: "Berlin", days: 3 } },
    { type: "finish", reason: "tool-calls", usage: { inputTokens: {}, outputTokens: {} } }
  ],
  [
    { type: "text", text: "It will be clear." },
    { type: "finish", reason: "stop", usage: { inputTokens: {}, outputTokens: {} } }
  ]
] as const

/** A model that answers at once, in turn. */
export const bare = Effect.suspend(() => {
  let request = 0
  return LanguageModel.make({
    generateText: () => Effect.succeed([...(answers[request++ % 2] ?? [])]),
    streamText: () => Stream.empty
  })
})

/** The same, observed: its toolkits are instrumented by it. */
const observed = Effect.map(bare, (model) => LanguageModelInstrumentation.instrument(model))
const uncounted = Effect.map(bare, (model) =>
  LanguageModelInstrumentation.instrument(model, { metrics: false })
)

const turns = (tools: typeof toolkit, model = bare) =>
  Effect.gen(function* () {
    const { generateText } = yield* model
    for (let turn = 0; turn < BATCH; turn++) {
      yield* generateText({ prompt: "How will the weather be?", toolkit: tools })
      yield* generateText({ prompt: "And now?", toolkit: tools })
    }
  }).pipe(Effect.provide(handlers))

export const run = async (rounds: number): Promise<void> => {
  const traced = ToolkitInstrumentation.instrument(toolkit)
  const sdk = await Telemetry.runtime(new Telemetry.CountingExporter(), "always_on")
  const upstream = Telemetry.upstream(new Telemetry.CountingExporter())
  const rows = await Measure.compare(
    [
      ["effect/ai, not traced", () => Effect.runPromise(turns(toolkit))],
      ["observed, nobody traces, metrics off", () => Effect.runPromise(turns(toolkit, uncounted))],
      ["toolkit instrumented, everything recorded", () => sdk.runPromise(turns(traced))],
      ["model observed, everything recorded", () => sdk.runPromise(turns(toolkit, observed))],
      ["@effect/opentelemetry, upstream's two spans alone", () => upstream.runPromise(turns(toolkit))]
    ],
    { batch: BATCH, rounds }
  )
  await upstream.dispose()
  await sdk.dispose()
  Measure.print("A whole turn: two model requests, one tool call", rows, {
    "observed, nobody traces, metrics off": 1.1,
    "toolkit instrumented, everything recorded": 1.3
  })
  await Peer.run(rounds)
}
