import { assert, describe, it } from "@effect/vitest"
import * as Prompt from "effect/ai/Prompt"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as TestClock from "effect/testing/TestClock"
import * as fc from "fast-check"
import * as Approval from "../../src/propagation/Approval.ts"
import * as Payments from "../support/Payments.ts"

const call = (id: string, options: Prompt.ProviderOptions = {}) =>
  Prompt.toolCallPart({ id, name: "pay", params: { amount: 7 }, providerExecuted: false, options })
const request = (approvalId: string, toolCallId: string) =>
  Prompt.toolApprovalRequestPart({ approvalId, toolCallId })
const response = (options: Prompt.ProviderOptions, approved = true) =>
  Prompt.toolApprovalResponsePart({ approvalId: "a_1", approved, options })
const asked = (...content: ReadonlyArray<Prompt.AssistantMessagePart>) =>
  Prompt.fromMessages([Prompt.assistantMessage({ content })])

describe("a decision", () => {
  it.effect("is upstream's own part, with who and when beside it", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1_700_000_000_123)
      const parts = [
        yield* Approval.approve("a_1", { approver: "ada" }),
        yield* Approval.deny("a_2", { approver: "bob", reason: "too much" }),
        yield* Approval.expire("a_3")
      ]
      const decidedAt = "2023-11-14T22:13:20.123Z"
      assert.deepStrictEqual(
        parts.map(({ approvalId, approved, options, reason }) => [
          approvalId,
          approved,
          reason,
          options["toolspan"]
        ]),
        [
          ["a_1", true, undefined, { decidedAt, approver: "ada" }],
          ["a_2", false, "too much", { decidedAt, approver: "bob" }],
          ["a_3", false, undefined, { decidedAt, expired: true }]
        ]
      )
      const [message] = Payments.restored(Payments.decided(Prompt.empty, ...parts)).content
      const restored = message?.role === "tool" ? message.content : []
      assert.deepStrictEqual(
        restored.flatMap((part) => (part.type === "tool-approval-response" ? [Approval.read(part)] : [])),
        [
          { decision: "approved", approver: "ada", decidedAt: 1_700_000_000_123 },
          { decision: "denied", approver: "bob", decidedAt: 1_700_000_000_123 },
          { decision: "expired", approver: undefined, decidedAt: 1_700_000_000_123 }
        ]
      )
    })
  )

  it.effect("refuses what is not meant, and names it", () =>
    Effect.gen(function* () {
      const message = (by: object) =>
        Effect.map(Effect.exit(Approval.deny("a_1", by)), (exit) =>
          Exit.isFailure(exit) ? String(Cause.squash(exit.cause)) : "no failure"
        )
      assert.strictEqual(
        yield* message({ approver: "" }),
        'Error: Approval.deny: option "approver" is ""; allowed: a non-empty string'
      )
      assert.include(yield* message({ who: "ada" }), 'unknown option "who"; allowed: approver, reason')
    })
  )

  it("can only be expired if it is no approval", () => {
    assert.strictEqual(Approval.read(response({ toolspan: { expired: true } })).decision, "approved")
    assert.strictEqual(Approval.read(response({ toolspan: { expired: "yes" } }, false)).decision, "denied")
  })

  it("takes a bounded approver, and a time that is one", () => {
    const { approver, decidedAt } = Approval.read(
      response({ toolspan: { approver: "a".repeat(10_000), decidedAt: "soon" } })
    )
    assert.deepStrictEqual([approver?.length, decidedAt], [256, undefined])
  })

  it("reads anything without a throw", () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true }), (said) => {
        // What comes out of a store of somebody's own.
        const part = { ...response({}), options: { toolspan: said } } as Prompt.ToolApprovalResponsePart
        const { approver, decision } = Approval.read(part)
        assert.strictEqual(decision, "approved")
        assert.isTrue(approver === undefined || approver.length <= 256)
      })
    )
    const none = { ...response({}), options: undefined } as unknown as Prompt.ToolApprovalResponsePart
    assert.deepStrictEqual(Approval.read(none), {
      decision: "approved",
      approver: undefined,
      decidedAt: undefined
    })
  })
})

describe("pending", () => {
  it("lists what waits, in the order of the asking, with the exact parameters", () => {
    const stamp = {
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      requestedAt: "2023-11-14T22:13:20.123Z"
    }
    const prompt = asked(
      call("call_2"),
      call("call_1", { toolspan: stamp }),
      request("b", "call_1"),
      request("a", "call_2")
    )
    const common = { toolName: "pay", params: { amount: 7 } }
    assert.deepStrictEqual(Approval.pending(prompt), [
      { approvalId: "b", toolCallId: "call_1", ...common, requestedAt: 1_700_000_000_123 },
      { approvalId: "a", toolCallId: "call_2", ...common, requestedAt: undefined }
    ])
  })

  it("lists nothing that is answered, has its result, or lost its call", () => {
    const answered = Prompt.toolMessage({
      content: [Prompt.toolApprovalResponsePart({ approvalId: "a", approved: false })]
    })
    const result = Prompt.toolMessage({
      content: [
        Prompt.toolResultPart({
          id: "call_2",
          name: "pay",
          isFailure: false,
          result: "",
          providerExecuted: false
        })
      ]
    })
    const prompt = Prompt.concat(
      asked(
        call("call_1"),
        call("call_2"),
        request("a", "call_1"),
        request("b", "call_2"),
        request("c", "call_3")
      ),
      Prompt.fromMessages([answered, result])
    )
    assert.deepStrictEqual(Approval.pending(prompt), [])
  })
})
