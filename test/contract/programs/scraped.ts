/**
 * Scrapes its own metrics, as Prometheus would, and prints them.
 */
import * as Effect from "effect/Effect"
import { ToolkitInstrumentation } from "toolspan"
import { Sdk } from "toolspan/sdk"
import { collect, handlers, toolkit } from "../../support/Toolkits.ts"

const program = Effect.gen(function* () {
  const { handle } = yield* ToolkitInstrumentation.instrument(toolkit)
  yield* collect(handle("greet", { name: "Ada" }, "call_1"))
  const url = `http://127.0.0.1:${process.env["OTEL_EXPORTER_PROMETHEUS_PORT"]}/metrics`
  console.log(yield* Effect.promise(async () => (await fetch(url)).text()))
})

await Effect.runPromise(program.pipe(Effect.provide(handlers), Effect.provide(Sdk.layer())))
