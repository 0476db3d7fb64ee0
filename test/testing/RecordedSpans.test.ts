import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Tracer from "effect/Tracer"
import * as TestClock from "effect/testing/TestClock"
import { RecordedSpan, RecordedSpans } from "../../src/testing/index.ts"

const names = (spans: ReadonlyArray<RecordedSpan.RecordedSpan>) => spans.map((span) => span.name)

describe("RecordedSpans", () => {
  it.effect("lists spans in the order of their start, with parent, kind, attributes, events and links", () =>
    Effect.gen(function* () {
      const recorded = yield* RecordedSpans.RecordedSpans
      yield* Effect.gen(function* () {
        yield* Effect.annotateCurrentSpan("n", 1)
        const outer = yield* Effect.currentSpan
        yield* TestClock.adjust("2 seconds")
        outer.event("halfway", 2_000_000_000n, { done: 0.5 })
        yield* Effect.void.pipe(
          Effect.withSpan("inner", {
            kind: "client",
            links: [{ span: outer, attributes: { why: "test" } }]
          })
        )
        yield* TestClock.adjust("1 second")
      }).pipe(Effect.withSpan("outer"))

      assert.deepStrictEqual(names(recorded.spans), ["outer", "inner"])
      assert.deepStrictEqual(names(recorded.roots), ["outer"])
      const [outer] = recorded.byName("outer")
      const [inner] = recorded.byName("inner")
      assert(outer !== undefined && inner !== undefined)
      assert.strictEqual(RecordedSpan.parent(inner), outer)
      assert.strictEqual(RecordedSpan.parent(outer), undefined)
      assert.strictEqual(inner.traceId, outer.traceId)
      assert.deepStrictEqual([outer.kind, inner.kind], ["internal", "client"])
      assert.deepStrictEqual([...outer.attributes], [["n", 1]])
      assert.deepStrictEqual(RecordedSpan.events(outer), [
        { name: "halfway", time: 2_000_000_000n, attributes: { done: 0.5 } }
      ])
      assert.deepStrictEqual(inner.links, [{ span: outer, attributes: { why: "test" } }])
      assert(outer.status._tag === "Ended")
      assert.deepStrictEqual([outer.status.startTime, outer.status.endTime], [0n, 3_000_000_000n])
    }).pipe(Effect.provide(RecordedSpans.layer))
  )

  it.effect("tells success, failure, defect and interruption apart", () =>
    Effect.gen(function* () {
      const recorded = yield* RecordedSpans.RecordedSpans
      const run = (name: string, effect: Effect.Effect<unknown, unknown>) =>
        Effect.exit(Effect.withSpan(effect, name))
      yield* run("fine", Effect.void)
      yield* run("failed", Effect.fail(new Error("no such city")))
      yield* run("died", Effect.die("boom"))
      yield* run("stopped", Effect.interrupt)
      assert.deepStrictEqual(
        recorded.spans.map((span) => [
          span.name,
          RecordedSpan.status(span),
          RecordedSpan.statusDescription(span)
        ]),
        [
          ["fine", "ok", undefined],
          ["failed", "error", "no such city"],
          ["died", "error", "boom"],
          ["stopped", "interrupted", undefined]
        ]
      )
    }).pipe(Effect.provide(RecordedSpans.layer))
  )

  it.effect("shows a span while it is open", () =>
    Effect.gen(function* () {
      const recorded = yield* RecordedSpans.RecordedSpans
      const gate = yield* Deferred.make<void>()
      const fiber = yield* Effect.forkChild(Effect.withSpan(Deferred.await(gate), "waiting"), {
        startImmediately: true
      })
      assert.deepStrictEqual(names(recorded.open), ["waiting"])
      assert.deepStrictEqual(recorded.open.map(RecordedSpan.status), ["open"])
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(recorded.open, [])
    }).pipe(Effect.provide(RecordedSpans.layer))
  )

  it.effect("counts how often a span was ended and keeps the first end", () =>
    Effect.gen(function* () {
      const recorded = yield* RecordedSpans.RecordedSpans
      const span = yield* Effect.makeSpan("twice")
      span.end(1n, Exit.void)
      span.end(2n, Exit.fail("late"))
      const [twice] = recorded.spans
      assert(twice !== undefined)
      assert.strictEqual(twice.endCount, 2)
      assert.strictEqual(RecordedSpan.status(twice), "ok")
    }).pipe(Effect.provide(RecordedSpans.layer))
  )

  it.effect("treats a span under a foreign parent as a root of that trace", () =>
    Effect.gen(function* () {
      const recorded = yield* RecordedSpans.RecordedSpans
      const remote = Tracer.externalSpan({ traceId: "a".repeat(32), spanId: "b".repeat(16) })
      yield* Effect.void.pipe(Effect.withSpan("local"), Effect.withParentSpan(remote))
      const [local] = recorded.roots
      assert(local !== undefined)
      assert.strictEqual(RecordedSpan.parent(local), remote)
      assert.strictEqual(local.traceId, remote.traceId)
    }).pipe(Effect.provide(RecordedSpans.layer))
  )

  it.effect("keeps the spans of two recorders apart", () =>
    Effect.gen(function* () {
      const one = yield* RecordedSpans.make
      const two = yield* RecordedSpans.make
      yield* Effect.withSpan(Effect.void, "one").pipe(Effect.provideService(Tracer.Tracer, one.tracer))
      yield* Effect.withSpan(Effect.void, "two").pipe(Effect.provideService(Tracer.Tracer, two.tracer))
      assert.deepStrictEqual([names(one.spans), names(two.spans)], [["one"], ["two"]])
    })
  )

  it.effect("records the spans of layers built above it", () =>
    Effect.gen(function* () {
      const recorded = yield* RecordedSpans.RecordedSpans
      assert.deepStrictEqual(names(recorded.spans), ["boot"])
    }).pipe(
      Effect.provide(
        Layer.effectDiscard(Effect.withSpan(Effect.void, "boot")).pipe(
          Layer.provideMerge(RecordedSpans.layer)
        )
      )
    )
  )
})
