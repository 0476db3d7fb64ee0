import { assert, describe, it } from "@effect/vitest"
import * as Otel from "@opentelemetry/api"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Tracer from "effect/Tracer"
import * as fc from "fast-check"
import * as TraceContext from "../../src/propagation/TraceContext.ts"
import * as SpanContext from "../../src/sdk/SpanContext.ts"
import { TraceState } from "../../src/semconv/TraceState.ts"

const hex = (length: number) =>
  fc
    .string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: length, maxLength: length })
    .filter((text) => /[^0]/.test(text))

const place = fc.record({ traceId: hex(32), spanId: hex(16), sampled: fc.boolean() })
const state = fc.string({ unit: fc.constantFrom(..."abc=,;01 ~"), minLength: 1, maxLength: 512 })

describe("TraceContext", () => {
  it("of any span reads back as the same place, with its trace state", () => {
    fc.assert(
      fc.property(place, fc.option(state, { nil: undefined }), (span, tracestate) => {
        const annotations = tracestate === undefined ? Context.empty() : Context.make(TraceState, tracestate)
        const written = TraceContext.fromSpan(Tracer.externalSpan({ ...span, annotations }))
        const json: unknown = JSON.parse(JSON.stringify(written))
        assert.deepStrictEqual(json, {
          traceparent: `00-${span.traceId}-${span.spanId}-${span.sampled ? "01" : "00"}`,
          ...(tracestate !== undefined && { tracestate })
        })
        const read = TraceContext.toSpan(json as TraceContext.TraceContext)
        assert.deepInclude(read, span)
        assert.strictEqual(read && Context.getOrUndefined(read.annotations, TraceState), tracestate)
      })
    )
  })

  it.effect("is none for a span of a trace that nobody keeps", () =>
    Effect.gen(function* () {
      const span = yield* Effect.currentSpan
      assert.strictEqual(span.traceId, "noop")
      assert.isUndefined(TraceContext.fromSpan(span))
    }).pipe(
      Effect.withSpan("off"),
      Effect.withTracerEnabled(false),
      Effect.provideService(Tracer.DisablePropagation, false)
    )
  )

  it("refuses whatever is no traceparent, and never throws", () => {
    const valid = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    const damaged = [
      valid.toUpperCase(),
      valid.slice(0, -1),
      `${valid}0`,
      `${valid}-more`,
      valid.replace("00-", "ff-"),
      valid.replace("00-", "01-"),
      valid.replace("0af7651916cd43dd8448eb211c80319c", "0".repeat(32)),
      valid.replace("b7ad6b7169203331", "0".repeat(16)),
      ` ${valid.slice(1)}`,
      "-".repeat(55),
      "x".repeat(10_000_000)
    ]
    for (const traceparent of damaged) assert.isUndefined(TraceContext.toSpan({ traceparent }), traceparent)
    fc.assert(
      fc.property(fc.anything(), (traceparent) => {
        assert.isUndefined(TraceContext.toSpan({ traceparent }))
      })
    )
    fc.assert(
      fc.property(fc.nat(54), fc.string({ unit: "binary", minLength: 1, maxLength: 1 }), (at, character) => {
        const traceparent = valid.slice(0, at) + character + valid.slice(at + 1)
        const read = TraceContext.toSpan({ traceparent })
        if (read === undefined) return
        assert.match(traceparent, /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/)
        assert.strictEqual(traceparent.slice(3, 52), `${read.traceId}-${read.spanId}`)
      })
    )
  })

  it("leaves out a trace state that is none, and keeps the place", () => {
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    for (const tracestate of ["", "ü=1", "a=1\nb=2", "a".repeat(513), 7, null, {}, ["a=1"]]) {
      const read = TraceContext.toSpan({ traceparent, tracestate })
      assert.strictEqual(read?.spanId, "b7ad6b7169203331")
      assert.isUndefined(read && Context.getOrUndefined(read.annotations, TraceState))
    }
  })

  it("reads the trace state of OpenTelemetry's spans, and gives it back to them", () => {
    const traceState = Otel.createTraceState("vendor=1,other=2")
    const span = Otel.trace.wrapSpanContext({
      traceId: "0af7651916cd43dd8448eb211c80319c",
      spanId: "b7ad6b7169203331",
      traceFlags: 1,
      traceState
    })
    const external = Tracer.externalSpan({ ...span.spanContext(), sampled: true })
    const written = TraceContext.fromSpan(Object.assign(external, { span }))
    assert.strictEqual(written?.tracestate, "vendor=1,other=2")
    const read = written && TraceContext.toSpan(written)
    assert.strictEqual(read && SpanContext.make(read).traceState?.get("other"), "2")
  })

  it("goes without a trace state that cannot be read", () => {
    const external = Tracer.externalSpan({
      traceId: "0af7651916cd43dd8448eb211c80319c",
      spanId: "b7ad6b7169203331"
    })
    const broken = {
      spanContext: () => {
        throw new Error("span down")
      }
    }
    assert.deepStrictEqual(TraceContext.fromSpan(Object.assign(external, { span: broken })), {
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    })
  })
})
