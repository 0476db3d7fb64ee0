import * as NodeSdk from "@effect/opentelemetry/NodeSdk"
import { assert, describe, it } from "@effect/vitest"
import * as Otel from "@opentelemetry/api"
import { tracing } from "@opentelemetry/sdk-node"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Otlp from "effect/observability/Otlp"
import * as Schema from "effect/Schema"
import * as ToolkitInstrumentation from "../../src/instrumentation/ToolkitInstrumentation.ts"
import { Sdk } from "../../src/sdk/index.ts"
import * as OtlpServer from "../support/OtlpServer.ts"
import { collect, handlers, toolkit } from "../support/Toolkits.ts"

const program = Effect.gen(function* () {
  const { handle } = yield* ToolkitInstrumentation.instrument(toolkit)
  const results = yield* collect(handle("greet", { name: "Ada" }, "call_1"))
  yield* Effect.exit(collect(handle("order", { item: "unobtainium" }, "call_2")))
  return results.map((result) => result.result)
}).pipe(Effect.withSpan("turn"), Effect.provide(handlers))

const greeting = [{ greeting: "Hello, Ada" }]

/** What both set-ups without `sdk/` should give: names and parents, and what does not depend on the tracer. */
const expected = [
  ["execute_tool greet", "turn", "call_1", '{"name":"Ada"}', "success", undefined],
  ["execute_tool order", "turn", "call_2", '{"item":"unobtainium"}', "failure", "OutOfStock"]
]

describe("the wrapper works with every tracer", () => {
  it.effect("@effect/opentelemetry, without sdk/", () =>
    Effect.gen(function* () {
      const exporter = new tracing.InMemorySpanExporter()
      const processor = new tracing.SimpleSpanProcessor(exporter)
      const spans: Array<tracing.ReadableSpan> = []
      yield* Effect.provide(
        Effect.gen(function* () {
          assert.deepStrictEqual(yield* program, greeting)
          yield* Effect.promise(() => processor.forceFlush())
          spans.push(...exporter.getFinishedSpans())
        }),
        NodeSdk.layer(() => ({ spanProcessor: processor }))
      )
      const names = new Map(spans.map((span) => [span.spanContext().spanId, span.name]))
      assert.deepStrictEqual(
        spans
          .filter((span) => span.name !== "turn")
          .map(({ attributes, name, parentSpanContext }) => [
            name,
            names.get(parentSpanContext?.spanId ?? ""),
            attributes["gen_ai.tool.call.id"],
            attributes["gen_ai.tool.call.arguments"],
            attributes["toolspan.tool.outcome"],
            attributes["error.type"]
          ]),
        expected
      )
    })
  )

  it.effect("Effect's own OTLP exporters", () =>
    Effect.gen(function* () {
      const server = yield* OtlpServer.make
      const result = yield* Effect.provide(
        program,
        Otlp.layerJson({ baseUrl: server.url, resource: { serviceName: "native" } }).pipe(
          Layer.provide(FetchHttpClient.layer)
        )
      )
      assert.deepStrictEqual(result, greeting)
      const names = new Map(server.spans().map((span) => [span.spanId, span.name]))
      assert.deepStrictEqual(
        server
          .spans()
          .filter((span) => span.name !== "turn")
          .sort((a, b) => (a.startTime < b.startTime ? -1 : 1))
          .map(({ attributes, name, parentSpanId }) => [
            name,
            names.get(parentSpanId),
            attributes["gen_ai.tool.call.id"],
            attributes["gen_ai.tool.call.arguments"],
            attributes["toolspan.tool.outcome"],
            attributes["error.type"]
          ]),
        expected
      )
      assert.includeMembers(
        server.metrics().map((metric) => metric.name),
        ["gen_ai.execute_tool.duration", "toolspan.tool.calls", "toolspan.tool.active"]
      )
    })
  )

  it.effect("none at all", () => Effect.map(program, (result) => assert.deepStrictEqual(result, greeting)))

  it.live("sdk/: what other libraries trace inside a handler belongs under the tool", () =>
    Effect.gen(function* () {
      const exporter = new tracing.InMemorySpanExporter()
      const Query = Tool.make("query", { success: Schema.Void })
      const kit = Toolkit.make(Query)
      const tracer = Otel.trace.getTracer("pg")
      const spans: Array<tracing.ReadableSpan> = []
      const processor = new tracing.SimpleSpanProcessor(exporter)
      const names = ["OTEL_TRACES_EXPORTER", "OTEL_METRICS_EXPORTER", "OTEL_LOGS_EXPORTER"]
      for (const name of names) process.env[name] = "none"
      yield* Effect.gen(function* () {
        const { handle } = yield* ToolkitInstrumentation.instrument(kit)
        yield* collect(handle("query", {}, "call_1"))
        yield* Effect.promise(() => processor.forceFlush())
        spans.push(...exporter.getFinishedSpans())
      }).pipe(
        Effect.provide(
          kit.toLayer({
            query: () =>
              Effect.promise(async () => {
                tracer.startSpan("at once").end()
                await new Promise((resolve) => setTimeout(resolve, 1))
                tracer.startSpan("after waiting").end()
              })
          })
        ),
        Effect.provide(Sdk.layer({ spanProcessors: [processor] }))
      )
      for (const name of names) delete process.env[name]
      const tool = spans.find((span) => span.name === "execute_tool query")
      assert.deepStrictEqual(
        spans.map((span) => [span.name, span.parentSpanContext?.spanId]),
        [
          ["at once", tool?.spanContext().spanId],
          ["after waiting", tool?.spanContext().spanId],
          ["execute_tool query", undefined]
        ]
      )
    })
  )
})
