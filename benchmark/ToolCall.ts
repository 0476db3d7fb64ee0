/**
 * One tool call: bare, and with each kind of telemetry.
 */
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as ToolkitInstrumentation from "../src/instrumentation/ToolkitInstrumentation.ts"
import * as Measure from "./Measure.ts"
import * as Telemetry from "./Telemetry.ts"

const Weather = Tool.make("get_weather", {
  description: "The weather of the next days",
  parameters: Schema.Struct({ city: Schema.String, days: Schema.Number }),
  success: Schema.Struct({ celsius: Schema.Number, sky: Schema.String })
})

export const toolkit = Toolkit.make(Weather)

export const handlers = toolkit.toLayer({
  get_weather: () => Effect.succeed({ celsius: 21, sky: "clear" })
})

type WithHandler = Toolkit.WithHandler<typeof toolkit.tools>

/** Calls at a time: few enough for a batch processor to keep up, enough to hide the cost of starting a fiber. */
export const BATCH = 100

export const calls = ({ handle }: WithHandler) =>
  Effect.forEach(
    Array.from({ length: BATCH }, (_, n) => `call_${n}`),
    (id) => Effect.flatMap(handle("get_weather", { city: "Berlin", days: 3 }, id), Stream.runDrain),
    { discard: true }
  )

export const run = async (rounds: number): Promise<void> => {
  const bare = await Effect.runPromise(Effect.provide(toolkit, handlers))
  const instrumented = ToolkitInstrumentation.instrument(bare)
  const off = ToolkitInstrumentation.instrument(bare, { metrics: false })

  const untraced: ReadonlyArray<readonly [string, Measure.Variant]> = [
    ["bare handle", () => Effect.runPromise(calls(bare))],
    ["no tracer, metrics: false", () => Effect.runPromise(calls(off))],
    ["no tracer, metrics on", () => Effect.runPromise(calls(instrumented))]
  ]
  Measure.print("A tool call, nobody traces", await Measure.compare(untraced, { batch: BATCH, rounds }), {
    "no tracer, metrics: false": 1.03,
    "no tracer, metrics on": 1.2
  })

  for (const [title, sampler, limits] of [
    ["A tool call, recorded", "always_on", { "toolspan, active context": 1.5 }],
    ["A tool call, not sampled", "always_off", { "toolspan, active context": 1.25 }]
  ] as const) {
    const exporter = new Telemetry.CountingExporter()
    const sdk = await Telemetry.runtime(exporter, sampler)
    const rows = await Measure.compare(
      [
        ["bare handle", () => Effect.runPromise(calls(bare))],
        ["bare handle under the tracer", () => sdk.runPromise(calls(bare))],
        ["toolspan, active context", () => sdk.runPromise(calls(instrumented))]
      ],
      { batch: BATCH, rounds }
    )
    await sdk.dispose()
    Measure.print(`${title} (${exporter.count} spans exported)`, rows, limits)
  }

  const upstream = Telemetry.upstream(new Telemetry.CountingExporter())
  Measure.print(
    "For comparison: Effect.withSpan through @effect/opentelemetry",
    await Measure.compare(
      [
        ["bare handle", () => Effect.runPromise(calls(bare))],
        ["@effect/opentelemetry, one span", () => upstream.runPromise(Effect.withSpan(calls(bare), "calls"))],
        ["@effect/opentelemetry, toolspan's wrapper", () => upstream.runPromise(calls(instrumented))]
      ],
      { batch: BATCH, rounds }
    ),
    {}
  )
  await upstream.dispose()
}
