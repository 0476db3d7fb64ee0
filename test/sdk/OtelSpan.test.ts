import * as OtelTracer from "@effect/opentelemetry/OtelTracer"
import { assert, describe, it } from "@effect/vitest"
import * as Otel from "@opentelemetry/api"
import { tracing } from "@opentelemetry/sdk-node"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"
import { EnterableContextManager } from "../../src/sdk/ContextManager.ts"
import * as SdkTracer from "../../src/sdk/Tracer.ts"
import * as Instruments from "../../src/semconv/Instruments.ts"
import { InitialAttributes, StartAttributes } from "../../src/semconv/SpanStart.ts"
import * as Tracing from "./Tracing.ts"

const { ERROR, UNSET } = Otel.SpanStatusCode

/** Runs an effect with our tracer over an SDK in memory; gives the SDK's spans to the test. */
const traced = <A, E>(effect: Effect.Effect<A, E>, options: Parameters<typeof Tracing.make>[0] = {}) =>
  Effect.gen(function* () {
    const contextManager = new EnterableContextManager()
    const tracing = yield* Tracing.make({ contextManager, ...options })
    const context = yield* Layer.build(SdkTracer.layer(contextManager))
    const exit = yield* Effect.exit(Effect.provideContext(effect, context))
    return { tracing, exit, value: Exit.getSuccess(exit) }
  }).pipe(Effect.scoped, Effect.provideService(Metric.MetricRegistry, new Map()))

const traceId = "0af7651916cd43dd8448eb211c80319c"
const spanId = "b7ad6b7169203331"

describe("a span", () => {
  it.effect("has its initial attributes when the sampler looks, and in Effect's own span", () =>
    Effect.gen(function* () {
      const sampled: Array<Otel.Attributes> = []
      const initial = new StartAttributes({ first: 1, same: "old" })
      const always = new tracing.AlwaysOnSampler()
      const { tracing: spans, value } = yield* traced(
        Effect.withSpan(Effect.currentSpan, "a", {
          annotations: Context.make(InitialAttributes, initial),
          attributes: { same: "new", later: true }
        }),
        {
          sampler: {
            shouldSample: (...args) => {
              sampled.push({ ...args[4] })
              return always.shouldSample()
            }
          }
        }
      )
      assert.deepStrictEqual(sampled, [{ first: 1, same: "old" }])
      assert.isTrue(initial.taken)
      const expected = { first: 1, same: "new", later: true }
      assert.deepStrictEqual(spans.named("a").attributes, expected)
      assert.deepStrictEqual(Object.fromEntries(Option.getOrThrow(value).attributes), expected)
    })
  )

  it.effect("that succeeds leaves its status Unset", () =>
    Effect.gen(function* () {
      const { tracing: spans } = yield* traced(Effect.withSpan(Effect.void, "a"))
      assert.deepStrictEqual(spans.named("a").status, { code: UNSET })
    })
  )

  it.effect("that fails has status Error and one exception event for each error", () =>
    Effect.gen(function* () {
      const two = Cause.combine(Cause.fail(new TypeError("first")), Cause.fail("second"))
      const { tracing: spans } = yield* traced(Effect.withSpan(Effect.failCause(two), "a"))
      const { events, status } = spans.named("a")
      assert.deepStrictEqual(status, { code: ERROR, message: "first" })
      assert.deepStrictEqual(
        events.map(({ attributes, name }) => [
          name,
          attributes?.["exception.type"],
          attributes?.["exception.message"]
        ]),
        [
          ["exception", "TypeError", "first"],
          ["exception", "Error", "second"]
        ]
      )
      assert.include(String(events[0]?.attributes?.["exception.stacktrace"]), "OtelSpan.test.ts")
    })
  )

  it.effect("that dies has status Error", () =>
    Effect.gen(function* () {
      const { tracing: spans } = yield* traced(Effect.withSpan(Effect.die(new Error("broken")), "a"))
      assert.deepStrictEqual(spans.named("a").status, { code: ERROR, message: "broken" })
    })
  )

  it.effect("that fails with what cannot be read has status Error all the same", () =>
    Effect.gen(function* () {
      const hostile = new Proxy(new Error("hidden"), { get: () => fail() })
      const { exit, tracing: spans } = yield* traced(
        Effect.exit(Effect.withSpan(Effect.fail(hostile), "a", { captureStackTrace: false }))
      )
      assert.isTrue(Exit.isSuccess(exit))
      assert.strictEqual(spans.named("a").status.code, ERROR)
    })
  )

  it.effect("that is interrupted leaves its status Unset and says so", () =>
    Effect.gen(function* () {
      const { tracing: spans } = yield* traced(
        Effect.gen(function* () {
          const fiber = yield* Effect.forkChild(Effect.withSpan(Effect.never, "a"), {
            startImmediately: true
          })
          yield* Fiber.interrupt(fiber)
        })
      )
      const { attributes, events, status } = spans.named("a")
      assert.deepStrictEqual(status, { code: UNSET })
      assert.deepStrictEqual(attributes, { "effect.fiber.interrupted": true })
      assert.deepStrictEqual(events, [])
    })
  )

  it.effect("converts values as @effect/opentelemetry does", () =>
    Effect.gen(function* () {
      const values: Record<string, unknown> = {
        text: "t",
        number: 1.5,
        flag: false,
        big: 10n ** 20n,
        texts: ["a", "b"],
        numbers: [1, 2],
        flags: [true],
        empty: [],
        mixed: [1, "a"],
        nested: { a: [1, { b: 2 }] },
        nothing: null,
        missing: undefined,
        date: new Date(0)
      }
      const program = Effect.flatMap(Effect.currentSpan, (span) =>
        Effect.sync(() => span.event("event", 1n, values))
      ).pipe(
        Effect.withSpan("a", { attributes: values, links: [{ span: external({}), attributes: values }] })
      )
      const convert = (layer: Layer.Layer<OtelTracer.OtelTracer>) =>
        Effect.gen(function* () {
          const spans = yield* Tracing.make()
          yield* Effect.provide(program, layer)
          const { attributes, events, links } = spans.named("a")
          return { attributes, event: events[0]?.attributes, link: links[0]?.attributes }
        }).pipe(Effect.scoped)
      const ours = yield* convert(SdkTracer.layer())
      assert.deepStrictEqual(ours, yield* convert(OtelTracer.layerGlobal))
      assert.strictEqual(ours.attributes["big"], "100000000000000000000")
    })
  )

  it.effect("keeps name, kind, links, times and events", () =>
    Effect.gen(function* () {
      const { tracing: spans } = yield* traced(
        Effect.gen(function* () {
          const { links, tracer } = {
            links: [{ span: external({}), attributes: { l: 1 } }],
            tracer: yield* Effect.tracer
          }
          const span = tracer.span({
            name: "a",
            kind: "producer",
            links,
            startTime: 1_700_000_000_123_456_789n,
            parent: Option.none(),
            annotations: Context.empty(),
            root: false,
            sampled: true
          })
          span.event("e", 1_700_000_001_000_000_001n, { x: 1 })
          span.addLinks([{ span: external({ spanId: "c".repeat(16) }), attributes: {} }])
          span.end(1_700_000_002_000_000_002n, Exit.void)
          span.attribute("late", 1)
          span.event("late", 1n)
          span.addLinks([{ span: external({}), attributes: {} }])
          span.end(1n, Exit.void)
          assert.strictEqual(span.links.length, 2)
        })
      )
      const span = spans.named("a")
      assert.strictEqual(span.kind, Otel.SpanKind.PRODUCER)
      assert.deepStrictEqual(span.startTime, [1_700_000_000, 123_456_789])
      assert.deepStrictEqual(span.endTime, [1_700_000_002, 2])
      assert.deepStrictEqual(
        span.events.map(({ attributes, name, time }) => ({ attributes, name, time })),
        [{ name: "e", attributes: { x: 1 }, time: [1_700_000_001, 1] }]
      )
      assert.deepStrictEqual(
        span.links.map(({ attributes, context }) => [context.spanId, attributes]),
        [
          [spanId, { l: 1 }],
          ["c".repeat(16), undefined]
        ]
      )
    })
  )

  it.effect("without what cannot be converted is counted", () =>
    Effect.gen(function* () {
      const hostile = { toJSON: () => fail(), toString: () => fail() }
      const { tracing: spans, value } = yield* traced(
        Effect.gen(function* () {
          yield* Effect.annotateCurrentSpan("hostile", hostile)
          yield* Effect.annotateCurrentSpan("good", 1)
        }).pipe(
          Effect.withSpan("a"),
          Effect.andThen(Metric.value(Instruments.telemetryDropped("serialization")))
        )
      )
      assert.deepStrictEqual(spans.named("a").attributes, { good: 1 })
      assert.strictEqual(Option.getOrThrow(value).count, 1)
    })
  )

  it.effect("that is not sampled keeps and converts nothing", () =>
    Effect.gen(function* () {
      let converted = false
      const untouchable = {
        toJSON: () => {
          converted = true
        }
      }
      const { value } = yield* traced(
        Effect.withSpan(
          Effect.tap(Effect.currentSpan, (span) => {
            span.event("e", 1n, { untouchable })
            return Effect.void
          }),
          "a",
          { attributes: { untouchable } }
        ),
        { sampler: new tracing.AlwaysOffSampler() }
      )
      const span = Option.getOrThrow(value)
      assert.isFalse(converted)
      assert.isFalse(span.sampled)
      assert.strictEqual(span.attributes.size, 0)
      assert.strictEqual(span.status._tag, "Ended")
    })
  )

  const spoilt: Record<string, Parameters<typeof Tracing.make>[0]> = {
    sampler: { sampler: { shouldSample: () => fail() } },
    "span processor at the start": { spanProcessors: [processor({ onStart: () => fail() })] },
    "span processor at the end": { spanProcessors: [processor({ onEnd: () => fail() })] }
  }
  for (const [part, spoil] of Object.entries(spoilt)) {
    it.effect(`leaves the program alone if a ${part} throws`, () =>
      Effect.gen(function* () {
        const { exit } = yield* traced(
          Effect.withSpan(Effect.withSpan(Effect.succeed(1), "b"), "a", { attributes: { x: 1 } }),
          spoil
        )
        assert.deepStrictEqual(exit, Exit.succeed(1))
      })
    )
  }
})

describe("the parent of a span", () => {
  it.effect("is the Effect span around it, by its real OpenTelemetry span", () =>
    Effect.gen(function* () {
      let parent: Otel.Span | undefined
      const { tracing: spans, value } = yield* traced(
        OtelTracer.currentOtelSpan.pipe(
          Effect.tap(() => Effect.withSpan(Effect.void, "child")),
          Effect.withSpan("parent")
        ),
        { spanProcessors: [processor({ onStart: (span) => (parent ??= span) })] }
      )
      assert.strictEqual(Option.getOrThrow(value), parent)
      assert.strictEqual(spans.named("child").parentSpanContext?.spanId, parent?.spanContext().spanId)
    })
  )

  it.effect("is an external span with its flags and its state", () =>
    Effect.gen(function* () {
      const parent = OtelTracer.makeExternalSpan({ traceId, spanId, traceFlags: 1, traceState: "vendor=1" })
      const { tracing: spans } = yield* traced(Effect.withSpan(Effect.void, "a", { parent }))
      const { parentSpanContext } = spans.named("a")
      assert.deepInclude(parentSpanContext, { traceId, spanId, traceFlags: 1, isRemote: true })
      assert.strictEqual(parentSpanContext?.traceState?.serialize(), "vendor=1")
      assert.strictEqual(spans.named("a").spanContext().traceState?.serialize(), "vendor=1")
    })
  )

  it.effect("decides with its flags whether the span is sampled", () =>
    Effect.gen(function* () {
      const parent = OtelTracer.makeExternalSpan({ traceId, spanId, traceFlags: 0 })
      const { tracing: spans } = yield* traced(Effect.withSpan(Effect.void, "a", { parent }))
      assert.deepStrictEqual(spans.ended(), [])
    })
  )

  it.effect("takes flags and state from the annotations of the child, if they are there", () =>
    Effect.gen(function* () {
      const annotations = Context.make(OtelTracer.OtelTraceFlags, Otel.TraceFlags.SAMPLED).pipe(
        Context.add(OtelTracer.OtelTraceState, Otel.createTraceState("child=1"))
      )
      const { tracing: spans } = yield* traced(
        Effect.withSpan(Effect.void, "a", { parent: external({ sampled: false }), annotations })
      )
      assert.strictEqual(spans.named("a").spanContext().traceState?.serialize(), "child=1")
    })
  )

  it.effect("can be a span of upstream's tracer, and the other way round", () =>
    Effect.gen(function* () {
      const spans = yield* Tracing.make({ contextManager: new EnterableContextManager() })
      for (const [outer, inner] of [
        [OtelTracer.layerGlobal, SdkTracer.layer()],
        [SdkTracer.layer(), OtelTracer.layerGlobal]
      ] as const) {
        const name = inner === OtelTracer.layerGlobal ? "ours" : "upstream's"
        yield* Effect.withSpan(Effect.void, `in ${name}`).pipe(
          Effect.provide(inner),
          Effect.withSpan(name),
          Effect.provide(outer)
        )
        assert.strictEqual(
          spans.named(`in ${name}`).parentSpanContext?.spanId,
          spans.named(name).spanContext().spanId
        )
      }
    })
  )

  it.effect("is the active OpenTelemetry span where Effect has none", () =>
    Effect.gen(function* () {
      const active = (options: Tracer.SpanOptions) =>
        Effect.sync(() =>
          Otel.trace.getTracer("plain").startActiveSpan("plain", (plain) => {
            const source = { tracer: Otel.trace.getTracer("effect"), dropped: () => undefined }
            const context = Context.make(Tracer.Tracer, SdkTracer.make(source))
            const span = Effect.runSyncWith(context)(Effect.withSpan(Effect.currentSpan, "a", options))
            plain.end()
            return { parent: Option.getOrUndefined(span.parent), plain: plain.spanContext() }
          })
        )
      const { value } = yield* traced(active({}))
      const { parent, plain } = Option.getOrThrow(value)
      assert.deepInclude(parent, {
        _tag: "ExternalSpan",
        spanId: plain.spanId,
        traceId: plain.traceId,
        sampled: true
      })
      const root = Option.getOrThrow((yield* traced(active({ root: true }))).value)
      assert.isUndefined(root.parent)
      const annotations = Context.make(OtelTracer.OtelTraceState, Otel.createTraceState("child=1"))
      const { tracing: spans } = yield* traced(active({ annotations }))
      assert.strictEqual(spans.named("a").spanContext().traceState?.serialize(), "child=1")
    })
  )

  it.effect("is skipped where it does not propagate", () =>
    Effect.gen(function* () {
      const { tracing: spans } = yield* traced(
        Effect.withSpan(Effect.void, "child").pipe(
          Effect.withSpan("hidden", { annotations: Context.make(Tracer.DisablePropagation, true) }),
          Effect.withSpan("parent")
        )
      )
      assert.strictEqual(
        spans.named("child").parentSpanContext?.spanId,
        spans.named("parent").spanContext().spanId
      )
    })
  )
})

function external(options: { readonly spanId?: string; readonly sampled?: boolean }): Tracer.ExternalSpan {
  return Tracer.externalSpan({ traceId, spanId, ...options })
}

function fail(): never {
  throw new Error("The SDK is broken")
}

function processor(parts: Partial<tracing.SpanProcessor>): tracing.SpanProcessor {
  return {
    onStart: () => undefined,
    onEnd: () => undefined,
    forceFlush: () => Promise.resolve(),
    shutdown: () => Promise.resolve(),
    ...parts
  }
}
