import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Ports from "../support/Ports.ts"
import * as Program from "../support/Program.ts"

describe("scraped by Prometheus", () => {
  it.effect("counters have their names and zeros, and nothing has a label for the unit", () =>
    Effect.gen(function* () {
      const port = yield* Ports.free
      const { code, stderr, stdout } = yield* Program.run("test/contract/programs/scraped.ts", {
        environment: {
          OTEL_METRICS_EXPORTER: "prometheus",
          OTEL_EXPORTER_PROMETHEUS_PORT: String(port),
          OTEL_EXPORTER_PROMETHEUS_HOST: "127.0.0.1",
          OTEL_TRACES_EXPORTER: "none",
          OTEL_LOGS_EXPORTER: "none"
        }
      })
      assert.strictEqual(code, 0, stderr)
      const samples = stdout.split("\n").filter((line) => line.includes('gen_ai_tool_name="greet"'))
      const series = new Set(samples.map((line) => line.slice(0, line.indexOf("{"))))
      assert.deepStrictEqual([...series].sort(), [
        // Over OTLP, Prometheus puts the unit into the name (`_seconds`); OpenTelemetry's own exporter does not.
        "gen_ai_execute_tool_duration_bucket",
        "gen_ai_execute_tool_duration_count",
        "gen_ai_execute_tool_duration_sum",
        "toolspan_tool_active",
        "toolspan_tool_calls_total"
      ])
      assert.isTrue(
        samples.some((line) =>
          /^toolspan_tool_calls_total\{.*toolspan_tool_outcome="success".*\} 1( |$)/.test(line)
        )
      )
      assert.isTrue(
        samples.some((line) =>
          /^toolspan_tool_calls_total\{.*toolspan_tool_outcome="failure".*\} 0( |$)/.test(line)
        )
      )
      assert.notMatch(stdout, /[{,]unit="/)
    })
  )
})
