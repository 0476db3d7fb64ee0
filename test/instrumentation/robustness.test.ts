import { assert, describe, it } from "@effect/vitest"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import * as TestClock from "effect/testing/TestClock"
import * as ContentPolicy from "../../src/content/ContentPolicy.ts"
import * as ToolkitInstrumentation from "../../src/instrumentation/ToolkitInstrumentation.ts"
import * as RecordedSpans from "../../src/testing/RecordedSpans.ts"
import { collect, handlers, toolkit } from "../support/Toolkits.ts"

const registry = Layer.sync(Metric.MetricRegistry, () => new Map())
const environment = Layer.mergeAll(handlers, RecordedSpans.layer, registry)

/** How many calls the metrics say are running. */
const active = Effect.map(Metric.snapshot, (snapshots) =>
  snapshots
    .filter((snapshot) => snapshot.id === "toolspan.tool.active")
    .reduce((sum, snapshot) => sum + (snapshot.state as Metric.CounterState<number>).count, 0)
)

/** Exactly one span of a tool, with this outcome, and nothing running. */
const expectOne = (tool: string, outcome: string, attributes: Readonly<Record<string, unknown>> = {}) =>
  Effect.gen(function* () {
    const recorded = yield* RecordedSpans.RecordedSpans
    const spans = recorded.spans.filter((span) => span.name.startsWith("execute_tool"))
    assert.deepStrictEqual(
      spans.map((span) => [span.name, span.attributes.get("toolspan.tool.outcome"), span.endCount]),
      [[`execute_tool ${tool}`, outcome, 1]]
    )
    for (const [name, value] of Object.entries(attributes)) {
      assert.strictEqual(spans[0]?.attributes.get(name), value, name)
    }
    assert.strictEqual(yield* active, 0)
  })

const oneTool = <T extends Tool.Any>(
  tool: T,
  handler: (...args: never) => Effect.Effect<unknown, unknown>
) => {
  const kit = Toolkit.make(tool)
  // The types of the one tool do not matter to these tests.
  const layer = (kit as unknown as Toolkit.Toolkit<Record<string, Tool.Any>>).toLayer({
    [tool.name]: handler
  } as never)
  return Effect.provide(kit as unknown as Effect.Effect<Toolkit.WithHandler<Record<string, Tool.Any>>>, layer)
}

describe("fibers", () => {
  it.effect("what middleware around handle forks is left alone", () =>
    Effect.gen(function* () {
      const base = yield* toolkit
      let audited = false
      const audit = Effect.andThen(
        Effect.yieldNow,
        Effect.sync(() => {
          audited = true
        })
      )
      const wrapped = ToolkitInstrumentation.instrument({
        ...base,
        handle: ((...args: Parameters<typeof base.handle>) =>
          base.handle(...args).pipe(Effect.tap(() => Effect.forkChild(audit)))) as typeof base.handle
      })
      yield* Stream.runDrain(Stream.take(yield* wrapped.handle("progress", { steps: 3 }, "call_1"), 1))
      yield* Effect.yieldNow
      yield* Effect.yieldNow
      assert.isTrue(audited)
      yield* expectOne("progress", "abandoned")
    }).pipe(Effect.provide(environment))
  )

  it.effect("an interruption at any step of a call ends its span, once", () =>
    Effect.gen(function* () {
      const { handle } = yield* ToolkitInstrumentation.instrument(toolkit)
      const recorded = yield* RecordedSpans.RecordedSpans
      // Moves the scheduler's yield, where interruption gets its chance, through all steps of the call.
      for (let steps = 960; steps < 1030; steps++) {
        const fiber = yield* Effect.forkChild(
          Effect.gen(function* () {
            for (let n = 0; n < steps; n++) yield* Effect.suspend(() => Effect.void)
            yield* collect(handle("greet", { name: "Ada" }, `call_${steps}`))
          })
        )
        yield* Effect.yieldNow
        yield* Fiber.interrupt(fiber)
      }
      for (const span of recorded.spans) assert.strictEqual(span.endCount, 1, RecordedSpans.render(recorded))
      assert.isAbove(recorded.spans.length, 0)
      assert.strictEqual(yield* active, 0)
    }).pipe(Effect.provide(environment))
  )

  it.effect("many calls started by one fiber end with it, in their place", () =>
    Effect.gen(function* () {
      const { handle } = yield* ToolkitInstrumentation.instrument(toolkit)
      const { spans } = yield* RecordedSpans.RecordedSpans
      yield* Effect.forEach(Array.from({ length: 200 }), () => handle("hang", {}), { discard: true }).pipe(
        Effect.forkChild,
        Effect.flatMap(Fiber.join)
      )
      yield* Effect.yieldNow
      assert.deepStrictEqual(
        new Set(spans.map((span) => span.attributes.get("toolspan.tool.outcome"))),
        new Set(["cancelled"])
      )
      assert.strictEqual(yield* active, 0)
    }).pipe(Effect.provide(environment))
  )

  it.effect("a full preliminary buffer holds the handler back as before", () =>
    Effect.gen(function* () {
      const { handle } = yield* ToolkitInstrumentation.instrument(toolkit)
      const stream = yield* Effect.provideService(
        handle("progress", { steps: 5 }, "call_1"),
        Toolkit.PreliminaryBuffer,
        1
      )
      yield* Effect.yieldNow
      assert.lengthOf(yield* Stream.runCollect(stream), 6)
      yield* expectOne("progress", "success", { "toolspan.tool.preliminary.count": 5 })
    }).pipe(Effect.provide(environment))
  )

  it("runs to its end under runSync where upstream does", () => {
    const { handle } = Effect.runSync(Effect.provide(ToolkitInstrumentation.instrument(toolkit), handlers))
    const exit = Effect.runSyncExit(handle("nothing" as "greet", { name: "" }))
    assert.isTrue(Exit.isFailure(exit))
  })
})

describe("consumers", () => {
  it.effect("one that opens the stream and never reads abandons the call when it closes", () =>
    Effect.gen(function* () {
      const { handle } = yield* ToolkitInstrumentation.instrument(toolkit)
      const scope = yield* Scope.make()
      yield* Scope.provide(Stream.toPull(yield* handle("hang", {}, "call_1")), scope)
      yield* Scope.close(scope, Exit.void)
      yield* expectOne("hang", "abandoned")
    }).pipe(Effect.provide(environment))
  )

  it.effect("of two readers, one has the final result: a success, though the other saw the end first", () =>
    Effect.gen(function* () {
      const encoding = yield* Deferred.make<void>()
      const Slow = Schema.String.pipe(
        Schema.encodeTo(Schema.String, {
          decode: SchemaGetter.passthrough(),
          encode: SchemaGetter.transformEffect((text: string) => Effect.as(Deferred.await(encoding), text))
        })
      )
      const base = yield* oneTool(Tool.make("slow", { success: Slow }), () => Effect.succeed("x"))
      const stream = yield* ToolkitInstrumentation.instrument(base).handle("slow", {}, "call_1")
      const first = yield* Effect.forkChild(Stream.runCollect(stream))
      yield* Effect.yieldNow
      const second = yield* Effect.forkChild(Stream.runCollect(stream))
      assert.lengthOf(yield* Fiber.join(second), 0)
      yield* Deferred.succeed(encoding, undefined)
      assert.lengthOf(yield* Fiber.join(first), 1)
      yield* expectOne("slow", "success")
    }).pipe(Effect.provide(environment))
  )

  it.effect("what a hand-written toolkit gives is passed on, even what no type allows", () =>
    Effect.gen(function* () {
      const base = yield* toolkit
      const wrapped = ToolkitInstrumentation.instrument({
        ...base,
        handle: (() => Effect.succeed(Stream.make(null, undefined, 1))) as unknown as typeof base.handle
      })
      assert.deepStrictEqual<unknown>(yield* collect(wrapped.handle("greet", { name: "Ada" })), [
        null,
        undefined,
        1
      ])
      yield* expectOne("greet", "abandoned")
    }).pipe(Effect.provide(environment))
  )
})

describe("outcomes", () => {
  for (const [what, effect, outcome, errorType] of [
    ["a failure that an interruption follows", Effect.fail({ _tag: "Boom" }), "failure", "Boom"],
    ["a defect that an interruption follows", Effect.die(new TypeError("boom")), "defect", "TypeError"]
  ] as const) {
    it.effect(`${what} is a ${outcome}`, () =>
      Effect.gen(function* () {
        const base = yield* oneTool(
          Tool.make("fails", { failure: Schema.Struct({ _tag: Schema.String }) }),
          () => Effect.ensuring(effect as Effect.Effect<never, unknown>, Effect.interrupt)
        )
        yield* Effect.exit(collect(ToolkitInstrumentation.instrument(base).handle("fails", {}, "call_1")))
        yield* expectOne("fails", outcome, { "error.type": errorType })
      }).pipe(Effect.provide(environment))
    )
  }

  it.effect("parameters that do not decode are that, also when their origin was lost on the way", () =>
    Effect.gen(function* () {
      const base = yield* toolkit
      const wrapped = ToolkitInstrumentation.instrument({
        ...base,
        handle: ((...args: Parameters<typeof base.handle>) =>
          base.handle(...args).pipe(Effect.catch((error) => Effect.fail(error)))) as typeof base.handle
      })
      yield* Effect.exit(collect(wrapped.handle("order", { item: 1 } as never)))
      yield* expectOne("order", "invalid_arguments", { "toolspan.tool.failure.origin": "parameters" })
    }).pipe(Effect.provide(environment))
  )

  for (const [tag, errorType] of [
    ["@app/NotFound", "@app/NotFound"],
    ["user:ada@example.com/4111111111111111", "_OTHER"],
    ["sk-live-0123456789abcdef", "_OTHER"],
    ["two words", "_OTHER"],
    ["x".repeat(300), "_OTHER"]
  ] as const) {
    it.effect(`the tag ${tag.slice(0, 40)} gives error.type ${errorType}`, () =>
      Effect.gen(function* () {
        const base = yield* oneTool(
          Tool.make("fails", { failure: Schema.Struct({ _tag: Schema.String }) }),
          () => Effect.fail({ _tag: tag })
        )
        yield* Effect.exit(collect(ToolkitInstrumentation.instrument(base).handle("fails", {}, "call_1")))
        yield* expectOne("fails", "failure", { "error.type": errorType })
      }).pipe(Effect.provide(environment))
    )
  }
})

describe("toolkits of all kinds", () => {
  it.effect("an object of a class keeps its private state", () =>
    Effect.gen(function* () {
      const base = yield* toolkit
      class Counting {
        #calls = 0
        readonly #base = base
        get tools() {
          return this.#base.tools
        }
        get calls() {
          return this.#calls
        }
        readonly handle = ((...args: Parameters<typeof base.handle>) => {
          this.#calls++
          return this.#base.handle(...args)
        }) as typeof base.handle
      }
      const counting = ToolkitInstrumentation.instrument(new Counting())
      yield* collect(counting.handle("greet", { name: "Ada" }))
      assert.strictEqual(counting.calls, 1)
      assert.strictEqual(counting.tools, base.tools)
      assert.strictEqual(ToolkitInstrumentation.instrument(counting), counting)
      yield* expectOne("greet", "success")
    }).pipe(Effect.provide(environment))
  )

  it.effect("a class that extends an instrumented toolkit is one", () =>
    Effect.gen(function* () {
      // Upstream lets classes extend toolkits at run time; its types do not say so.
      class Extended extends (ToolkitInstrumentation.instrument(toolkit) as unknown as new () => object) {}
      const evaluate = Extended as unknown as typeof toolkit
      yield* collect((yield* evaluate).handle("greet", { name: "Ada" }))
      yield* expectOne("greet", "success")
    }).pipe(Effect.provide(environment))
  )

  it.effect("has all keys of the original", () =>
    Effect.sync(() => {
      const keys = Object.keys(ToolkitInstrumentation.instrument(toolkit))
      assert.includeMembers(keys, Object.keys(toolkit))
    })
  )

  it.effect("a handler that calls another instrumented toolkit nests its span", () =>
    Effect.gen(function* () {
      const inner = yield* ToolkitInstrumentation.instrument(toolkit)
      const base = yield* oneTool(Tool.make("outer", { success: Schema.Unknown }), () =>
        Effect.asVoid(collect(inner.handle("greet", { name: "Ada" }, "call_2")))
      )
      yield* collect(ToolkitInstrumentation.instrument(base).handle("outer", {}, "call_1"))
      RecordedSpans.expectTrees(yield* RecordedSpans.RecordedSpans, [
        { name: "execute_tool outer", children: [{ name: "execute_tool greet" }] }
      ])
    }).pipe(Effect.provide(environment))
  )
})

describe("what reaches the span", () => {
  const Login = Tool.make("login", {
    parameters: Schema.Struct({ user: Schema.String, password: Schema.String }),
    success: Schema.Void
  })
  const login = Toolkit.make(Login)
  const loginLayer = login.toLayer({ login: () => Effect.void })
  type Handle = Toolkit.WithHandler<typeof login.tools>["handle"]

  for (const [what, around] of [
    [
      "changes the parameters",
      (handle: Handle): Handle =>
        (name, params, id) =>
          handle(name, { ...params }, id)
    ],
    [
      "tries again",
      (handle: Handle): Handle =>
        (name, params, id) =>
          handle(name, params, id).pipe(Effect.andThen(handle(name, params, id)))
    ]
  ] as const) {
    it.effect(`no raw parameters, where middleware ${what}`, () =>
      Effect.gen(function* () {
        const base = yield* login
        const wrapped = ToolkitInstrumentation.instrument({ ...base, handle: around(base.handle) })
        yield* collect(wrapped.handle("login", { user: "ada", password: "hunter2!" }))
        const recorded = yield* RecordedSpans.RecordedSpans
        assert.notInclude(RecordedSpans.render(recorded), "hunter2!")
        const [span] = recorded.spans
        assert.isFalse(span?.attributes.has("tool") || span?.attributes.has("parameters"))
      }).pipe(Effect.provide(Layer.merge(loginLayer, RecordedSpans.layer)))
    )
  }

  it.effect("a call id of any length is cut between characters", () =>
    Effect.gen(function* () {
      const { handle } = yield* ToolkitInstrumentation.instrument(toolkit)
      yield* collect(handle("greet", { name: "Ada" }, `${"x".repeat(255)}🛠️${"x".repeat(5_000_000)}`))
      yield* Effect.exit(handle(`${"x".repeat(255)}🛠️` as "greet", { name: "" }))
      const [known, unknown] = (yield* RecordedSpans.RecordedSpans).spans
      for (const text of [
        known?.attributes.get("gen_ai.tool.call.id"),
        unknown?.attributes.get("gen_ai.tool.name")
      ]) {
        assert.isAtMost(String(text).length, 256)
        assert.isTrue(String(text).isWellFormed())
      }
    }).pipe(Effect.provide(environment))
  )

  it.effect("with no tracer, the handler sees the very span that was current", () =>
    Effect.gen(function* () {
      const span = yield* Effect.currentSpan
      const base = yield* oneTool(Tool.make("same", { success: Schema.Boolean }), () =>
        Effect.map(Effect.currentSpan, (current) => current === span)
      )
      const [result] = yield* collect(ToolkitInstrumentation.instrument(base).handle("same", {}))
      assert.isTrue(result?.result)
      assert.deepStrictEqual([...span.attributes], [])
      assert.strictEqual(span.attribute, Tracer.NativeSpan.prototype.attribute)
    }).pipe(Effect.withSpan("native"), Effect.provideService(Tracer.Tracer, Tracer.nativeTracer))
  )
})

describe("telemetry that fails", () => {
  for (const failing of ["gen_ai.tool.type", "gen_ai.tool.call.arguments", "toolspan.tool.outcome"]) {
    it.effect(`a tracer that throws for ${failing} has the end of its span, and the metrics are right`, () =>
      Effect.gen(function* () {
        const recorded = yield* RecordedSpans.RecordedSpans
        const tracer = Tracer.make({
          span: (options) => {
            const span = recorded.tracer.span(options)
            const { attribute } = span
            return Object.assign(span, {
              attribute: (key: string, value: unknown) => {
                if (key === failing) throw new Error("no")
                attribute.call(span, key, value)
              }
            })
          }
        })
        const { handle } = yield* ToolkitInstrumentation.instrument(toolkit)
        yield* Effect.provideService(collect(handle("greet", { name: "Ada" })), Tracer.Tracer, tracer)
        assert.deepStrictEqual(
          recorded.spans.map((span) => span.endCount),
          [1]
        )
        assert.strictEqual(yield* active, 0)
      }).pipe(Effect.provide(environment))
    )
  }

  it.effect("what is no content policy captures nothing, and the call is traced and counted", () =>
    Effect.gen(function* () {
      const { handle } = yield* ToolkitInstrumentation.instrument(toolkit)
      yield* Effect.provideService(
        collect(handle("greet", { name: "Ada" })),
        ContentPolicy.ContentPolicy,
        "full" as unknown as ContentPolicy.Policy
      )
      yield* expectOne("greet", "success", { "gen_ai.tool.call.arguments": undefined })
    }).pipe(Effect.provide(environment))
  )

  it.effect("nothing runs after calls that ended in every way", () =>
    Effect.gen(function* () {
      const { handle } = yield* ToolkitInstrumentation.instrument(toolkit)
      yield* collect(handle("greet", { name: "Ada" }))
      yield* Effect.exit(collect(handle("order", { item: "unobtainium" })))
      yield* Effect.exit(collect(handle("crash", {})))
      yield* Effect.exit(handle("nothing" as "crash", {}))
      const fiber = yield* Effect.forkChild(Effect.andThen(handle("greet", { name: "Ada" }), Effect.sleep(1)))
      yield* TestClock.adjust(1)
      yield* Fiber.join(fiber)
      yield* Effect.yieldNow
      assert.strictEqual(yield* active, 0)
    }).pipe(Effect.provide(environment))
  )
})
