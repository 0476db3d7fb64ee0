import { assert, describe, it } from "@effect/vitest"
import * as Otel from "@opentelemetry/api"
import { EffectSpanKey, EnteredContext } from "../../src/sdk/EnteredContext.ts"

const span = (spanId: string) =>
  Otel.trace.wrapSpanContext({ traceId: "a".repeat(32), spanId, traceFlags: Otel.TraceFlags.SAMPLED })
const first = span("1".repeat(16))
const second = span("2".repeat(16))
const key = Otel.createContextKey("test")
const around = Otel.ROOT_CONTEXT.setValue(key, "kept")

describe("an entered context", () => {
  it("has its span, for OpenTelemetry and for us, and everything that was around it", () => {
    const context = new EnteredContext(around, first)
    assert.strictEqual(Otel.trace.getSpan(context), first)
    assert.strictEqual(context.getValue(EffectSpanKey), first)
    assert.strictEqual(context.getValue(key), "kept")
  })

  it("keeps all of it in the contexts that are made from it", () => {
    const other = Otel.createContextKey("other")
    const changed = new EnteredContext(around, first).setValue(other, 1).deleteValue(key)
    assert.deepStrictEqual(
      [
        Otel.trace.getSpan(changed),
        changed.getValue(EffectSpanKey),
        changed.getValue(other),
        changed.getValue(key)
      ],
      [first, first, 1, undefined]
    )
    const foreign = Otel.trace.setSpan(new EnteredContext(around, first), second)
    assert.deepStrictEqual([Otel.trace.getSpan(foreign), foreign.getValue(EffectSpanKey)], [second, first])
  })

  it("does not hold on to the ones before it, however many there were", () => {
    let reads = 0
    const counting: Otel.Context = {
      getValue: () => {
        reads++
        return undefined
      },
      setValue: () => counting,
      deleteValue: () => counting
    }
    let context: Otel.Context = counting
    for (let n = 0; n < 100_000; n++) context = new EnteredContext(context, n % 2 === 0 ? first : second)
    assert.isUndefined(context.getValue(key))
    assert.strictEqual(reads, 1)
    assert.strictEqual(Otel.trace.getSpan(context), second)
  })
})
