/**
 * Where spans go, by OpenTelemetry's own variables.
 */

type Environment = Readonly<Record<string, string | undefined>>

export type Protocol = "grpc" | "http/protobuf" | "http/json"

export interface Target {
  /** As it was given, or the default. */
  readonly endpoint: string
  /** Where spans are posted; for gRPC the endpoint itself. */
  readonly url: string
  readonly protocol: Protocol
  readonly headers: Readonly<Record<string, string>>
}

/** The exporter that `Sdk.layer` takes where no variable says another. */
const DEFAULT_PROTOCOL: Protocol = "http/json"

export const fromEnvironment = (environment: Environment): Target => {
  const own = environment["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"]
  const said = environment["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"] || environment["OTEL_EXPORTER_OTLP_PROTOCOL"]
  const protocol = said === "grpc" || said === "http/protobuf" ? said : DEFAULT_PROTOCOL
  const endpoint =
    own ||
    environment["OTEL_EXPORTER_OTLP_ENDPOINT"] ||
    `http://localhost:${protocol === "grpc" ? 4317 : 4318}`
  // The endpoint of one signal is used as it is; to the one of all signals the path is added.
  const url = own || protocol === "grpc" ? endpoint : `${endpoint.replace(/\/$/, "")}/v1/traces`
  return { endpoint, url, protocol, headers: headersOf(environment) }
}

/** `name=value` pairs, separated by commas, values percent-encoded. */
const headersOf = (environment: Environment): Readonly<Record<string, string>> => {
  const text =
    environment["OTEL_EXPORTER_OTLP_TRACES_HEADERS"] || environment["OTEL_EXPORTER_OTLP_HEADERS"] || ""
  const pairs = text.split(",").flatMap((pair) => {
    const at = pair.indexOf("=")
    return at > 0 ? [[pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())] as const] : []
  })
  return Object.fromEntries(pairs)
}

const decoded = (value: string): string => {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
