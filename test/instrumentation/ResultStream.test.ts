import { assert, describe, it } from "@effect/vitest"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as ToolkitInstrumentation from "../../src/instrumentation/ToolkitInstrumentation.ts"
import * as RecordedSpans from "../../src/testing/RecordedSpans.ts"
import { collect, handlers, toolkit } from "../support/Toolkits.ts"

const instrumented = ToolkitInstrumentation.instrument(toolkit)
const environment = Layer.merge(handlers, RecordedSpans.layer)

const expectOne = (tool: string, outcome: string, status: "ok" | "interrupted" | "error") =>
  Effect.map(RecordedSpans.RecordedSpans, (recorded) =>
    RecordedSpans.expectTrees(recorded, [
      { name: `execute_tool ${tool}`, status, attributes: { "toolspan.tool.outcome": outcome } }
    ])
  )

describe("the span covers the result stream", () => {
  it.effect("it ends when the stream ends, not when handle returns", () =>
    Effect.gen(function* () {
      const Slow = Tool.make("slow", { success: Schema.Void })
      const kit = Toolkit.make(Slow)
      const { handle } = yield* Effect.provide(
        ToolkitInstrumentation.instrument(kit),
        kit.toLayer({ slow: () => Effect.sleep("2 seconds") })
      )
      const fiber = yield* Effect.forkChild(collect(handle("slow", {}, "call_1")))
      yield* TestClock.adjust("1 second")
      const recorded = yield* RecordedSpans.RecordedSpans
      RecordedSpans.expectTrees(recorded, [{ name: "execute_tool slow", status: "open" }])
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(fiber)
      const [span] = recorded.spans
      assert.deepStrictEqual(
        span?.status._tag === "Ended" && span.status.endTime - span.status.startTime,
        2_000_000_000n
      )
    }).pipe(Effect.provide(environment))
  )

  it.effect("preliminary results are events, and the stream is unchanged", () =>
    Effect.gen(function* () {
      const { handle } = yield* ToolkitInstrumentation.instrument(toolkit, {
        content: { results: "redacted" }
      })
      const plain = yield* collect((yield* toolkit).handle("progress", { steps: 2 }, "call_1"))
      const results = yield* collect(handle("progress", { steps: 2 }, "call_1"))
      assert.deepStrictEqual(results, plain)
      RecordedSpans.expectTrees(yield* RecordedSpans.RecordedSpans, [
        {
          name: "execute_tool progress",
          attributes: {
            "toolspan.tool.preliminary.count": 2,
            "gen_ai.tool.call.result": '{"step":2}'
          },
          events: [
            { name: "toolspan.preliminary", attributes: { "toolspan.preliminary.result": '{"step":0}' } },
            { name: "toolspan.preliminary", attributes: { "toolspan.preliminary.result": '{"step":1}' } }
          ]
        }
      ])
    }).pipe(Effect.provide(environment))
  )

  it.effect("after sixteen events, preliminary results are only counted", () =>
    Effect.gen(function* () {
      const { handle } = yield* instrumented
      const results = yield* collect(handle("progress", { steps: 1000 }, "call_1"))
      assert.lengthOf(results, 1001)
      const [span] = (yield* RecordedSpans.RecordedSpans).spans
      assert.lengthOf(span?.events ?? [], 16)
      assert.strictEqual(span?.attributes.get("toolspan.tool.preliminary.count"), 1000)
    }).pipe(Effect.provide(environment))
  )

  it.effect("each element arrives when it is given, not when the call ends", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const Gated = Tool.make("gated", { success: Schema.Number })
      const kit = Toolkit.make(Gated)
      const { handle } = yield* Effect.provide(
        ToolkitInstrumentation.instrument(kit),
        kit.toLayer({
          gated: (_, { preliminary }) =>
            preliminary(1).pipe(Effect.andThen(Deferred.await(gate)), Effect.as(2))
        })
      )
      const stream = yield* handle("gated", {}, "call_1")
      const seen: Array<unknown> = []
      yield* Stream.runForEach(stream, ({ result }) => {
        seen.push(result)
        return Deferred.succeed(gate, undefined)
      })
      assert.deepStrictEqual(seen, [1, 2])
    }).pipe(Effect.provide(environment))
  )

  it.effect("what encoding a result does belongs to the tool's span", () =>
    Effect.gen(function* () {
      const Traced = Schema.String.pipe(
        Schema.encodeTo(Schema.String, {
          decode: SchemaGetter.passthrough(),
          encode: SchemaGetter.transformEffect((text: string) =>
            Effect.succeed(text).pipe(Effect.withSpan("encode"))
          )
        })
      )
      const Encoded = Tool.make("encoded", { success: Traced })
      const kit = Toolkit.make(Encoded)
      const { handle } = yield* Effect.provide(
        ToolkitInstrumentation.instrument(kit),
        kit.toLayer({ encoded: () => Effect.succeed("x") })
      )
      yield* collect(handle("encoded", {}, "call_1"))
      RecordedSpans.expectTrees(yield* RecordedSpans.RecordedSpans, [
        { name: "execute_tool encoded", children: [{ name: "encode" }] }
      ])
    }).pipe(Effect.provide(environment))
  )
})

describe("the span ends once, whatever the consumer does", () => {
  it.effect("a stream that is never consumed ends with its fiber, cancelled while the handler runs", () =>
    Effect.gen(function* () {
      const { handle } = yield* instrumented
      yield* Effect.forkChild(handle("hang", {}, "call_1")).pipe(Effect.flatMap(Fiber.join))
      // Whoever waited for the fiber first is told first.
      yield* Effect.yieldNow
      yield* expectOne("hang", "cancelled", "interrupted")
    }).pipe(Effect.provide(environment))
  )

  it.effect("a stream that is never consumed ends with its fiber, abandoned after the handler", () =>
    Effect.gen(function* () {
      const { handle } = yield* instrumented
      const call = handle("greet", { name: "Ada" }, "call_1")
      // The handler runs in a fiber of its own, which finishes while the calling fiber goes on.
      const stream = yield* Effect.forkChild(
        Effect.andThen(call, (stream) => Effect.as(Effect.sleep(1), stream))
      )
      yield* TestClock.adjust(1)
      const results = yield* Fiber.join(stream)
      yield* Effect.yieldNow
      yield* expectOne("greet", "abandoned", "ok")
      // A later read works as before, and does not reopen the span.
      const elements = yield* Stream.runCollect(results)
      assert.deepStrictEqual(elements[0]?.result, { greeting: "Hello, Ada" })
      yield* expectOne("greet", "abandoned", "ok")
    }).pipe(Effect.provide(environment))
  )

  it.effect("a consumer that takes a part abandons the rest", () =>
    Effect.gen(function* () {
      const { handle } = yield* instrumented
      const stream = yield* handle("progress", { steps: 3 }, "call_1")
      const taken = yield* Stream.runCollect(Stream.take(stream, 1))
      assert.lengthOf(taken, 1)
      yield* expectOne("progress", "abandoned", "ok")
    }).pipe(Effect.provide(environment))
  )

  it.effect("a consumer that stops after the final result has seen a success", () =>
    Effect.gen(function* () {
      const { handle } = yield* instrumented
      const stream = yield* handle("greet", { name: "Ada" }, "call_1")
      yield* Stream.runCollect(Stream.take(stream, 1))
      yield* expectOne("greet", "success", "ok")
    }).pipe(Effect.provide(environment))
  )

  it.effect("a consumer that fails on a preliminary result abandons the call", () =>
    Effect.gen(function* () {
      const { handle } = yield* instrumented
      const stream = yield* handle("progress", { steps: 3 }, "call_1")
      const exit = yield* Effect.exit(Stream.runForEach(stream, () => Effect.fail("no more")))
      assert.isTrue(Exit.isFailure(exit))
      yield* expectOne("progress", "abandoned", "ok")
    }).pipe(Effect.provide(environment))
  )

  it.effect("a consumer in another fiber ends it while the calling fiber goes on", () =>
    Effect.gen(function* () {
      const { handle } = yield* instrumented
      const stream = yield* handle("greet", { name: "Ada" }, "call_1")
      yield* Effect.forkChild(Stream.runDrain(stream)).pipe(Effect.flatMap(Fiber.join))
      yield* expectOne("greet", "success", "ok")
    }).pipe(Effect.provide(environment))
  )

  it.effect("an interrupted consumer cancels it", () =>
    Effect.gen(function* () {
      const { handle } = yield* instrumented
      const fiber = yield* Effect.forkChild(collect(handle("hang", {}, "call_1")))
      yield* Effect.yieldNow
      yield* Fiber.interrupt(fiber)
      yield* expectOne("hang", "cancelled", "interrupted")
    }).pipe(Effect.provide(environment))
  )

  it.effect("a timeout cancels it", () =>
    Effect.gen(function* () {
      const { handle } = yield* instrumented
      const fiber = yield* Effect.forkChild(
        Effect.timeoutOption(collect(handle("hang", {}, "call_1")), "1 second")
      )
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(fiber)
      yield* expectOne("hang", "cancelled", "interrupted")
    }).pipe(Effect.provide(environment))
  )

  it.effect("a handle that is interrupted where the fiber lives on is cancelled at once", () =>
    Effect.gen(function* () {
      const Decoding = Schema.String.pipe(
        Schema.decodeTo(Schema.String, {
          decode: SchemaGetter.transformEffect(() => Effect.never),
          encode: SchemaGetter.passthrough()
        })
      )
      const Slow = Tool.make("slow", { parameters: Schema.Struct({ q: Decoding }) })
      const kit = Toolkit.make(Slow)
      const { handle } = yield* Effect.provide(
        ToolkitInstrumentation.instrument(kit),
        kit.toLayer({ slow: () => Effect.void })
      )
      const recorded = yield* RecordedSpans.RecordedSpans
      let open = -1
      const fiber = yield* Effect.uninterruptibleMask((restore) =>
        Effect.exit(restore(handle("slow", { q: "x" }, "call_1"))).pipe(
          Effect.andThen(Effect.sync(() => (open = recorded.open.length)))
        )
      ).pipe(Effect.forkChild)
      yield* Effect.yieldNow
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(open, 0)
      yield* expectOne("slow", "cancelled", "interrupted")
    }).pipe(Effect.provide(environment))
  )

  it.effect("the handler has stopped when the span of an abandoned call ends", () =>
    Effect.gen(function* () {
      const Cleanup = Tool.make("cleanup", { success: Schema.Number })
      const kit = Toolkit.make(Cleanup)
      const { handle } = yield* Effect.provide(
        ToolkitInstrumentation.instrument(kit),
        kit.toLayer({
          cleanup: (_, { preliminary }) =>
            preliminary(1).pipe(
              Effect.andThen(Effect.never),
              Effect.ensuring(Effect.void.pipe(Effect.withSpan("release")))
            )
        })
      )
      const recorded = yield* RecordedSpans.RecordedSpans
      yield* Stream.runDrain(Stream.take(yield* handle("cleanup", {}, "call_1"), 1))
      RecordedSpans.expectTrees(recorded, [
        {
          name: "execute_tool cleanup",
          attributes: { "toolspan.tool.outcome": "abandoned" },
          children: [{ name: "release" }]
        }
      ])
      const [tool, release] = recorded.spans
      assert.isTrue(
        tool?.status._tag === "Ended" &&
          release?.status._tag === "Ended" &&
          release.status.endTime <= tool.status.endTime
      )
    }).pipe(Effect.provide(environment))
  )

  it.effect("a pull that outlives its reader ends with the scope of the stream", () =>
    Effect.gen(function* () {
      const { handle } = yield* instrumented
      const scope = yield* Scope.make()
      const stream = yield* handle("progress", { steps: 3 }, "call_1")
      const pull = yield* Scope.provide(Stream.toPull(stream), scope)
      yield* pull
      const recorded = yield* RecordedSpans.RecordedSpans
      assert.lengthOf(recorded.open, 1)
      yield* Scope.close(scope, Exit.void)
      yield* expectOne("progress", "abandoned", "ok")
    }).pipe(Effect.provide(environment))
  )
})
