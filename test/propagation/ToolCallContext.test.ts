import { assert, describe, it } from "@effect/vitest"
import * as Chat from "effect/ai/Chat"
import * as Prompt from "effect/ai/Prompt"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import * as Result from "effect/Result"
import * as Tracer from "effect/Tracer"
import * as fc from "fast-check"
import * as ToolCallContext from "../../src/propagation/ToolCallContext.ts"
import * as Payments from "../support/Payments.ts"

const turn = Tracer.externalSpan({
  traceId: "0af7651916cd43dd8448eb211c80319c",
  spanId: "b7ad6b7169203331",
  sampled: true
})
const stamp = ToolCallContext.stamp(turn, 1_700_000_000_123)
const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

/** What is read, as plain values. */
const read = (options: Readonly<Record<string, unknown>> | undefined) =>
  Result.match(ToolCallContext.read(options), {
    onFailure: (reason) => reason,
    onSuccess: ({ requestedAt, span }) => [span.traceId, span.spanId, span.sampled, requestedAt]
  })

const place = [turn.traceId, turn.spanId, true, 1_700_000_000_123]

const conversation = Prompt.fromMessages([
  Prompt.assistantMessage({
    content: [
      Prompt.toolCallPart({
        id: "call_1",
        name: "pay",
        params: { amount: 7 },
        providerExecuted: false,
        options: { openai: { itemId: "item_1" }, toolspan: { ...stamp } }
      })
    ]
  })
])

const optionsOf = (prompt: Prompt.Prompt) => {
  for (const { content } of prompt.content) {
    if (typeof content === "string") continue
    for (const part of content) if (part.type === "tool-call") return part.options
  }
  return undefined
}

describe("a stamp", () => {
  it("says where and when, as JSON", () => {
    assert.deepStrictEqual(stamp, { traceparent, requestedAt: "2023-11-14T22:13:20.123Z" })
    assert.deepStrictEqual(read({ toolspan: stamp }), place)
  })

  it("of any time reads back as it", () => {
    fc.assert(
      fc.property(fc.nat(4_000_000_000_000), (time) => {
        const found = ToolCallContext.read({ toolspan: ToolCallContext.stamp(turn, time) })
        assert.isTrue(Result.isSuccess(found))
        if (Result.isSuccess(found)) assert.strictEqual(found.success.requestedAt, time)
      })
    )
  })

  it("survives JSON, and leaves what others put beside it", () => {
    const options = optionsOf(Payments.restored(conversation))
    assert.deepStrictEqual(options, { openai: { itemId: "item_1" }, toolspan: { ...stamp } })
    assert.deepStrictEqual(read(options), place)
  })

  it.effect("survives the export of a chat", () =>
    Effect.gen(function* () {
      const chat = yield* Chat.fromPrompt(conversation)
      const again = yield* Chat.fromJson(yield* chat.exportJson)
      assert.deepStrictEqual(read(optionsOf(yield* Ref.get(again.history))), place)
    })
  )

  it("is none for a turn that is in no trace", () => {
    assert.isUndefined(ToolCallContext.stamp(Tracer.externalSpan({ traceId: "noop", spanId: "noop" }), 0))
  })

  it("that is missing, or none of ours, is said to be so", () => {
    for (const options of [undefined, {}, { openai: {} }, Object.create({ toolspan: stamp })]) {
      assert.strictEqual(read(options), "no_stamp")
    }
    for (const toolspan of [
      null,
      "",
      traceparent,
      [],
      {},
      { traceparent },
      { ...stamp, traceparent: "00-0-0-0" },
      { ...stamp, requestedAt: "yesterday" },
      { ...stamp, requestedAt: 1_700_000_000_123 },
      { ...stamp, requestedAt: "2023-11-14T22:13:20.123+01:00" },
      { ...stamp, requestedAt: "2023-13-14T22:13:20.123Z" },
      { ...stamp, requestedAt: "1969-12-31T23:59:59.000Z" },
      { ...stamp, requestedAt: `2023-11-14T22:13:20.${"1".repeat(1_000_000)}Z` }
    ]) {
      assert.strictEqual(read({ toolspan }), "bad_stamp", JSON.stringify(toolspan)?.slice(0, 100))
    }
  })

  it("never throws, whatever is there", () => {
    const hostile = new Proxy(
      {},
      {
        get: () => {
          throw new Error("no")
        },
        has: () => true,
        getOwnPropertyDescriptor: () => {
          throw new Error("no")
        }
      }
    )
    assert.strictEqual(read(hostile), "bad_stamp")
    assert.strictEqual(read({ toolspan: hostile }), "bad_stamp")
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true }), (toolspan) => {
        assert.strictEqual(read({ toolspan }), "bad_stamp")
        assert.strictEqual(read({ toolspan: { ...stamp, traceparent: toolspan } }), "bad_stamp")
        assert.strictEqual(read({ toolspan: { ...stamp, requestedAt: toolspan } }), "bad_stamp")
      })
    )
  })

  it("gives the origin of a call to a loop that resolves calls itself", () => {
    const inPrompt = ToolCallContext.origin({ options: { toolspan: stamp } })
    const inResponse = ToolCallContext.origin({ metadata: { toolspan: stamp } })
    assert.deepStrictEqual(
      [inPrompt?.parent?.spanId, inResponse?.parent?.spanId, ToolCallContext.origin({ metadata: {} })],
      [turn.spanId, turn.spanId, undefined]
    )
  })
})
