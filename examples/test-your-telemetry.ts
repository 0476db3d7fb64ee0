/**
 * Test your tools' telemetry: record the spans of a run, and say which trace you expect, and nothing else.
 */
import { Effect, Layer, Schema } from "effect"
import { LanguageModel, Tool, Toolkit } from "effect/ai"
import { ToolkitInstrumentation } from "toolspan"
import { RecordedSpans, ScriptedModel } from "toolspan/testing"

const Lookup = Tool.make("lookup", {
  parameters: Schema.Struct({ customer: Schema.String }),
  success: Schema.Struct({ plan: Schema.String })
})

const toolkit = Toolkit.make(Lookup)

const handlers = toolkit.toLayer({
  lookup: () => Effect.succeed({ plan: "pro" }).pipe(Effect.withSpan("sql.select"))
})

const model = ScriptedModel.layer([
  [ScriptedModel.toolCall("call_1", "lookup", { customer: "ada" })],
  [ScriptedModel.text("Ada has the pro plan.")]
])

const program = Effect.gen(function* () {
  yield* LanguageModel.generateText({
    prompt: "Which plan has ada?",
    toolkit: ToolkitInstrumentation.instrument(toolkit)
  })
  RecordedSpans.expectTrees(yield* RecordedSpans.RecordedSpans, [
    {
      name: "LanguageModel.generateText",
      children: [
        {
          name: "execute_tool lookup",
          attributes: {
            "gen_ai.tool.call.id": "call_1",
            "gen_ai.tool.call.arguments": '{"customer":"ada"}',
            "toolspan.tool.outcome": "success"
          },
          children: [{ name: "sql.select" }]
        }
      ]
    }
  ])
})

await Effect.runPromise(Effect.provide(program, Layer.mergeAll(handlers, model, RecordedSpans.layer)))
console.log("The trace is as expected.")
