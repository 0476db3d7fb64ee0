/**
 * Whether memory stays flat: a million calls, and one call with a million preliminary results.
 */

import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as ToolkitInstrumentation from "../src/instrumentation/ToolkitInstrumentation.ts"
import * as Telemetry from "./Telemetry.ts"
import * as ToolCall from "./ToolCall.ts"

const Progress = Tool.make("progress", {
  parameters: Schema.Struct({ steps: Schema.Number }),
  success: Schema.Number
})
const progress = Toolkit.make(Progress)

const heap = (): number => {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed / 1024 / 1024
}

const report = (what: string, before: number, after: number): void =>
  console.log(`  ${what}: ${before.toFixed(1)} MB before, ${after.toFixed(1)} MB after`)

export const run = async (calls: number): Promise<void> => {
  console.log("\nHeap")
  const exporter = new Telemetry.CountingExporter()
  const sdk = await Telemetry.runtime(exporter, "always_on")
  const bare = await Effect.runPromise(Effect.provide(ToolCall.toolkit, ToolCall.handlers))
  const batch = ToolCall.calls(ToolkitInstrumentation.instrument(bare))
  const repeat = async (times: number) => {
    for (let n = 0; n < times; n += ToolCall.BATCH) await sdk.runPromise(batch)
  }
  await repeat(20_000)
  const before = heap()
  await repeat(calls)
  report(`${calls.toLocaleString("en")} calls`, before, heap())

  const { handle } = await Effect.runPromise(
    Effect.provide(
      ToolkitInstrumentation.instrument(progress),
      progress.toLayer({
        progress: ({ steps }, { preliminary }) =>
          Effect.as(
            Effect.forEach(Array.from({ length: steps }).keys(), preliminary, { discard: true }),
            steps
          )
      })
    )
  )
  const start = heap()
  const results = await sdk.runPromise(
    Effect.flatMap(handle("progress", { steps: calls }, "call_1"), Stream.runCount).pipe(
      Effect.provideService(Toolkit.PreliminaryBuffer, 16)
    )
  )
  report(`one call with ${results.toLocaleString("en")} results`, start, heap())
  await sdk.dispose()
  console.log(`  ${exporter.count.toLocaleString("en")} spans exported`)
}
