/**
 * What a long conversation costs a turn: upstream reads it whole, and so does the observer, for decisions and stamps.
 */
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as LanguageModelInstrumentation from "../src/instrumentation/LanguageModelInstrumentation.ts"
import * as ApprovalHistory from "../src/propagation/ApprovalHistory.ts"
import * as Measure from "./Measure.ts"
import * as Telemetry from "./Telemetry.ts"
import { handlers, toolkit } from "./ToolCall.ts"

/** A conversation of turns that call a tool with approval, all of them decided and answered, and one that waits for the next turn. */
const conversation = (messages: number): Prompt.Prompt => {
  const content: Array<Prompt.Message> = []
  for (let n = 0; content.length < messages; n++) {
    const id = `call_${n}`
    content.push(
      Prompt.userMessage({ content: [Prompt.textPart({ text: "How will the weather be?" })] }),
      Prompt.assistantMessage({
        content: [
          Prompt.toolCallPart({
            id,
            name: "get_weather",
            params: { city: "Berlin", days: 3 },
            providerExecuted: false
          }),
          Prompt.toolApprovalRequestPart({ approvalId: `approval_${n}`, toolCallId: id })
        ]
      }),
      Prompt.toolMessage({
        content: [Prompt.toolApprovalResponsePart({ approvalId: `approval_${n}`, approved: true })]
      }),
      Prompt.toolMessage({
        content: [
          Prompt.toolResultPart({
            id,
            name: "get_weather",
            isFailure: false,
            result: {},
            providerExecuted: false
          })
        ]
      })
    )
  }
  // The last call has its decision and no result.
  return Prompt.fromMessages(content.slice(0, -1))
}

const model = LanguageModel.make({
  generateText: () => Effect.succeed([{ type: "text", text: "It will be clear." }]),
  streamText: () => Stream.empty
})

const turn = (
  prompt: Prompt.Prompt,
  decorate: (model: LanguageModel.LanguageModel) => LanguageModel.LanguageModel
) => {
  const decorated = Effect.map(model, decorate)
  return Effect.flatMap(decorated, ({ generateText }) => generateText({ prompt, toolkit })).pipe(
    Effect.provide(handlers)
  )
}

export const run = async (rounds: number): Promise<void> => {
  const sdk = await Telemetry.runtime(new Telemetry.CountingExporter(), "always_on")
  const observe = (model: LanguageModel.LanguageModel) => LanguageModelInstrumentation.instrument(model)
  for (const messages of [1000, 10_000]) {
    const prompt = conversation(messages)
    const rows = await Measure.compare(
      [
        ["effect/ai, not traced", () => Effect.runPromise(turn(prompt, (model) => model))],
        ["observed, nobody traces", () => Effect.runPromise(turn(prompt, observe))],
        ["observed, everything recorded", () => sdk.runPromise(turn(prompt, observe))],
        ["finding the decided calls alone", async () => ApprovalHistory.decided(prompt.content)]
      ],
      { batch: 1, rounds }
    )
    Measure.print(`A turn at the end of ${messages.toLocaleString("en")} messages`, rows, {})
  }
  await sdk.dispose()
}
