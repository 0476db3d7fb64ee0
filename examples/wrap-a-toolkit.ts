/**
 * Wrap a toolkit: one added line, and its calls are traced. The trace is printed in the terminal.
 */
import { Effect, Layer, Schema } from "effect"
import { LanguageModel, Tool, Toolkit } from "effect/ai"
import { ToolkitInstrumentation } from "toolspan"
import { Terminal } from "toolspan/terminal"
import { ScriptedModel } from "toolspan/testing"

const Weather = Tool.make("get_weather", {
  description: "The weather in a city",
  parameters: Schema.Struct({ city: Schema.String }),
  success: Schema.Struct({ celsius: Schema.Number })
})

const Booking = Tool.make("book_table", {
  parameters: Schema.Struct({ place: Schema.String, card: Schema.String }),
  failure: Schema.Struct({ _tag: Schema.Literal("FullyBooked") }),
  failureMode: "return"
})

const toolkit = Toolkit.make(Weather, Booking)

const handlers = toolkit.toLayer({
  get_weather: () => Effect.succeed({ celsius: 21 }),
  book_table: () => Effect.fail({ _tag: "FullyBooked" as const })
})

// The line that you add.
const traced = ToolkitInstrumentation.instrument(toolkit, { agentName: "concierge" })

// In place of a provider's layer, so that this runs without a key.
const model = ScriptedModel.layer([
  [
    ScriptedModel.toolCall("call_1", "get_weather", { city: "Lisbon" }),
    ScriptedModel.toolCall("call_2", "book_table", { place: "Alfama", card: "4242 4242 4242 4242" })
  ]
])

const program = LanguageModel.generateText({ prompt: "A table outside, if it is warm", toolkit: traced })

await Effect.runPromise(
  program.pipe(Effect.provide(Layer.mergeAll(handlers, model)), Effect.provide(Terminal.layer()))
)
