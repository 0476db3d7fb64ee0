/**
 * Wrap with an OpenTelemetry set-up of your own: register it as you always do, and add `Sdk.layerTracer`.
 */
import { NodeSDK, tracing } from "@opentelemetry/sdk-node"
import { Effect, Schema, Stream } from "effect"
import { Tool, Toolkit } from "effect/ai"
import { ToolkitInstrumentation } from "toolspan"
import { Sdk } from "toolspan/sdk"

const exporter = new tracing.InMemorySpanExporter()
const processor = new tracing.SimpleSpanProcessor(exporter)
const sdk = new NodeSDK({
  serviceName: "my-agent",
  spanProcessors: [processor],
  metricReaders: [],
  logRecordProcessors: []
})
sdk.start()

const Refund = Tool.make("refund", {
  parameters: Schema.Struct({ order: Schema.String, apiKey: Schema.String }),
  success: Schema.Struct({ refunded: Schema.Boolean })
})

const toolkit = Toolkit.make(Refund)

const program = Effect.gen(function* () {
  const { handle } = yield* ToolkitInstrumentation.instrument(toolkit)
  const results = yield* handle("refund", { order: "A-17", apiKey: "sk-live-0123456789abcdef" }, "call_1")
  yield* Stream.runDrain(results)
}).pipe(Effect.provide(toolkit.toLayer({ refund: () => Effect.succeed({ refunded: true }) })))

await Effect.runPromise(Effect.provide(program, Sdk.layerTracer))

await processor.forceFlush()
for (const span of exporter.getFinishedSpans()) {
  console.log(span.name, span.attributes["gen_ai.tool.call.arguments"])
}
await sdk.shutdown()
