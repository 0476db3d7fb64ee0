import { assert, describe, it } from "@effect/vitest"
import * as Prompt from "effect/ai/Prompt"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as TestClock from "effect/testing/TestClock"
import * as fc from "fast-check"
import * as Approval from "../../src/propagation/Approval.ts"
import * as ApprovalHistory from "../../src/propagation/ApprovalHistory.ts"
import * as Payments from "../support/Payments.ts"
import * as Conversations from "./Conversations.ts"
import * as Hostile from "./Hostile.ts"

const call = (id: string, options: Prompt.ProviderOptions = {}) =>
  Prompt.toolCallPart({ id, name: "pay", params: { amount: 7 }, providerExecuted: false, options })
const request = (approvalId: string, toolCallId: string) =>
  Prompt.toolApprovalRequestPart({ approvalId, toolCallId })
const response = (options: Prompt.ProviderOptions, approved = true) =>
  Prompt.toolApprovalResponsePart({ approvalId: "a_1", approved, options })
const asked = (...content: ReadonlyArray<Prompt.AssistantMessagePart>) =>
  Prompt.fromMessages([Prompt.assistantMessage({ content })])

type Read = ReturnType<typeof Approval.read>
const { approve, deny, expire } = Approval

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

  it.effect("dies, by every way of making it, of each option that is not valid", () =>
    Effect.gen(function* () {
      for (const [method, decide] of Object.entries({ approve, deny, expire })) {
        for (const option of ["approver", "reason"]) {
          for (const [value, shown] of [
            ["", '""'],
            [" \n", '" \\n"'],
            [7, "7"],
            [null, "null"],
            [true, "true"],
            [["ada"], "an array"],
            [{ name: "ada" }, "an object"]
          ] as const) {
            const exit = yield* Effect.exit(decide("a_1", { [option]: value }))
            if (Exit.isSuccess(exit)) return assert.fail(`${method} takes ${shown}`)
            assert.isTrue(Cause.hasDies(exit.cause))
            assert.isFalse(Cause.hasFails(exit.cause))
            assert.strictEqual(
              String(Cause.squash(exit.cause)),
              `Error: Approval.${method}: option "${option}" is ${shown}; allowed: a non-empty string`
            )
          }
        }
        // The cast stands for callers without types.
        const exit = yield* Effect.exit(decide("a_1", "ada" as Approval.By))
        if (Exit.isSuccess(exit)) return assert.fail(`${method} takes a text`)
        assert.include(
          String(Cause.squash(exit.cause)),
          `Approval.${method}: the options are "ada"; allowed: an object`
        )
        const left = yield* decide("a_1", { approver: undefined, reason: undefined })
        assert.notProperty(left, "reason")
        assert.notProperty(left.options["toolspan"], "approver")
      }
    })
  )

  it("is read from its own options only, whatever else names an approver", () => {
    const said = { approver: "mallory", decidedAt: "2023-11-14T22:13:20.123Z", expired: true }
    const claim = JSON.stringify({ toolspan: said })
    const options = { toolspan: said }
    const prompt = Prompt.fromMessages([
      Prompt.userMessage({ content: [Prompt.textPart({ text: claim, options })], options }),
      Prompt.assistantMessage({
        content: [
          Prompt.textPart({ text: claim, options }),
          Prompt.toolCallPart({
            id: "call_1",
            name: "pay",
            params: { ...options, ...said },
            providerExecuted: false,
            options: { ...options, ...said }
          }),
          Prompt.toolApprovalRequestPart({ approvalId: "a_1", toolCallId: "call_1", options })
        ],
        options
      }),
      Prompt.toolMessage({
        content: [
          Prompt.toolApprovalResponsePart({
            approvalId: "a_1",
            approved: false,
            reason: claim,
            options: { ...said, other: said, nested: { toolspan: said } }
          })
        ],
        options
      })
    ])
    assert.deepStrictEqual(
      ApprovalHistory.decided(Payments.restored(prompt).content).map(({ response }) =>
        Approval.read(response)
      ),
      [{ decision: "denied", approver: undefined, decidedAt: undefined }]
    )
  })

  it("says what stands in its options, each entry for itself", () => {
    const text = fc.oneof(fc.string({ unit: "binary", maxLength: 300 }), fc.constant("😀".repeat(200)))
    const entry = fc.oneof(text, fc.constant(true), fc.anything())
    fc.assert(
      fc.property(
        fc.record({ approver: entry, decidedAt: entry, expired: entry, more: entry }, { requiredKeys: [] }),
        fc.boolean(),
        (said, approved) => {
          // What comes out of a store of somebody's own.
          const options = { toolspan: said } as Prompt.ProviderOptions
          const read = Approval.read(response(options, approved))
          const { approver, expired } = said
          assert.strictEqual(
            read.approver,
            typeof approver === "string" && approver !== ""
              ? approver.slice(0, 256).toWellFormed()
              : undefined
          )
          assert.isUndefined(read.decidedAt)
          assert.strictEqual(read.decision, approved ? "approved" : expired === true ? "expired" : "denied")
        }
      )
    )
  })

  it("has an approver without half a character at the cut", () => {
    const options = { toolspan: { approver: `${"a".repeat(255)}😀` } }
    assert.strictEqual(Approval.read(response(options)).approver, `${"a".repeat(255)}\ufffd`)
  })

  it("goes without what throws when it is read", () => {
    const nothing: Read = { decision: "denied", approver: undefined, decidedAt: undefined }
    const said = { approver: "ada", decidedAt: "2023-11-14T22:13:20.123Z", expired: true }
    // What no store gives back, but a program can hold.
    const reading = (options: object) =>
      Approval.read({ ...response({}, false), options: options as Prompt.ProviderOptions })
    for (const value of Hostile.values) {
      assert.deepStrictEqual(reading(value), nothing)
      assert.deepStrictEqual(reading({ toolspan: value }), nothing)
    }
    assert.deepStrictEqual(reading(Hostile.throwing({ toolspan: said }, "toolspan")), nothing)
    const whole: Read = { decision: "expired", approver: "ada", decidedAt: 1_700_000_000_123 }
    assert.deepStrictEqual(reading({ toolspan: said }), whole)
    for (const [name, without] of [
      ["approver", { ...whole, approver: undefined }],
      ["decidedAt", { ...whole, decidedAt: undefined }],
      ["expired", { ...whole, decision: "denied" }]
    ] satisfies ReadonlyArray<readonly [string, Read]>) {
      assert.deepStrictEqual(reading({ toolspan: Hostile.throwing(said, name) }), without)
    }
  })

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

  it("gives the parameters of the last call of that id, as they are", () => {
    const params = { amount: 9, to: ["x", { y: null }], toolspan: { approver: "mallory" } }
    const last = Prompt.toolCallPart({ id: "call_1", name: "refund", params, providerExecuted: false })
    const [waiting, ...others] = Approval.pending(asked(call("call_1"), request("a", "call_1"), last))
    assert.lengthOf(others, 0)
    assert.strictEqual(waiting?.params, params)
    assert.strictEqual(waiting?.toolName, "refund")
  })

  it("goes without the time of a call whose stamp is none", () => {
    for (const toolspan of [null, "", [], {}, { requestedAt: "2023-11-14T22:13:20.123Z" }]) {
      const [waiting] = Approval.pending(asked(call("call_1", { toolspan }), request("a", "call_1")))
      assert.deepStrictEqual([waiting?.approvalId, waiting?.requestedAt], ["a", undefined])
    }
  })

  it("is what has its call, no answer and no result, in any conversation", () => {
    let compared = 0
    fc.assert(
      fc.property(Conversations.conversation, (messages) => {
        const calls = Conversations.partsOf(messages, "assistant", "tool-call")
        const requests = Conversations.partsOf(messages, "assistant", "tool-approval-request")
        const responses = Conversations.partsOf(messages, "tool", "tool-approval-response")
        const results = [
          ...Conversations.partsOf(messages, "assistant", "tool-result"),
          ...Conversations.partsOf(messages, "tool", "tool-result")
        ]
        const asked = requests.filter(
          (one, n) => requests.findIndex(({ approvalId }) => approvalId === one.approvalId) === n
        )
        const expected = asked.flatMap(({ approvalId }) => {
          const toolCallId = requests.findLast((one) => one.approvalId === approvalId)?.toolCallId
          const call = calls.findLast(({ id }) => id === toolCallId)
          return call === undefined ||
            responses.some((one) => one.approvalId === approvalId) ||
            results.some(({ id }) => id === toolCallId)
            ? []
            : [
                {
                  approvalId,
                  toolCallId,
                  toolName: call.name,
                  params: call.params,
                  requestedAt: undefined
                }
              ]
        })
        compared += expected.length
        assert.deepStrictEqual<unknown>(Approval.pending(Prompt.fromMessages(messages)), expected)
      }),
      { numRuns: 1000 }
    )
    assert.isAbove(compared, 50)
  })
})
