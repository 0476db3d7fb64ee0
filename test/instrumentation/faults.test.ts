import { assert, describe, it } from "@effect/vitest"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Schema from "effect/Schema"
import * as Tracer from "effect/Tracer"
import * as ContentPolicy from "../../src/content/ContentPolicy.ts"
import * as ToolkitInstrumentation from "../../src/instrumentation/ToolkitInstrumentation.ts"
import * as RecordedSpans from "../../src/testing/RecordedSpans.ts"
import { collect, handlers, toolkit } from "../support/Toolkits.ts"

const registry = Layer.sync(Metric.MetricRegistry, () => new Map())
const environment = Layer.mergeAll(handlers, RecordedSpans.layer, registry)

const dropped = Effect.map(Metric.snapshot, (snapshots) =>
  Object.fromEntries(
    snapshots
      .filter((snapshot) => snapshot.id === "toolspan.telemetry.dropped")
      .map((snapshot) => [
        snapshot.attributes?.["toolspan.dropped.reason"],
        (snapshot.state as Metric.CounterState<number>).count
      ])
  )
)

/** A tool that takes anything, so that anything reaches the capture. */
const Any = Tool.dynamic("any", { parameters: { type: "object" } })
const any = Toolkit.make(Any)
const anyHandler = any.toLayer({ any: () => Effect.succeed("done") })

describe("telemetry never changes a call", () => {
  const broken = (what: keyof Tracer.Span | "span") =>
    Effect.map(RecordedSpans.RecordedSpans, ({ tracer }) =>
      Tracer.make({
        span: (options) => {
          if (what === "span") throw new Error("tracer down")
          const span = tracer.span(options)
          return Object.assign(span, {
            [what]: () => {
              throw new Error("span down")
            }
          })
        }
      })
    )

  for (const what of ["span", "attribute", "event", "end"] as const) {
    it.effect(`a tracer whose ${what} throws costs the span, not the call`, () =>
      Effect.gen(function* () {
        const { handle } = yield* instrumentedWithResults
        const plain = yield* collect((yield* toolkit).handle("progress", { steps: 2 }))
        const results = yield* Effect.provideService(
          collect(handle("progress", { steps: 2 })),
          Tracer.Tracer,
          yield* broken(what)
        )
        assert.deepStrictEqual(results, plain)
      }).pipe(Effect.provide(environment))
    )
  }
  const instrumentedWithResults = ToolkitInstrumentation.instrument(toolkit, { content: { results: "full" } })

  it.effect("a redaction hook that throws drops the content and is counted", () =>
    Effect.gen(function* () {
      const { handle } = yield* ToolkitInstrumentation.instrument(toolkit, {
        content: {
          redact: () => {
            throw new Error("hook down")
          }
        }
      })
      const [result] = yield* collect(handle("greet", { name: "Ada" }))
      assert.deepStrictEqual(result?.result, { greeting: "Hello, Ada" })
      RecordedSpans.expectTrees(yield* RecordedSpans.RecordedSpans, [
        {
          name: "execute_tool greet",
          attributes: { "gen_ai.tool.call.arguments": undefined, "toolspan.tool.outcome": "success" }
        }
      ])
      assert.deepStrictEqual(yield* dropped, { hook_failed: 1 })
    }).pipe(Effect.provide(environment))
  )

  it.effect("an attribute hook or an id generator that throws is counted", () =>
    Effect.gen(function* () {
      const { handle } = yield* ToolkitInstrumentation.instrument(toolkit, {
        attributes: () => {
          throw new Error("hook down")
        },
        generateCallId: () => {
          throw new Error("hook down")
        }
      })
      yield* collect(handle("greet", { name: "Ada" }))
      assert.deepStrictEqual(yield* dropped, { hook_failed: 2 })
    }).pipe(Effect.provide(environment))
  )

  const cyclic: Record<string, unknown> = { name: "cycle" }
  cyclic["self"] = cyclic
  let deep: unknown = "bottom"
  for (let n = 0; n < 10_000; n++) deep = { deep }
  const getter = Object.defineProperty({ kept: 1 }, "bad", {
    enumerable: true,
    get: () => {
      throw new Error("getter")
    }
  })
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  for (const [name, value, keeps] of [
    ["50 MB", { text: "x".repeat(50_000_000), after: 1 }, true],
    ["a million elements", { list: Array.from({ length: 1_000_000 }, (_, n) => n) }, true],
    ["ten thousand levels", deep, true],
    ["a cycle", cyclic, true],
    ["a BigInt", { big: 12345678901234567890n }, true],
    ["a getter that throws", getter, true],
    ["a toJSON that throws", { toJSON: () => getter["bad" as never] }, true],
    ["a revoked proxy inside", { proxy, kept: 1 }, true],
    ["a revoked proxy", proxy, false]
  ] as const) {
    it.effect(`arguments: ${name}`, () =>
      Effect.gen(function* () {
        const { handle } = yield* ToolkitInstrumentation.instrument(any)
        const [result] = yield* collect(handle("any", value, "call_1"))
        assert.strictEqual(result?.result, "done")
        const [span] = (yield* RecordedSpans.RecordedSpans).spans
        const text = span?.attributes.get("gen_ai.tool.call.arguments")
        if (keeps) {
          assert.isString(text)
          assert.isAtMost(Buffer.byteLength(String(text)), 4096)
          assert.isObject(JSON.parse(String(text)))
          assert.deepStrictEqual(yield* dropped, {})
        } else {
          assert.isUndefined(text)
          assert.deepStrictEqual(yield* dropped, { serialization: 1 })
        }
        assert.strictEqual(span?.endCount, 1)
      }).pipe(Effect.provide(Layer.mergeAll(anyHandler, RecordedSpans.layer, registry)))
    )
  }

  it.effect("what was cut is said on the span, with its size", () =>
    Effect.gen(function* () {
      const { handle } = yield* ToolkitInstrumentation.instrument(any, { content: { maxBytes: 128 } })
      yield* collect(handle("any", { text: "x".repeat(1000) }))
      const [span] = (yield* RecordedSpans.RecordedSpans).spans
      assert.deepStrictEqual(span?.attributes.get("toolspan.content.truncated"), [
        "gen_ai.tool.call.arguments:1011"
      ])
    }).pipe(Effect.provide(Layer.mergeAll(anyHandler, RecordedSpans.layer, registry)))
  )
})

describe("nothing is computed for a span that is not recorded", () => {
  const watched = () => {
    const reads: Array<PropertyKey> = []
    const params = new Proxy(
      { name: "Ada" },
      {
        ownKeys: (target) => {
          reads.push("ownKeys")
          return Reflect.ownKeys(target)
        }
      }
    )
    return { params, reads }
  }

  it.effect("arguments are read by the decoder alone, and hooks are not called", () =>
    Effect.gen(function* () {
      const { params, reads } = watched()
      let called = 0
      const { handle } = yield* ToolkitInstrumentation.instrument(any, {
        attributes: () => {
          called++
          return {}
        },
        content: {
          redact: ({ value }: ContentPolicy.Content) => {
            called++
            return value
          }
        }
      })
      yield* Effect.provideService(collect(handle("any", params)), Tracer.Tracer, Tracer.nativeTracer)
      assert.deepStrictEqual([reads.length, called], [0, 0])
      const { tracer } = yield* RecordedSpans.RecordedSpans
      const unsampled = Tracer.make({ span: (options) => tracer.span({ ...options, sampled: false }) })
      yield* Effect.provideService(collect(handle("any", params)), Tracer.Tracer, unsampled)
      assert.deepStrictEqual([reads.length, called], [0, 0])
      yield* Effect.provideService(collect(handle("any", params)), Tracer.Tracer, tracer)
      assert.isAbove(reads.length, 0)
      assert.strictEqual(called, 2)
    }).pipe(Effect.provide(Layer.mergeAll(anyHandler, RecordedSpans.layer, registry)))
  )
})

describe("the content policy", () => {
  const Login = Tool.make("login", {
    parameters: Schema.Struct({ user: Schema.String, password: Schema.String }),
    success: Schema.Void
  })

  it.effect("a tool's annotation wins over the options, these over the scope", () =>
    Effect.gen(function* () {
      const Quiet = Tool.make("quiet", { parameters: Schema.Struct({ a: Schema.String }) }).annotate(
        ContentPolicy.ToolContent,
        { arguments: "off" }
      )
      const kit = Toolkit.make(Quiet, Login)
      const layer = kit.toLayer({ quiet: () => Effect.void, login: () => Effect.void })
      const calls = (instrumented: typeof kit) =>
        Effect.gen(function* () {
          const { handle } = yield* Effect.provide(instrumented, layer)
          yield* collect(handle("quiet", { a: "x" }))
          yield* collect(handle("login", { user: "ada", password: "hunter2!" }))
        })
      yield* calls(ToolkitInstrumentation.instrument(kit, { content: { arguments: "full" } }))
      yield* Effect.provideService(
        calls(ToolkitInstrumentation.instrument(kit)),
        ContentPolicy.ContentPolicy,
        ContentPolicy.make({ arguments: "off" })
      )
      yield* calls(ToolkitInstrumentation.instrument(kit))
      const { spans } = yield* RecordedSpans.RecordedSpans
      assert.deepStrictEqual(
        spans.map((span) => span.attributes.get("gen_ai.tool.call.arguments")),
        [
          undefined,
          '{"user":"ada","password":"hunter2!"}',
          undefined,
          undefined,
          undefined,
          '{"user":"ada","password":"[REDACTED]"}'
        ]
      )
    }).pipe(Effect.provide(environment))
  )

  it.effect("no secret leaves through a failure, whichever way it comes", () =>
    Effect.gen(function* () {
      const Leaky = Tool.make("leaky", {
        parameters: Schema.Struct({ how: Schema.Literals(["fail", "die", "bad"]) }),
        success: Schema.String.check(Schema.isMaxLength(3)),
        failure: Schema.Struct({ _tag: Schema.Literal("Leak"), message: Schema.String })
      })
      const kit = Toolkit.make(Leaky)
      const secret = "sk-live-4242424242424242"
      const { handle } = yield* Effect.provide(
        ToolkitInstrumentation.instrument(kit),
        kit.toLayer({
          leaky: ({ how }) =>
            how === "fail"
              ? Effect.fail({ _tag: "Leak" as const, message: secret })
              : how === "die"
                ? Effect.die(new Error(secret))
                : Effect.succeed(secret)
        })
      )
      for (const how of ["fail", "die", "bad"] as const) yield* Effect.exit(collect(handle("leaky", { how })))
      yield* Effect.exit(collect(handle("leaky", { how: secret } as never)))
      const recorded = yield* RecordedSpans.RecordedSpans
      assert.notInclude(RecordedSpans.render(recorded), "4242")
      assert.lengthOf(recorded.spans, 4)
    }).pipe(Effect.provide(environment))
  )
})
