/**
 * A minimal agent: it pays an invoice when somebody says yes. All in memory; with another layer, the same agent is durable.
 */
import { Effect, Layer, Schema } from "effect"
import { Tool, Toolkit } from "effect/ai"
import { Agent, AgentRuntime, Approvals } from "toolspan/runtime"
import { ScriptedModel } from "toolspan/testing"

const Pay = Tool.make("pay", {
  parameters: Schema.Struct({ amount: Schema.Number }),
  success: Schema.String,
  needsApproval: true
})
const toolkit = Toolkit.make(Pay)
const handlers = toolkit.toLayer({ pay: ({ amount }) => Effect.succeed(`paid ${amount}`) })

const clerk = Agent.make({ name: "clerk", instructions: "You pay invoices.", toolkit })

const program = Effect.gen(function* () {
  const asked = yield* clerk.generate({ prompt: "Pay invoice 42" })
  if (asked._tag !== "Waiting") return asked
  for (const approval of asked.approvals) yield* Approvals.approve(approval, { approver: "ada" })
  return yield* clerk.generate({
    prompt: "Pay invoice 42",
    conversation: asked.conversation,
    runId: asked.runId
  })
})

const model = ScriptedModel.layer([
  [ScriptedModel.toolCall("call_1", "pay", { amount: 7 })],
  [ScriptedModel.text("Paid.")]
])

const outcome = await Effect.runPromise(
  program.pipe(
    Effect.provide(
      clerk.layer.pipe(Layer.provide([model, handlers]), Layer.provideMerge(AgentRuntime.layerMemory))
    )
  )
)
console.log(outcome._tag)
