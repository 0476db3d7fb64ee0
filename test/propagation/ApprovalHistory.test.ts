import { assert, describe, it } from "@effect/vitest"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as fc from "fast-check"
import * as ApprovalHistory from "../../src/propagation/ApprovalHistory.ts"
import * as ScriptedModel from "../../src/testing/ScriptedModel.ts"
import * as Payments from "../support/Payments.ts"

const id = fc.constantFrom("x", "y", "z")

const calling = (id: string) =>
  Prompt.assistantMessage({
    content: [Prompt.toolCallPart({ id, name: "refund", params: { amount: 1 }, providerExecuted: false })]
  })

/** Conversations in any order, with ids that are used again, and parts that belong to nothing. */
const message = fc.oneof(
  id.map(calling),
  fc
    .record({ approvalId: id, toolCallId: id })
    .map((part) => Prompt.assistantMessage({ content: [Prompt.toolApprovalRequestPart(part)] })),
  fc
    .record({ approvalId: id, approved: fc.boolean() })
    .map((part) => Prompt.toolMessage({ content: [Prompt.toolApprovalResponsePart(part)] })),
  id.map((id) =>
    Prompt.toolMessage({
      content: [
        Prompt.toolResultPart({
          id,
          name: "refund",
          isFailure: false,
          result: "refunded 1",
          providerExecuted: false
        })
      ]
    })
  ),
  fc.constant(Prompt.userMessage({ content: [Prompt.textPart({ text: "go on" })] }))
)
/** Calls come first in most of them, as in life: upstream dies of an approval without its call. */
const conversation = fc
  .tuple(fc.subarray(["x", "y", "z"], { minLength: 2 }), fc.array(message, { maxLength: 14 }))
  .map(([ids, messages]) => [...ids.map(calling), ...messages])

/** What upstream makes of the conversation: the ids of the calls that it runs or denies, as often as it does. */
const upstream = (messages: ReadonlyArray<Prompt.Message>) =>
  Effect.map(
    Effect.exit(
      LanguageModel.generateText({ prompt: Prompt.fromMessages(messages), toolkit: Payments.toolkit })
    ).pipe(
      Effect.provide(Layer.merge(ScriptedModel.layer([[ScriptedModel.text("done")]]), Payments.handlers))
    ),
    (exit) =>
      Exit.isSuccess(exit)
        ? exit.value.content.flatMap((part) =>
            part.type === "tool-result" ? [`${part.id} ${part.isFailure ? "denied" : "ran"}`] : []
          )
        : // An approval whose call is gone: upstream dies of it.
          undefined
  )

describe("the decided calls of a conversation", () => {
  it("are those that upstream runs or denies, as often as it does", async () => {
    let compared = 0
    await fc.assert(
      fc.asyncProperty(conversation, async (messages) => {
        const acted = await Effect.runPromise(upstream(messages))
        if (acted === undefined) return
        const found = ApprovalHistory.decided(messages).map(
          ({ response, toolCall }) => `${toolCall.id} ${response.approved ? "ran" : "denied"}`
        )
        compared += found.length
        assert.deepStrictEqual(found.toSorted(), acted.toSorted())
      }),
      { numRuns: 500 }
    )
    assert.isAbove(compared, 50)
  })

  it("cost as much as the conversation is long, and no more", () => {
    const reads = (turns: number): number => {
      let count = 0
      const messages = Array.from({ length: turns }, (_, n) => [
        Prompt.assistantMessage({
          content: [
            Prompt.toolCallPart({ id: `c${n}`, name: "pay", params: {}, providerExecuted: false }),
            Prompt.toolApprovalRequestPart({ approvalId: `a${n}`, toolCallId: `c${n}` })
          ]
        }),
        Prompt.toolMessage({
          content: [Prompt.toolApprovalResponsePart({ approvalId: `a${n}`, approved: true })]
        })
      ]).flat()
      const counted = messages.map(
        (message) =>
          new Proxy(message, {
            get: (target, key, receiver) => {
              count++
              return Reflect.get(target, key, receiver)
            }
          })
      )
      assert.lengthOf(ApprovalHistory.decided(counted), turns)
      return count
    }
    assert.closeTo(reads(2000) / reads(1000), 2, 0.01)
  })
})
