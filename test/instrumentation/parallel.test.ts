import { assert, describe, it } from "@effect/vitest"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as ToolkitInstrumentation from "../../src/instrumentation/ToolkitInstrumentation.ts"
import * as RecordedSpans from "../../src/testing/RecordedSpans.ts"
import { collect } from "../support/Toolkits.ts"

describe("many calls at once", () => {
  it.effect("fifty tools in parallel keep their parents, ids, arguments, results and children apart", () =>
    Effect.gen(function* () {
      const tools = Array.from({ length: 50 }, (_, n) =>
        Tool.make(`tool_${n}`, {
          parameters: Schema.Struct({ n: Schema.Number }),
          success: Schema.Struct({ n: Schema.Number, id: Schema.UndefinedOr(Schema.String) })
        })
      )
      const kit = Toolkit.make(...tools)
      const layer = kit.toLayer(
        Object.fromEntries(
          tools.map((tool, index) => [
            tool.name,
            ({ n }: { readonly n: number }, { toolCallId }: { readonly toolCallId?: string | undefined }) =>
              Effect.sleep(((index * 7) % 50) + 1).pipe(
                Effect.withSpan(`work ${n}`),
                Effect.andThen(Effect.annotateCurrentSpan("handler.n", n)),
                Effect.as({ n, id: toolCallId })
              )
          ])
        )
      )
      const { handle } = yield* Effect.provide(
        ToolkitInstrumentation.instrument(kit, { content: { results: "full" } }),
        layer
      )
      const fiber = yield* Effect.forEach(
        tools,
        (tool, n) => Effect.withSpan(collect(handle(tool.name, { n }, `call_${n}`)), `turn ${n}`),
        { concurrency: "unbounded" }
      ).pipe(Effect.forkChild)
      yield* TestClock.adjust(60)
      const results = yield* Fiber.join(fiber)
      assert.deepStrictEqual(
        results.map(([result]) => result?.result),
        tools.map((_, n) => ({ n, id: `call_${n}` }))
      )
      RecordedSpans.expectTrees(
        yield* RecordedSpans.RecordedSpans,
        tools.map((tool, n) => ({
          name: `turn ${n}`,
          exact: true,
          attributes: {},
          children: [
            {
              name: `execute_tool ${tool.name}`,
              attributes: {
                "gen_ai.tool.call.id": `call_${n}`,
                "gen_ai.tool.call.arguments": `{"n":${n}}`,
                "gen_ai.tool.call.result": `{"n":${n},"id":"call_${n}"}`,
                "handler.n": n
              },
              children: [{ name: `work ${n}` }]
            }
          ]
        }))
      )
    }).pipe(Effect.provide(RecordedSpans.layer))
  )
})

describe("hostile tool names", () => {
  const names = [
    "constructor",
    "__proto__",
    "toString",
    "hasOwnProperty",
    "x".repeat(300),
    "🛠️ weird",
    "a\u0000b"
  ]

  it.effect("as tools of the toolkit they are called, and traced under their own name", () =>
    Effect.gen(function* () {
      const tools = names.map((name) => Tool.make(name, { success: Schema.String }))
      const kit = Toolkit.make(...tools)
      const layer = kit.toLayer(Object.fromEntries(names.map((name) => [name, () => Effect.succeed(name)])))
      const instrumented = yield* Effect.provide(ToolkitInstrumentation.instrument(kit), layer)
      const plain = yield* Effect.provide(kit, layer)
      for (const name of names) {
        const call = ({ handle }: typeof plain) => Effect.option(collect(handle(name, {}, "call_1")))
        assert.deepStrictEqual(yield* call(instrumented), yield* call(plain))
      }
      const recorded = yield* RecordedSpans.RecordedSpans
      assert.deepStrictEqual(
        recorded.spans.map((span) => span.name),
        names.map((name) => (Object.hasOwn(kit.tools, name) ? `execute_tool ${name}` : "execute_tool"))
      )
    }).pipe(Effect.provide(RecordedSpans.layer))
  )

  it.effect("as names that a model made up they are unknown tools, cut to 256 characters", () =>
    Effect.gen(function* () {
      const kit = Toolkit.make(Tool.make("known", { success: Schema.Void }))
      const { handle } = yield* ToolkitInstrumentation.instrument(kit)
      for (const name of names) {
        assert.isTrue(Option.isNone(yield* Effect.option(handle(name as "known", {}))))
      }
      RecordedSpans.expectTrees(
        yield* RecordedSpans.RecordedSpans,
        names.map((name) => ({
          name: "execute_tool",
          attributes: {
            "gen_ai.tool.name": name.slice(0, 256),
            "toolspan.tool.outcome": "unknown_tool"
          }
        }))
      )
    }).pipe(
      Effect.provide(
        Layer.merge(
          Toolkit.make(Tool.make("known", { success: Schema.Void })).toLayer({ known: () => Effect.void }),
          RecordedSpans.layer
        )
      )
    )
  )
})
