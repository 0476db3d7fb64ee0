import { assert, describe, it } from "@effect/vitest"
import * as Chat from "effect/ai/Chat"
import * as Prompt from "effect/ai/Prompt"
import * as Response from "effect/ai/Response"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import * as Result from "effect/Result"
import * as Tracer from "effect/Tracer"
import * as fc from "fast-check"
import * as ToolCallContext from "../../src/propagation/ToolCallContext.ts"
import { TraceState } from "../../src/semconv/TraceState.ts"
import * as Payments from "../support/Payments.ts"
import * as Hostile from "./Hostile.ts"

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

  it("of any turn reads back from JSON as its place, with its trace state", () => {
    const id = (length: number) =>
      fc
        .string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: length, maxLength: length })
        .filter((text) => /[^0]/.test(text))
    fc.assert(
      fc.property(
        fc.record({ traceId: id(32), spanId: id(16), sampled: fc.boolean() }),
        fc.constantFrom(undefined, "vendor=1", "a=1,b=2"),
        (span, tracestate) => {
          const annotations =
            tracestate === undefined ? Context.empty() : Context.make(TraceState, tracestate)
          const written = ToolCallContext.stamp(Tracer.externalSpan({ ...span, annotations }), 7)
          const found = ToolCallContext.read({ toolspan: JSON.parse(JSON.stringify(written)) })
          if (!Result.isSuccess(found)) return assert.fail(found.failure)
          assert.deepInclude(found.success.span, span)
          assert.strictEqual(Context.getOrUndefined(found.success.span.annotations, TraceState), tracestate)
        }
      )
    )
  })

  it("goes from the metadata of a response into the options of the conversation", () => {
    const part = Response.makePart("tool-call", {
      id: "call_1",
      name: "pay",
      params: { amount: 7 },
      providerExecuted: false,
      metadata: { openai: { itemId: "item_1" }, toolspan: { ...stamp } }
    })
    const options = optionsOf(Prompt.fromResponseParts([part]))
    assert.deepStrictEqual(options, { openai: { itemId: "item_1" }, toolspan: { ...stamp } })
    assert.deepStrictEqual(ToolCallContext.origin({ options: { ...options } }), ToolCallContext.origin(part))
    assert.deepStrictEqual(read(options), place)
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

  it("is looked for in whatever stands for options, without a throw", () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true }), (options) => {
        // The casts stand for what comes out of a store of somebody's own.
        const said = read(options as Readonly<Record<string, unknown>>)
        assert.strictEqual(said, options === null ? "bad_stamp" : "no_stamp")
      })
    )
    for (const options of [
      Hostile.proxy,
      Hostile.revoked,
      Hostile.throwing({ toolspan: stamp }, "toolspan")
    ]) {
      assert.strictEqual(read(options as Readonly<Record<string, unknown>>), "bad_stamp")
    }
    for (const toolspan of Hostile.values) assert.strictEqual(read({ toolspan }), "bad_stamp")
    for (const name of ["traceparent", "requestedAt"]) {
      assert.strictEqual(read({ toolspan: Hostile.throwing({ ...stamp }, name) }), "bad_stamp", name)
      for (const value of Hostile.values) {
        assert.strictEqual(read({ toolspan: { ...stamp, [name]: value } }), "bad_stamp", name)
      }
    }
    for (const tracestate of Hostile.values) {
      assert.deepStrictEqual(read({ toolspan: { ...stamp, tracestate } }), place)
    }
  })

  it("is not taken from a property named like one of every object", () => {
    for (const name of ["__proto__", "constructor", "prototype", "hasOwnProperty", "toString"]) {
      const under = (value: unknown): Readonly<Record<string, unknown>> =>
        JSON.parse(`{${JSON.stringify(name)}:${JSON.stringify(value)}}`)
      assert.strictEqual(read(under({ toolspan: stamp })), "no_stamp", name)
      assert.strictEqual(read({ toolspan: under(stamp) }), "bad_stamp", name)
      assert.deepStrictEqual(read({ ...under(1), toolspan: { ...under(1), ...stamp } }), place, name)
    }
  })

  it("takes no time but a whole one in UTC, after the epoch", () => {
    const at = (requestedAt: string) => read({ toolspan: { ...stamp, requestedAt } })
    const zone = fc
      .tuple(fc.constantFrom("+", "-"), fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
      .map(([sign, ...hm]) => sign + hm.map((n) => String(n).padStart(2, "0")).join(":"))
    fc.assert(
      fc.property(fc.oneof(zone, fc.constantFrom("", "z", " Z", "ZZ", "Z\n", "UTC")), (suffix) => {
        assert.strictEqual(at(`2023-11-14T22:13:20.123${suffix}`), "bad_stamp")
      })
    )
    fc.assert(
      fc.property(
        fc.date({ max: new Date(-1), min: new Date(-62_000_000_000_000), noInvalidDate: true }),
        (date) => {
          assert.strictEqual(at(date.toISOString()), "bad_stamp")
        }
      )
    )
    for (const text of [
      "",
      "2023",
      "2023-11-14",
      "2023-11-14 22:13:20Z",
      "2023-11-14T22:13Z",
      "2023-11-14T22:13:20.Z",
      "2023-11-14T24:13:20Z",
      "2023-00-14T22:13:20Z",
      "+012023-11-14T22:13:20Z",
      "2023-11-14T22:13:20.1234567890Z",
      "Tue, 14 Nov 2023 22:13:20 GMT",
      "٢٠٢٣-١١-١٤T22:13:20Z"
    ]) {
      assert.strictEqual(at(text), "bad_stamp", text)
    }
    assert.deepStrictEqual(at("1970-01-01T00:00:00.000Z"), [turn.traceId, turn.spanId, true, 0])
    assert.deepStrictEqual(at("2023-11-14T22:13:20Z"), [turn.traceId, turn.spanId, true, 1_700_000_000_000])
    assert.deepStrictEqual(at("2023-11-14T22:13:20.123456789Z"), place)
  })

  it("gives no origin where it cannot be read", () => {
    for (const part of [
      {},
      { options: {} },
      { options: { toolspan: { ...stamp, requestedAt: "soon" } } },
      Hostile.throwing({ options: { toolspan: stamp } }, "options"),
      Hostile.throwing({ metadata: { toolspan: stamp } }, "metadata"),
      ...Hostile.values
    ]) {
      assert.isUndefined(ToolCallContext.origin(part))
    }
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
