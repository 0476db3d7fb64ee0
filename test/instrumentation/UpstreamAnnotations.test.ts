import { assert, describe, it } from "@effect/vitest"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import * as Schema from "effect/Schema"
import * as Tracer from "effect/Tracer"
import * as ToolkitInstrumentation from "../../src/instrumentation/ToolkitInstrumentation.ts"
import * as RecordedSpans from "../../src/testing/RecordedSpans.ts"
import { collect, handlers, toolkit } from "../support/Toolkits.ts"

const environment = Layer.merge(handlers, RecordedSpans.layer)
const leaked = { tool: undefined, parameters: undefined }

const Login = Tool.make("login", {
  parameters: Schema.Struct({ user: Schema.String, password: Schema.String }),
  success: Schema.Void
})
const login = Toolkit.make(Login)

describe("upstream's two writes reach no span", () => {
  it.effect("neither the tool's nor the one around it", () =>
    Effect.gen(function* () {
      const { handle } = yield* ToolkitInstrumentation.instrument(login)
      yield* Effect.withSpan(collect(handle("login", { user: "ada", password: "hunter2!" })), "turn")
      const recorded = yield* RecordedSpans.RecordedSpans
      RecordedSpans.expectTrees(recorded, [
        {
          name: "turn",
          exact: true,
          attributes: {},
          children: [{ name: "execute_tool login", attributes: leaked }]
        }
      ])
      assert.notInclude(RecordedSpans.render(recorded), "hunter2!")
    }).pipe(Effect.provide(Layer.merge(login.toLayer({ login: () => Effect.void }), RecordedSpans.layer)))
  )

  it.effect("the handler's own do, even with the same keys and values", () =>
    Effect.gen(function* () {
      const { handle } = yield* ToolkitInstrumentation.instrument(login).pipe(
        Effect.provide(
          login.toLayer({
            login: (parameters) => Effect.annotateCurrentSpan({ tool: "login", parameters: parameters.user })
          })
        )
      )
      yield* collect(handle("login", { user: "ada", password: "hunter2!" }))
      RecordedSpans.expectTrees(yield* RecordedSpans.RecordedSpans, [
        { name: "execute_tool login", attributes: { tool: "login", parameters: "ada" } }
      ])
    }).pipe(Effect.provide(RecordedSpans.layer))
  )

  it.effect("not even where nobody traces the call: parallel calls under one span leave it as it was", () =>
    Effect.gen(function* () {
      const { handle } = yield* ToolkitInstrumentation.instrument(toolkit)
      const span = yield* Effect.currentSpan
      yield* Effect.forEach(
        ["a", "b", "c"],
        (name) => Effect.andThen(Effect.yieldNow, collect(handle("greet", { name }))),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual([...span.attributes.keys()], [])
    }).pipe(
      Effect.withSpan("native"),
      Effect.provideService(Tracer.Tracer, Tracer.nativeTracer),
      Effect.provide(handlers)
    )
  )

  it.effect("there, the handler writes on the span around it and nests under it, as without us", () =>
    Effect.gen(function* () {
      const { handle } = yield* ToolkitInstrumentation.instrument(login).pipe(
        Effect.provide(
          login.toLayer({
            login: () =>
              Effect.annotateCurrentSpan("rows", 1).pipe(
                Effect.andThen(Effect.currentParentSpan),
                Effect.orDie,
                Effect.flatMap((parent) => Effect.annotateCurrentSpan("nested", parent.spanId))
              )
          })
        )
      )
      const span = yield* Effect.currentSpan
      yield* collect(handle("login", { user: "ada", password: "hunter2!" }))
      assert.deepStrictEqual(
        [...span.attributes],
        [
          ["rows", 1],
          ["nested", span.spanId]
        ]
      )
    }).pipe(Effect.withSpan("native"), Effect.provideService(Tracer.Tracer, Tracer.nativeTracer))
  )

  it.effect("not with tracing disabled inside a traced program", () =>
    Effect.gen(function* () {
      const { handle } = yield* ToolkitInstrumentation.instrument(toolkit)
      yield* collect(handle("greet", { name: "Ada" })).pipe(
        Effect.provideService(References.TracerEnabled, false),
        Effect.withSpan("turn")
      )
      RecordedSpans.expectTrees(yield* RecordedSpans.RecordedSpans, [
        { name: "turn", exact: true, attributes: {} }
      ])
    }).pipe(Effect.provide(environment))
  )

  it.effect("not on a span that cannot be changed", () =>
    Effect.gen(function* () {
      const { tracer } = yield* RecordedSpans.RecordedSpans
      const written: Array<string> = []
      const frozen = Tracer.make({
        span: (options) => {
          const span = tracer.span(options)
          return Object.freeze({
            ...span,
            spanId: span.spanId,
            traceId: span.traceId,
            attributes: span.attributes,
            end: () => {},
            event: () => {},
            addLinks: () => {},
            attribute: (key: string) => {
              written.push(key)
            }
          })
        }
      })
      const { handle } = yield* ToolkitInstrumentation.instrument(toolkit)
      const [result] = yield* Effect.provideService(
        collect(handle("greet", { name: "Ada" })),
        Tracer.Tracer,
        frozen
      )
      assert.deepStrictEqual(result?.result, { greeting: "Hello, Ada" })
      assert.notIncludeMembers(written, ["tool", "parameters"])
      assert.include(written, "toolspan.tool.outcome")
    }).pipe(Effect.provide(environment))
  )
})
