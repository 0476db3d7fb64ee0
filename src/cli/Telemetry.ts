/**
 * Where the telemetry of a `toolspan` command goes: to the terminal, and through OpenTelemetry if the environment names an endpoint.
 */
import * as Layer from "effect/Layer"
import * as Sdk from "../sdk/Sdk.ts"
import * as Terminal from "../terminal/Terminal.ts"

type Environment = Readonly<Record<string, string | undefined>>

/** Where spans go. */
const endpoint = (environment: Environment): string =>
  environment["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] ||
  environment["OTEL_EXPORTER_OTLP_ENDPOINT"] ||
  "http://localhost:4318"

/** Whether the environment turns off what its endpoint turns on. */
export const isOff = (environment: Environment): boolean =>
  environment["OTEL_SDK_DISABLED"]?.toLowerCase() === "true" ||
  environment["OTEL_TRACES_EXPORTER"] === "none" ||
  environment["OTEL_TRACES_SAMPLER"]?.endsWith("always_off") === true

const exports = (environment: Environment): boolean =>
  Object.entries(environment).some(([name, value]) => name.startsWith("OTEL_EXPORTER_OTLP_") && value !== "")

export interface Options {
  /** The name of the service where the environment has none. */
  readonly serviceName: string
  /** Whether to print traces, and if so, whether to show calls that run. */
  readonly print: "live" | "finished" | "nothing"
}

/** Prints traces, if that is wanted; exports them as well where an `OTEL_EXPORTER_OTLP_*` variable is set. */
export const layer = (environment: Environment, { print, serviceName }: Options): Layer.Layer<never> => {
  const printed =
    print === "nothing" ? Layer.empty : Terminal.layer({ progress: print === "live" ? "auto" : false })
  return exports(environment)
    ? // What is said in code goes before the environment.
      Layer.provideMerge(printed, Sdk.layer(environment["OTEL_SERVICE_NAME"] ? {} : { serviceName }))
    : printed
}

/** How to open an exported trace; undefined if none was sent. */
export const whereToLook = (environment: Environment, traceId: string): string | undefined => {
  if (!exports(environment) || isOff(environment)) return undefined
  const target = endpoint(environment)
  if (!URL.canParse(target)) return `The trace was sent as ${traceId}.`
  // Without user and password.
  const { hostname, origin } = new URL(target)
  return `The trace was sent to ${origin} as ${traceId}.\nIn Jaeger: http://${hostname}:16686/trace/${traceId}`
}
