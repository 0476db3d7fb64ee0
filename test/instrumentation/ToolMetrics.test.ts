import { assert, describe, it } from "@effect/vitest"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as ToolkitInstrumentation from "../../src/instrumentation/ToolkitInstrumentation.ts"
import { CurrentAgent } from "../../src/propagation/Origin.ts"
import { collect, handlers, toolkit } from "../support/Toolkits.ts"

const instrumented = ToolkitInstrumentation.instrument(toolkit)

/** A registry of its own for each test. */
const registry = Layer.sync(Metric.MetricRegistry, () => new Map())
const environment = Layer.merge(handlers, registry)

/** The series of one metric, as `attributes without unit` → state. */
const series = (id: string) =>
  Effect.map(Metric.snapshot, (snapshots) =>
    snapshots
      .filter((snapshot) => snapshot.id === id)
      .map((snapshot) => {
        const { unit, ...attributes } = snapshot.attributes ?? {}
        return { unit, attributes, state: snapshot.state }
      })
  )

const callsOf = (tool: string) =>
  Effect.map(series("toolspan.tool.calls"), (all) =>
    Object.fromEntries(
      all
        .filter(({ attributes }) => attributes["gen_ai.tool.name"] === tool)
        .map(({ attributes, state }) => [
          [attributes["gen_ai.agent.name"], attributes["toolspan.tool.outcome"]].filter(Boolean).join("/"),
          (state as Metric.CounterState<number>).count
        ])
    )
  )

const zeros = { success: 0, failure: 0, invalid_arguments: 0, invalid_result: 0, defect: 0, cancelled: 0 }

describe("tool metrics", () => {
  it.effect("each outcome of a known tool is there, at zero, when the toolkit is evaluated", () =>
    Effect.gen(function* () {
      yield* instrumented
      for (const tool of Object.keys(toolkit.tools)) assert.deepStrictEqual(yield* callsOf(tool), zeros)
      yield* instrumented
      assert.deepStrictEqual(yield* callsOf("greet"), zeros)
    }).pipe(Effect.provide(environment))
  )

  it.effect("a WithHandler has them in the default registry when it is instrumented", () =>
    Effect.gen(function* () {
      const kit = Toolkit.make(Tool.make("default_registry", { success: Schema.Void }))
      const withHandler = yield* Effect.provide(kit, kit.toLayer({ default_registry: () => Effect.void }))
      ToolkitInstrumentation.instrument(withHandler)
      assert.deepStrictEqual(
        yield* Effect.provide(
          callsOf("default_registry"),
          Layer.succeed(Metric.MetricRegistry, Context.get(Context.empty(), Metric.MetricRegistry))
        ),
        zeros
      )
    }).pipe(Effect.provide(environment))
  )

  it.effect("and each new agent has its own", () =>
    Effect.gen(function* () {
      const { handle } = yield* instrumented
      yield* Effect.provideService(collect(handle("greet", { name: "Ada" })), CurrentAgent, "clerk")
      assert.deepStrictEqual(yield* callsOf("greet"), {
        ...zeros,
        ...Object.fromEntries(Object.keys(zeros).map((outcome) => [`clerk/${outcome}`, 0])),
        "clerk/success": 1
      })
    }).pipe(Effect.provide(environment))
  )

  it.effect("calls are counted by outcome", () =>
    Effect.gen(function* () {
      const { handle } = yield* instrumented
      yield* collect(handle("order", { item: "ink" }))
      yield* collect(handle("order", { item: "ink" }))
      yield* Effect.exit(collect(handle("order", { item: "unobtainium" })))
      yield* Effect.exit(collect(handle("order", { item: 1 } as never)))
      const fiber = yield* Effect.forkChild(collect(handle("hang", {})))
      yield* Effect.yieldNow
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(yield* callsOf("order"), {
        ...zeros,
        success: 2,
        failure: 1,
        invalid_arguments: 1
      })
      assert.deepStrictEqual(yield* callsOf("hang"), { ...zeros, cancelled: 1 })
    }).pipe(Effect.provide(environment))
  )

  it.effect("durations are in seconds, by tool, type and error; a cancelled call has none", () =>
    Effect.gen(function* () {
      const Slow = Tool.make("slow", { success: Schema.Void })
      const kit = Toolkit.make(Slow)
      const { handle } = yield* Effect.provide(
        ToolkitInstrumentation.instrument(kit, { agentName: "clerk" }),
        kit.toLayer({ slow: () => Effect.sleep("1500 millis") })
      )
      const fiber = yield* Effect.forkChild(collect(handle("slow", {})))
      yield* TestClock.adjust("1500 millis")
      yield* Fiber.join(fiber)
      const cancelled = yield* Effect.forkChild(collect(handle("slow", {})))
      yield* TestClock.adjust("1 second")
      yield* Fiber.interrupt(cancelled)
      yield* Effect.exit(collect(handle("slow", "not an object" as never)))
      const all = (yield* series("gen_ai.execute_tool.duration")).map(({ attributes, state, unit }) => ({
        attributes,
        unit,
        count: (state as Metric.HistogramState).count,
        sum: (state as Metric.HistogramState).sum
      }))
      const tool = {
        "gen_ai.tool.name": "slow",
        "gen_ai.tool.type": "function",
        "gen_ai.agent.name": "clerk"
      }
      assert.deepStrictEqual(all, [
        { attributes: tool, unit: "s", count: 1, sum: 1.5 },
        { attributes: { ...tool, "error.type": "ToolParameterValidationError" }, unit: "s", count: 1, sum: 0 }
      ])
    }).pipe(Effect.provide(environment))
  )

  it.effect("running calls are those that have not ended", () =>
    Effect.gen(function* () {
      const { handle } = yield* instrumented
      const active = Effect.map(
        series("toolspan.tool.active"),
        (all) =>
          all.find(({ attributes }) => attributes["gen_ai.tool.name"] === "hang")
            ?.state as Metric.CounterState<number>
      )
      const fibers = yield* Effect.forEach([1, 2], () => Effect.forkChild(collect(handle("hang", {}))))
      yield* Effect.yieldNow
      assert.strictEqual((yield* active).count, 2)
      yield* Effect.forEach(fibers, Fiber.interrupt)
      assert.strictEqual((yield* active).count, 0)
    }).pipe(Effect.provide(environment))
  )

  it.effect("a name that the toolkit lacks is _OTHER", () =>
    Effect.gen(function* () {
      const { handle } = yield* instrumented
      for (let n = 0; n < 100; n++) yield* Effect.exit(handle(`made_up_${n}` as "greet", { name: "" }))
      assert.deepStrictEqual(yield* callsOf("_OTHER"), { unknown_tool: 100 })
      const names = new Set(
        (yield* Metric.snapshot).map((snapshot) => snapshot.attributes?.["gen_ai.tool.name"])
      )
      assert.deepStrictEqual(names, new Set([...Object.keys(toolkit.tools), "_OTHER"]))
    }).pipe(Effect.provide(environment))
  )

  it.effect("after 32 kinds of error, further ones of a tool are _OTHER", () =>
    Effect.gen(function* () {
      const Failing = Tool.make("failing", {
        parameters: Schema.Struct({ n: Schema.Number }),
        failure: Schema.Struct({ _tag: Schema.String })
      })
      const kit = Toolkit.make(Failing)
      const { handle } = yield* Effect.provide(
        ToolkitInstrumentation.instrument(kit),
        kit.toLayer({ failing: ({ n }) => Effect.fail({ _tag: `Error${n}` }) })
      )
      for (let n = 0; n < 40; n++) yield* Effect.exit(collect(handle("failing", { n })))
      const types = (yield* series("gen_ai.execute_tool.duration")).map(
        ({ attributes }) => attributes["error.type"]
      )
      assert.deepStrictEqual(types, [...Array.from({ length: 32 }, (_, n) => `Error${n}`), "_OTHER"])
    }).pipe(Effect.provide(registry))
  )

  it.effect("follow the contextual attributes of the scope", () =>
    Effect.gen(function* () {
      const { handle } = yield* instrumented
      for (const tenant of ["a", "b", "a"]) {
        yield* collect(handle("greet", { name: "Ada" })).pipe(
          Effect.provideService(Metric.CurrentMetricAttributes, { tenant })
        )
      }
      const counts = (yield* series("toolspan.tool.calls"))
        .filter(({ attributes }) => attributes["tenant"] !== undefined)
        .filter(({ attributes }) => attributes["toolspan.tool.outcome"] === "success")
        .map(({ attributes, state }) => [attributes["tenant"], (state as Metric.CounterState<number>).count])
      assert.deepStrictEqual(counts, [
        ["a", 2],
        ["b", 1]
      ])
    }).pipe(Effect.provide(environment))
  )

  it.effect("none of them are touched with metrics: false", () =>
    Effect.gen(function* () {
      const { handle } = yield* ToolkitInstrumentation.instrument(toolkit, { metrics: false })
      yield* collect(handle("greet", { name: "Ada" }))
      assert.deepStrictEqual(yield* Metric.snapshot, [])
    }).pipe(Effect.provide(environment))
  )
})
