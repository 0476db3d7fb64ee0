/**
 * An agent that outlives its process, on one file: `durable-agent.ts FILE`. Killed at any time and started again, it goes on where it was,
 * and no invoice is paid twice. While it waits for an approval nothing needs to run: `decide-for-an-agent.ts FILE` gives one.
 */
import { Effect, Layer, Schema, Stream } from "effect"
import { Tool, Toolkit } from "effect/ai"
import { WorkflowEngine } from "effect/workflow"
import { Agent, DurableRuntime, SqlRunStore } from "toolspan/runtime"
import { SqliteClient } from "toolspan/sqlite"
import { ScriptedModel } from "toolspan/testing"

const LookUp = Tool.make("look_up", {
  parameters: Schema.Struct({ invoice: Schema.Number }),
  success: Schema.Number
}).annotate(Tool.Readonly, true)

const Pay = Tool.make("pay", {
  parameters: Schema.Struct({ invoice: Schema.Number, amount: Schema.Number }),
  success: Schema.String,
  needsApproval: true
})

const toolkit = Toolkit.make(LookUp, Pay)

const handlers = toolkit.toLayer({
  look_up: () => Effect.succeed(7),
  pay: ({ amount }) => Effect.as(Effect.log(`${amount} left the account`), "paid")
})

// Stands for a real one: it answers what the conversation calls for.
const model = ScriptedModel.layer(({ prompt }) => {
  const turns = prompt.content.filter(({ role }) => role === "assistant").length
  if (turns === 0) return [ScriptedModel.toolCall("call_1", "look_up", { invoice: 42 })]
  if (turns === 1) return [ScriptedModel.toolCall("call_2", "pay", { invoice: 42, amount: 7 })]
  return [ScriptedModel.text("Invoice 42 is paid.")]
})

const clerk = Agent.make({ name: "clerk", toolkit })

// The same id: begun once, however often this program is started.
const events = clerk.run({ prompt: "Pay invoice 42", conversation: "ada", runId: "invoice-42" })

await Effect.runPromise(
  Stream.runForEach(events, (event) =>
    Effect.sync(() => console.log(event._tag === "Ended" ? event.outcome._tag : event._tag))
  ).pipe(
    Effect.provide(
      clerk.layer.pipe(
        Layer.provide([model, handlers]),
        Layer.provideMerge(DurableRuntime.layer()),
        Layer.provide(WorkflowEngine.layerMemory),
        Layer.provide(SqlRunStore.layer()),
        Layer.provide(SqliteClient.layer({ filename: process.argv[2] ?? "runs.db" }))
      )
    )
  )
)
