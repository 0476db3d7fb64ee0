/**
 * Deny a tool call: its handler never runs, the model is told why, and the denial is in the trace and in the metrics, as no error.
 */
import { Effect, Layer, Metric, Ref, Schema } from "effect"
import { Chat, Prompt, Tool, Toolkit } from "effect/ai"
import { Approval, LanguageModelInstrumentation } from "toolspan"
import { Terminal } from "toolspan/terminal"
import { ScriptedModel } from "toolspan/testing"

const DeleteAll = Tool.make("delete_all", { success: Schema.Void, needsApproval: true })

const toolkit = Toolkit.make(DeleteAll)
const handlers = toolkit.toLayer({ delete_all: () => Effect.die("this never runs") })

const provider = ScriptedModel.layer([
  [ScriptedModel.toolCall("call_1", "delete_all", {})],
  [ScriptedModel.text("All is left as it was.")]
])

const model = LanguageModelInstrumentation.layer(provider, { content: { reasons: "redacted" } })

const program = Effect.gen(function* () {
  const chat = yield* Chat.empty
  yield* chat.generateText({ prompt: "Clean up", toolkit })
  const [waiting] = Approval.pending(yield* Ref.get(chat.history))
  if (waiting === undefined) return
  const no = yield* Approval.deny(waiting.approvalId, {
    approver: "ada@example.com",
    reason: "not on a Friday"
  })
  const prompt = Prompt.fromMessages([Prompt.toolMessage({ content: [no] })])
  const { text, toolResults } = yield* chat.generateText({ prompt, toolkit })
  console.log(text, toolResults[0]?.result)
  for (const { attributes, id } of yield* Metric.snapshot) {
    if (id === "toolspan.approval.decisions") console.log(id, attributes)
  }
}).pipe(Effect.withSpan("conversation"))

await Effect.runPromise(
  program.pipe(Effect.provide(Layer.merge(handlers, model)), Effect.provide(Terminal.layer()))
)
