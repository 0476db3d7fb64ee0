/**
 * Approve a tool call: the model asks, a person says yes, the call runs, all in one trace. One added layer.
 */
import { Effect, Layer, Schema } from "effect"
import { Chat, Prompt, Tool, Toolkit } from "effect/ai"
import { Approval, LanguageModelInstrumentation } from "toolspan"
import { Terminal } from "toolspan/terminal"
import { ScriptedModel } from "toolspan/testing"

const Transfer = Tool.make("transfer", {
  parameters: Schema.Struct({ to: Schema.String, amount: Schema.Number }),
  success: Schema.String,
  needsApproval: true
})

const toolkit = Toolkit.make(Transfer)
const handlers = toolkit.toLayer({ transfer: ({ amount, to }) => Effect.succeed(`sent ${amount} to ${to}`) })

// In place of a provider's layer, so that this runs without a key.
const provider = ScriptedModel.layer([
  [ScriptedModel.toolCall("call_1", "transfer", { to: "Grace", amount: 20 })],
  [ScriptedModel.text("Grace has her money.")]
])

// The layer that you add.
const model = LanguageModelInstrumentation.layer(provider, { agentName: "banker" })

const program = Effect.gen(function* () {
  const chat = yield* Chat.empty
  const asked = yield* chat.generateText({ prompt: "Send Grace 20", toolkit })
  for (const part of asked.content) {
    if (part.type !== "tool-approval-request") continue
    yield* Effect.sleep("250 millis") // A person reads, and thinks.
    const yes = yield* Approval.approve(part.approvalId, { approver: "ada@example.com" })
    const prompt = Prompt.fromMessages([Prompt.toolMessage({ content: [yes] })])
    const { text } = yield* chat.generateText({ prompt, toolkit })
    console.log(text)
  }
}).pipe(Effect.withSpan("conversation"))

await Effect.runPromise(
  program.pipe(Effect.provide(Layer.merge(handlers, model)), Effect.provide(Terminal.layer()))
)
