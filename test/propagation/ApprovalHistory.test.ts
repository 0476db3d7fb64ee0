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
import * as Conversations from "./Conversations.ts"

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

/** The rules, one by one, each decision looked up in the whole conversation. */
const model = (messages: ReadonlyArray<Prompt.Message>): ReadonlyArray<ApprovalHistory.Decided> =>
  Conversations.partsOf(messages, "tool", "tool-approval-response").flatMap((response) => {
    const { approvalId } = response
    const request = Conversations.partsOf(messages, "assistant", "tool-approval-request").findLast(
      (part) => part.approvalId === approvalId
    )
    const toolCall = Conversations.partsOf(messages, "assistant", "tool-call").findLast(
      ({ id }) => id === request?.toolCallId
    )
    const settled = Conversations.partsOf(messages, "tool", "tool-result").some(
      ({ id }) => id === request?.toolCallId
    )
    return toolCall === undefined || settled ? [] : [{ approvalId, toolCall, response }]
  })

describe("the decided calls of a conversation", () => {
  it("are, in the order of the decisions, those that have their request and call and no result", () => {
    const seen = { found: 0, twice: 0 }
    fc.assert(
      fc.property(Conversations.conversation, (messages) => {
        const expected = model(messages)
        const found = ApprovalHistory.decided(messages)
        assert.deepStrictEqual(
          found.map(({ approvalId }) => approvalId),
          expected.map(({ approvalId }) => approvalId)
        )
        for (const [n, one] of found.entries()) {
          // The very parts of the conversation, not others that look the same.
          assert.strictEqual(one.toolCall, expected[n]?.toolCall)
          assert.strictEqual(one.response, expected[n]?.response)
        }
        seen.found += found.length
        if (new Set(found.map(({ toolCall }) => toolCall)).size < found.length) seen.twice++
      }),
      { numRuns: 2000 }
    )
    assert.isAbove(seen.found, 100)
    assert.isAbove(seen.twice, 10)
  })

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
      const counted = <T extends object>(value: T): T =>
        new Proxy(value, {
          get: (target, key, receiver) => {
            count++
            return Reflect.get(target, key, receiver)
          }
        })
      const messages = Array.from({ length: turns }, (_, n) => [
        Prompt.assistantMessage({
          content: [
            Prompt.toolCallPart({ id: `c${n}`, name: "pay", params: {}, providerExecuted: false }),
            Prompt.toolApprovalRequestPart({ approvalId: `a${n}`, toolCallId: `c${n}` })
          ].map(counted)
        }),
        Prompt.toolMessage({
          content: [counted(Prompt.toolApprovalResponsePart({ approvalId: `a${n}`, approved: true }))]
        })
      ]).flat()
      assert.lengthOf(ApprovalHistory.decided(counted(messages.map(counted))), turns)
      return count
    }
    assert.closeTo(reads(1000) / reads(500), 2, 0.01)
  })
})
