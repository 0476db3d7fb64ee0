import { assert, describe, it } from "@effect/vitest"
import * as Otel from "@opentelemetry/api"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Tracer from "effect/Tracer"
import * as fc from "fast-check"
import * as TraceContext from "../../src/propagation/TraceContext.ts"
import * as SpanContext from "../../src/sdk/SpanContext.ts"
import * as SdkTracer from "../../src/sdk/Tracer.ts"
import { TraceState } from "../../src/semconv/TraceState.ts"
import * as Tracing from "../sdk/Tracing.ts"
import * as Hostile from "./Hostile.ts"

const hex = (length: number) =>
  fc
    .string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: length, maxLength: length })
    .filter((text) => /[^0]/.test(text))

const place = fc.record({ traceId: hex(32), spanId: hex(16), sampled: fc.boolean() })
const state = fc.string({ unit: fc.constantFrom(..."abc=,;01 ~"), minLength: 1, maxLength: 512 })

/** The fields of a traceparent, right or wrong, each in most cases right. */
const often = (right: fc.Arbitrary<string>, ...wrong: ReadonlyArray<fc.Arbitrary<string>>) =>
  fc.oneof({ weight: 8, arbitrary: right }, ...wrong)
const fields = fc.tuple(
  often(fc.constant("00"), fc.constantFrom("01", "ff", "0", "000", "0x", "", "00-")),
  often(hex(32), hex(31), hex(33), fc.constantFrom("0".repeat(32), "A".repeat(32), "g".repeat(32))),
  often(hex(16), hex(15), hex(17), fc.constantFrom("0".repeat(16), "A".repeat(16), "g".repeat(16))),
  often(
    fc.nat(255).map((flags) => flags.toString(16).padStart(2, "0")),
    fc.constantFrom("1", "001", "0A", "-1", "01-00", "01\n")
  )
)

/** A span of somebody's tracer on OpenTelemetry: it has the OpenTelemetry span in `span`. */
const holding = (span: unknown, annotations: Context.Context<never> = Context.empty()) =>
  Object.assign(
    Tracer.externalSpan({
      traceId: "0af7651916cd43dd8448eb211c80319c",
      spanId: "b7ad6b7169203331",
      annotations
    }),
    { span }
  )

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

  it("takes the form of the W3C, version 00, and no other", () => {
    const form = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/
    const seen = { valid: 0, other: 0 }
    fc.assert(
      fc.property(fields, (parts) => {
        const traceparent = parts.join("-")
        const read = TraceContext.toSpan({ traceparent })
        if (form.test(traceparent)) {
          seen.valid++
          const [, traceId, spanId, flags] = parts
          assert.deepInclude(read, { traceId, spanId, sampled: Number.parseInt(flags, 16) % 2 === 1 })
        } else {
          seen.other++
          assert.isUndefined(read)
        }
      }),
      { numRuns: 500 }
    )
    assert.isAbove(seen.valid, 50)
    assert.isAbove(seen.other, 50)
  })

  it("reads what throws as what is not there", () => {
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    const valid = { traceparent, tracestate: "a=1" }
    for (const value of Hostile.values) {
      assert.isUndefined(TraceContext.toSpan({ traceparent: value }))
      // The cast stands for what comes back from anywhere.
      assert.isUndefined(TraceContext.toSpan(value as TraceContext.TraceContext))
      assert.strictEqual(TraceContext.toSpan({ traceparent, tracestate: value })?.spanId, "b7ad6b7169203331")
    }
    assert.isUndefined(TraceContext.toSpan(Hostile.throwing(valid, "traceparent")))
    const stateless = TraceContext.toSpan(Hostile.throwing(valid, "tracestate"))
    assert.strictEqual(stateless?.spanId, "b7ad6b7169203331")
    assert.isUndefined(stateless && Context.getOrUndefined(stateless.annotations, TraceState))
  })

  it("keeps a trace state to its 512th character", () => {
    const tracestate = ` ~${"a".repeat(510)}`
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    const read = TraceContext.toSpan({ traceparent, tracestate })
    assert.deepStrictEqual(read && TraceContext.fromSpan(read), { traceparent, tracestate })
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

  it.effect("carries the trace state on to the spans that OpenTelemetry makes at the place", () =>
    Effect.gen(function* () {
      const spans = yield* Tracing.make()
      const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
      const parent = TraceContext.toSpan({ traceparent, tracestate: "vendor=1,other=2" })
      assert.isDefined(parent)
      const child = yield* Effect.currentSpan.pipe(
        Effect.map(TraceContext.fromSpan),
        Effect.withSpan("child", { parent }),
        Effect.provide(SdkTracer.layer())
      )
      const made = spans.named("child")
      assert.strictEqual(made.spanContext().traceState?.serialize(), "vendor=1,other=2")
      assert.strictEqual(made.parentSpanContext?.spanId, "b7ad6b7169203331")
      assert.strictEqual(child?.tracestate, "vendor=1,other=2")
    })
  )

  it("prefers the trace state that came with the place to that of the span at it", () => {
    const serialize = () => "own=1"
    const span = { spanContext: () => ({ traceState: { serialize } }) }
    assert.strictEqual(TraceContext.fromSpan(holding(span))?.tracestate, "own=1")
    const carried = holding(span, Context.make(TraceState, "carried=1"))
    assert.strictEqual(TraceContext.fromSpan(carried)?.tracestate, "carried=1")
  })

  it("goes without a trace state that is no text, or no trace state", () => {
    const saying = (said: unknown) => ({ spanContext: () => ({ traceState: { serialize: () => said } }) })
    const silent = {
      spanContext: () => ({
        traceState: {
          serialize: () => {
            throw new Error("state down")
          }
        }
      })
    }
    for (const span of [
      silent,
      ...[undefined, null, 7, {}, "", "ü=1", "a=1\n", "a".repeat(513), Hostile.proxy].map(saying),
      { spanContext: () => ({}) },
      { spanContext: () => undefined },
      {},
      null,
      undefined,
      ...Hostile.values
    ]) {
      assert.deepStrictEqual(TraceContext.fromSpan(holding(span)), {
        traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
      })
    }
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
