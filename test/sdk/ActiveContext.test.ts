import { assert, describe, it } from "@effect/vitest"
import * as Otel from "@opentelemetry/api"
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"
import * as fc from "fast-check"
import { EnterableContextManager } from "../../src/sdk/ContextManager.ts"
import * as SdkTracer from "../../src/sdk/Tracer.ts"
import * as Tracing from "./Tracing.ts"

const key = Otel.createContextKey("test/key")

/** Runs effects with our tracer, from outside of any. */
interface Program {
  readonly tracing: Tracing.Tracing
  readonly context: Context.Context<never>
  readonly tracer: Tracer.Tracer
}

const program = (contextManager: Otel.ContextManager): Effect.Effect<Program, never, Scope.Scope> =>
  Effect.gen(function* () {
    const tracing = yield* Tracing.make({ contextManager })
    const own = contextManager instanceof EnterableContextManager ? contextManager : undefined
    const context = yield* Layer.build(SdkTracer.layer(own))
    return { tracing, context, tracer: Context.get(context, Tracer.Tracer) }
  })

const active = () => Otel.trace.getActiveSpan()?.spanContext().spanId

/** Fails unless the active span is the fiber's, seen in the same synchronous code. */
const seen = Effect.withFiber((fiber) => {
  const expected = fiber.cache.span?.spanId
  assert.strictEqual(active(), expected)
  return Effect.void
})

for (const [name, make] of [
  ["our context manager", () => new EnterableContextManager()],
  ["the standard context manager", () => new AsyncLocalStorageContextManager()]
] as const) {
  describe(`the active span with ${name}`, () => {
    it.effect("is the fiber's in synchronous code, in promises and in timers", () =>
      Effect.gen(function* () {
        const { context } = yield* program(make())
        yield* Effect.gen(function* () {
          const { spanId } = yield* Effect.currentSpan
          assert.strictEqual(yield* Effect.sync(active), spanId)
          const later = yield* Effect.promise(async () => {
            const ids = [active()]
            await Promise.resolve()
            ids.push(active())
            await new Promise((resolve) => setTimeout(resolve, 1))
            ids.push(active())
            return ids
          })
          assert.deepStrictEqual(later, [spanId, spanId, spanId])
          const timer = yield* Effect.callback<string | undefined>((resume) => {
            setTimeout(() => resume(Effect.succeed(active())), 1)
          })
          assert.strictEqual(timer, spanId)
          assert.strictEqual(yield* Effect.sync(active), spanId)
        }).pipe(Effect.withSpan("outer"), Effect.provideContext(context))
      })
    )

    it.effect("changes with the span of the fiber, in and out", () =>
      Effect.gen(function* () {
        const { context } = yield* program(make())
        yield* Effect.gen(function* () {
          yield* seen
          yield* Effect.withSpan(Effect.andThen(seen, Effect.andThen(Effect.yieldNow, seen)), "inner")
          yield* seen
          yield* Effect.yieldNow
          yield* seen
        }).pipe(Effect.withSpan("outer"), Effect.provideContext(context))
      })
    )

    it.effect("is the parent of spans made with the OpenTelemetry API", () =>
      Effect.gen(function* () {
        const { context, tracing } = yield* program(make())
        yield* Effect.promise(async () => {
          await Promise.resolve()
          Otel.trace.getTracer("plain").startSpan("plain").end()
        }).pipe(Effect.withSpan("outer"), Effect.provideContext(context))
        assert.strictEqual(
          tracing.named("plain").parentSpanContext?.spanId,
          tracing.named("outer").spanContext().spanId
        )
      })
    )

    it.effect("keeps what the caller has in its context", () =>
      Effect.gen(function* () {
        const { context } = yield* program(make())
        const outside = Otel.ROOT_CONTEXT.setValue(key, "from outside")
        const value = Effect.sync(() => Otel.context.active().getValue(key))
        const values = Otel.context.with(outside, () =>
          Effect.runPromiseWith(context)(
            Effect.withSpan(Effect.all([value, Effect.andThen(Effect.yieldNow, value)]), "a")
          )
        )
        assert.deepStrictEqual(yield* Effect.promise(() => values), ["from outside", "from outside"])
      })
    )

    it.effect("keeps what each caller has, for callers who share a span", () =>
      Effect.gen(function* () {
        const { context } = yield* program(make())
        const span = yield* Effect.makeSpan("shared").pipe(Effect.provideContext(context))
        const value = Effect.sync(() => Otel.context.active().getValue(key)).pipe(Effect.withParentSpan(span))
        for (const caller of ["first", "second"]) {
          const found = Otel.context.with(Otel.ROOT_CONTEXT.setValue(key, caller), () =>
            Effect.runSyncWith(context)(value)
          )
          assert.strictEqual(found, caller)
        }
      })
    )

    it.effect("never changes what is active for the caller", () =>
      Effect.gen(function* () {
        const { context } = yield* program(make())
        const outside = Otel.ROOT_CONTEXT.setValue(key, "outside")
        const traced = <A, E>(effect: Effect.Effect<A, E>) =>
          Effect.withSpan(Effect.andThen(seen, effect), "a")
        yield* Effect.promise(() =>
          Otel.context.with(outside, async () => {
            const unchanged = () => assert.strictEqual(Otel.context.active(), outside)
            const waiting = Effect.runForkWith(context)(traced(Effect.never))
            unchanged()
            Effect.runSyncWith(context)(traced(seen))
            unchanged()
            Effect.runSyncExitWith(context)(traced(Effect.fail("no")))
            unchanged()
            Effect.runSyncExitWith(context)(traced(Effect.sync(() => assert.fail("thrown"))))
            unchanged()
            // What the run loop itself refuses leaves it by another door.
            Effect.runSyncExitWith(context)(traced(Effect.flatMap(Effect.void, () => 1 as never)))
            unchanged()
            await Effect.runPromiseWith(context)(traced(Effect.yieldNow))
            unchanged()
            waiting.interruptUnsafe()
            unchanged()
            await Effect.runPromise(Fiber.await(waiting))
            unchanged()
          })
        )
      })
    )

    it.effect("comes back after a run inside a primitive", () =>
      Effect.gen(function* () {
        const { context } = yield* program(make())
        yield* Effect.gen(function* () {
          const { spanId } = yield* Effect.currentSpan
          yield* Effect.sync(() => {
            Effect.runSyncWith(context)(Effect.withSpan(seen, "inside", { root: true }))
            assert.strictEqual(active(), spanId)
            Effect.runForkWith(context)(Effect.withSpan(Effect.andThen(seen, Effect.never), "waits inside"))
            assert.strictEqual(active(), spanId)
          })
          yield* seen
          const child = yield* Effect.forkChild(
            Effect.withSpan(Effect.andThen(seen, Effect.never), "child"),
            {
              startImmediately: true
            }
          )
          yield* seen
          yield* Fiber.interrupt(child)
          yield* seen
        }).pipe(Effect.withSpan("outer"), Effect.provideContext(context))
      })
    )

    it.effect("is right in a fiber that another fiber wakes", () =>
      Effect.gen(function* () {
        const { context } = yield* program(make())
        yield* Effect.gen(function* () {
          const gate = yield* Deferred.make<void>()
          const sleeper = yield* Effect.forkChild(
            Effect.withSpan(Effect.andThen(Deferred.await(gate), seen), "sleeper"),
            { startImmediately: true }
          )
          yield* Effect.withSpan(Effect.andThen(Deferred.succeed(gate, undefined), seen), "waker")
          yield* Fiber.join(sleeper)
        }).pipe(Effect.provideContext(context))
      })
    )

    it.effect("leaves with the tracer", () =>
      Effect.gen(function* () {
        const { context } = yield* program(make())
        yield* Effect.promise(() =>
          Otel.context.with(Otel.ROOT_CONTEXT.setValue(key, 1), async () => {
            const before = Otel.context.active()
            const fiber = Effect.runForkWith(context)(
              Effect.withSpan(Effect.withTracer(Effect.never, Tracer.nativeTracer), "a")
            )
            assert.strictEqual(Otel.context.active(), before)
            fiber.interruptUnsafe()
            assert.strictEqual(Otel.context.active(), before)
          })
        )
      })
    )

    it.effect("is right under a tracer that calls ours", () =>
      Effect.gen(function* () {
        const { context, tracer } = yield* program(make())
        const around = Tracer.make({
          span: (options) => tracer.span(options),
          context: (primitive, fiber) => tracer.context?.(primitive, fiber) as never
        })
        yield* Effect.promise(() =>
          Otel.context.with(Otel.ROOT_CONTEXT.setValue(key, 1), async () => {
            const before = Otel.context.active()
            const done = Effect.runPromiseWith(context)(
              Effect.gen(function* () {
                yield* seen
                yield* Effect.withSpan(Effect.andThen(Effect.yieldNow, seen), "inner")
                yield* seen
              }).pipe(Effect.withSpan("outer"), Effect.withTracer(around))
            )
            assert.strictEqual(Otel.context.active(), before)
            await done
          })
        )
      })
    )

    it.effect("is that of the nearest ancestor which propagates", () =>
      Effect.gen(function* () {
        const { context } = yield* program(make())
        yield* Effect.gen(function* () {
          const { spanId } = yield* Effect.currentSpan
          const id = Effect.sync(active)
          assert.strictEqual(
            yield* Effect.withSpan(id, "hidden", {
              annotations: Context.make(Tracer.DisablePropagation, true)
            }),
            spanId
          )
          assert.strictEqual(yield* Effect.withTracerEnabled(Effect.withSpan(id, "off"), false), spanId)
          const external = Tracer.externalSpan({ traceId: "a".repeat(32), spanId: "b".repeat(16) })
          assert.strictEqual(yield* Effect.withParentSpan(id, external), external.spanId)
        }).pipe(Effect.withSpan("outer"), Effect.provideContext(context))
      })
    )

    it.effect("is not taken for a foreign parent where Effect entered it", () =>
      Effect.gen(function* () {
        const { context, tracing } = yield* program(make())
        yield* Effect.sync(() => Effect.runSyncWith(context)(Effect.withSpan(Effect.void, "alone"))).pipe(
          Effect.withSpan("outer"),
          Effect.provideContext(context)
        )
        assert.isUndefined(tracing.named("alone").parentSpanContext)

        const plain = Otel.trace.getTracer("plain")
        yield* Effect.sync(() =>
          plain.startActiveSpan("plain", (span) => {
            Effect.runSyncWith(context)(Effect.withSpan(Effect.void, "child of plain"))
            span.end()
          })
        ).pipe(Effect.withSpan("outer 2"), Effect.provideContext(context))
        assert.strictEqual(
          tracing.named("child of plain").parentSpanContext?.spanId,
          tracing.named("plain").spanContext().spanId
        )
      })
    )

    it.effect("is each fiber's own in any interleaving", () =>
      Effect.gen(function* () {
        const { context } = yield* program(make())
        yield* Effect.promise(() =>
          fc.assert(
            fc.asyncProperty(fc.array(script, { minLength: 1, maxLength: 4 }), async (scripts) => {
              const before = Otel.context.active()
              const running = Effect.runPromiseExit(
                Effect.forEach(
                  scripts,
                  (steps, index) => Effect.withSpan(play(steps, context), `fiber ${index}`),
                  {
                    concurrency: "unbounded"
                  }
                ).pipe(Effect.provideContext(context))
              )
              assert.strictEqual(Otel.context.active(), before)
              const exit = await running
              assert.isTrue(Exit.isSuccess(exit), String(exit))
              assert.strictEqual(Otel.context.active(), before)
            }),
            { numRuns: 1000 }
          )
        )
      })
    )
  })
}

type Step =
  | { readonly _tag: "check" | "yield" | "microtask" | "macrotask" | "fail" | "throw" | "runSync" }
  | { readonly _tag: "span" | "child" | "daemon" | "untraced"; readonly steps: ReadonlyArray<Step> }

const { script } = fc.letrec<{ script: ReadonlyArray<Step>; step: Step }>((tie) => ({
  script: fc.array(tie("step"), { maxLength: 5, depthIdentifier: "step" }),
  step: fc.oneof(
    { depthIdentifier: "step", depthSize: "small", withCrossShrink: true },
    fc.record({
      _tag: fc.constantFrom("check", "yield", "microtask", "macrotask", "fail", "throw", "runSync")
    }),
    fc.record({ _tag: fc.constantFrom("span", "child", "daemon", "untraced"), steps: tie("script") })
  )
}))

/** Plays a script, looking at the active span after every step. */
const play = (steps: ReadonlyArray<Step>, context: Context.Context<never>): Effect.Effect<void> =>
  Effect.forEach(steps, (step) => Effect.andThen(playOne(step, context), seen), { discard: true })

const playOne = (step: Step, context: Context.Context<never>): Effect.Effect<unknown> => {
  switch (step._tag) {
    case "check":
      return seen
    case "yield":
      return Effect.yieldNow
    case "microtask":
      return promised(() => Promise.resolve())
    case "macrotask":
      return promised(() => new Promise((resolve) => setImmediate(resolve)))
    case "fail":
      return Effect.exit(Effect.withSpan(Effect.andThen(seen, Effect.fail("no")), "fails"))
    case "throw":
      return Effect.exit(
        Effect.sync(() => {
          throw new Error("thrown")
        })
      )
    case "runSync":
      return Effect.sync(() => {
        const before = active()
        Effect.runSyncWith(context)(Effect.withSpan(seen, "sync", { root: true }))
        assert.strictEqual(active(), before)
      })
    case "span":
      return Effect.withSpan(play(step.steps, context), "span")
    case "child":
      return Effect.flatMap(Effect.forkChild(play(step.steps, context)), Fiber.join)
    case "daemon":
      return Effect.flatMap(
        Effect.forkDetach(Effect.withSpan(play(step.steps, context), "daemon"), { startImmediately: true }),
        Fiber.join
      )
    case "untraced":
      return Effect.withTracer(
        Effect.forEach(step.steps, () => Effect.yieldNow, { discard: true }),
        Tracer.nativeTracer
      )
  }
}

/** Awaits, and looks at the active span on both sides of it. */
const promised = (wait: () => Promise<unknown>): Effect.Effect<void> =>
  Effect.flatMap(Effect.option(Effect.currentSpan), (span) =>
    Effect.promise(async () => {
      const expected = Option.getOrUndefined(span)?.spanId
      assert.strictEqual(active(), expected)
      await wait()
      assert.strictEqual(active(), expected)
    })
  )
