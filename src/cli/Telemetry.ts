/**
 * Where the telemetry of a `toolspan` command goes: to the terminal, and through OpenTelemetry if the environment names an endpoint.
 */
import * as Layer from "effect/Layer"
import * as Sdk from "../sdk/Sdk.ts"
import * as Terminal from "../terminal/Terminal.ts"

type Environment = Readonly<Record<string, string | undefined>>

const endpoint = (environment: Environment): string | undefined =>
  environment["OTEL_EXPORTER_OTLP_ENDPOINT"] || environment["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"]

const exports = (environment: Environment): boolean =>
  Object.entries(environment).some(([name, value]) => name.startsWith("OTEL_EXPORTER_OTLP_") && value !== "")

/** Prints traces; exports them as well where an `OTEL_EXPORTER_OTLP_*` variable is set. */
export const layer = (environment: Environment): Layer.Layer<never> =>
  exports(environment)
    ? Terminal.layer().pipe(
        Layer.provideMerge(
          // What is said in code goes before the environment.
          Sdk.layer(environment["OTEL_SERVICE_NAME"] ? {} : { serviceName: "toolspan-demo" })
        )
      )
    : Terminal.layer()

/** How to open an exported trace; undefined if none was exported. */
export const whereToLook = (environment: Environment, traceId: string): string | undefined => {
  if (!exports(environment)) return undefined
  const target = endpoint(environment) ?? "http://localhost:4318"
  const jaeger = URL.canParse(target)
    ? `http://${new URL(target).hostname}:16686/trace/${traceId}`
    : undefined
  return [
    `The trace was exported to ${target} as ${traceId}.`,
    ...(jaeger === undefined ? [] : [`In Jaeger: ${jaeger}`])
  ].join("\n")
}
