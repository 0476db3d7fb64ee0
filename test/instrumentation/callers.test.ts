import { assert, describe, it } from "@effect/vitest"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as McpProtocol from "effect/ai/McpProtocol"
import * as McpServer from "effect/ai/McpServer"
import * as McpTest from "effect/ai/McpTest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as ToolkitInstrumentation from "../../src/instrumentation/ToolkitInstrumentation.ts"
import * as RecordedSpans from "../../src/testing/RecordedSpans.ts"
import * as ScriptedModel from "../../src/testing/ScriptedModel.ts"
import { handlers, toolkit } from "../support/Toolkits.ts"

const instrumented = ToolkitInstrumentation.instrument(toolkit)

const script: ReadonlyArray<ScriptedModel.Turn> = [
  [
    ScriptedModel.toolCall("call_1", "greet", { name: "Ada" }),
    ScriptedModel.toolCall("call_2", "try_order", { item: "unobtainium" }),
    ScriptedModel.toolCall("call_3", "progress", { steps: 1 })
  ]
]

const environment = Layer.mergeAll(handlers, RecordedSpans.layer, ScriptedModel.layer(script))

const calls = [
  {
    name: "execute_tool greet",
    attributes: { "gen_ai.tool.call.id": "call_1", "toolspan.tool.outcome": "success" }
  },
  {
    name: "execute_tool try_order",
    status: "error" as const,
    attributes: { "gen_ai.tool.call.id": "call_2", "toolspan.tool.outcome": "failure" }
  },
  {
    name: "execute_tool progress",
    attributes: { "gen_ai.tool.call.id": "call_3", "toolspan.tool.preliminary.count": 1 }
  }
]

describe("whoever calls the toolkit", () => {
  it.effect("generateText: the calls of a turn are children of its span, with the model's ids", () =>
    Effect.gen(function* () {
      const response = yield* LanguageModel.generateText({ prompt: "go", toolkit: instrumented })
      const plain = yield* LanguageModel.generateText({ prompt: "go", toolkit }).pipe(
        Effect.provide(ScriptedModel.layer(script)),
        Effect.withTracerEnabled(false)
      )
      assert.deepStrictEqual(response.content, plain.content)
      RecordedSpans.expectTrees(yield* RecordedSpans.RecordedSpans, [
        {
          name: "LanguageModel.generateText",
          attributes: { tool: undefined, parameters: undefined },
          children: calls
        }
      ])
    }).pipe(Effect.provide(environment))
  )

  it.effect("streamText: they are children of the span around it, where upstream runs them", () =>
    Effect.gen(function* () {
      const parts = yield* Stream.runCollect(
        LanguageModel.streamText({ prompt: "go", toolkit: yield* instrumented })
      ).pipe(Effect.withSpan("turn"))
      assert.deepStrictEqual(
        parts.filter((part) => part.type === "tool-result" && !part.preliminary).length,
        3
      )
      RecordedSpans.expectTrees(yield* RecordedSpans.RecordedSpans, [
        {
          name: "turn",
          exact: true,
          attributes: {},
          children: [...calls, { name: "LanguageModel.streamText" }]
        }
      ])
    }).pipe(Effect.provide(environment))
  )

  it.effect("an MCP server: each tools/call has a span of the tool, without a call id", () =>
    Effect.gen(function* () {
      const client = yield* McpTest.makeClient(McpServer.toolkit(instrumented), {
        protocols: [McpProtocol.v2025_11_25]
      })
      const result = yield* client.callTool({ name: "greet", arguments: { name: "Ada" } })
      assert.deepStrictEqual(result.structuredContent, { greeting: "Hello, Ada" })
      const { spans } = yield* RecordedSpans.RecordedSpans
      const tool = spans.filter((span) => span.name.startsWith("execute_tool"))
      assert.deepStrictEqual(
        tool.map((span) => [span.name, span.attributes.has("gen_ai.tool.call.id"), span.endCount]),
        [["execute_tool greet", false, 1]]
      )
      assert.isTrue(spans.every((span) => !span.attributes.has("parameters")))
    }).pipe(Effect.scoped, Effect.provide(environment))
  )
})
