/**
 * The same turn in Vercel's AI SDK, not traced and with its own OpenTelemetry integration, in the same process.
 */
import { OpenTelemetry } from "@ai-sdk/otel"
import { tracing } from "@opentelemetry/sdk-node"
import { generateText, registerTelemetry, stepCountIs, tool } from "ai"
import { MockLanguageModelV3 } from "ai/test"
import * as z from "zod"
import * as Measure from "./Measure.ts"
import * as Telemetry from "./Telemetry.ts"

const BATCH = 20

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 }
}

const model = () => {
  let request = 0
  return new MockLanguageModelV3({
    doGenerate: async () =>
      request++ % 2 === 0
        ? {
            content: [
              {
                type: "tool-call",
                toolCallId: "call_1",
                toolName: "get_weather",
                input: '{"city":"Berlin","days":3}'
              }
            ],
            finishReason: { unified: "tool-calls", raw: undefined },
            usage,
            warnings: []
          }
        : {
            content: [{ type: "text", text: "It will be clear." }],
            finishReason: { unified: "stop", raw: undefined },
            usage,
            warnings: []
          }
  })
}

const tools = {
  get_weather: tool({
    description: "The weather of the next days",
    inputSchema: z.object({ city: z.string(), days: z.number() }),
    execute: async () => ({ celsius: 21, sky: "clear" })
  })
}

const turns = async (): Promise<void> => {
  const mock = model()
  for (let turn = 0; turn < BATCH; turn++) {
    await generateText({ model: mock, tools, prompt: "How will the weather be?", stopWhen: stepCountIs(2) })
  }
}

export const run = async (rounds: number): Promise<void> => {
  const bare = await Measure.compare([["ai, not traced", turns]], { batch: BATCH, rounds })
  const exporter = new Telemetry.CountingExporter()
  const provider = new tracing.BasicTracerProvider({
    spanProcessors: [new tracing.BatchSpanProcessor(exporter)]
  })
  registerTelemetry(new OpenTelemetry({ tracer: provider.getTracer("ai") }))
  const traced = await Measure.compare([["ai with @ai-sdk/otel", turns]], { batch: BATCH, rounds })
  await provider.shutdown()
  const [first] = bare
  Measure.print(
    `The same turn in the peer (${exporter.count} spans exported)`,
    [...bare, ...traced].map((row) => ({ ...row, ratio: row.microseconds / (first?.microseconds ?? 1) })),
    {}
  )
}
