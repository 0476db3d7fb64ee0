/**
 * Asks an endpoint whether it takes spans: posts a request with none in it, as the exporters would, and reads the answer.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Predicate from "effect/Predicate"
import * as Finding from "./Finding.ts"
import type { Target } from "./Target.ts"

const PATIENCE = Duration.seconds(5)

/** How the endpoint answers. Over gRPC there is no such question: the test call tells. */
export const probe = (target: Target): Effect.Effect<Finding.Finding, never, HttpClient.HttpClient> => {
  if (!URL.canParse(target.url)) {
    return Effect.succeed(
      Finding.bad(
        `"${target.endpoint}" is no address`,
        "Set OTEL_EXPORTER_OTLP_ENDPOINT to one like http://localhost:4318."
      )
    )
  }
  if (target.protocol === "grpc") {
    return Effect.succeed(Finding.good(`${shown(target.url)} is asked over gRPC: see the test call`))
  }
  return HttpClient.execute(request(target)).pipe(
    Effect.flatMap((response) => Effect.map(response.text, (body) => answer(target, response.status, body))),
    Effect.timeout(PATIENCE),
    Effect.catch((error) => Effect.succeed(failure(target, codeOf(error), messageOf(error))))
  )
}

const request = ({ headers, protocol, url }: Target): HttpClientRequest.HttpClientRequest =>
  HttpClientRequest.post(url).pipe(
    HttpClientRequest.setHeaders(headers),
    protocol === "http/json"
      ? HttpClientRequest.bodyText('{"resourceSpans":[]}', "application/json")
      : // No bytes at all are a request without spans.
        HttpClientRequest.bodyUint8Array(new Uint8Array(), "application/x-protobuf")
  )

const answer = (target: Target, status: number, body: string): Finding.Finding => {
  const where = `${shown(target.url)} answers ${status}`
  if (status >= 200 && status < 300) {
    return isOtlp(target, body)
      ? Finding.good(`${shown(target.url)} takes spans`)
      : Finding.bad(
          `${where}, but not as an OTLP endpoint does: something else listens there`,
          "Check host and port. A collector listens for OTLP/HTTP on 4318."
        )
  }
  if (status === 401 || status === 403) {
    return Finding.bad(
      `${where}: it does not accept the credentials`,
      "Set OTEL_EXPORTER_OTLP_HEADERS, for instance to authorization=Bearer%20…"
    )
  }
  if (status === 400 && /https/i.test(body)) return encrypted(target)
  if (status === 404 || status === 405) {
    return Finding.bad(
      `${where}: there is no such path, or it takes no spans`,
      target.endpoint.includes("/v1/traces") && target.url !== target.endpoint
        ? "OTEL_EXPORTER_OTLP_ENDPOINT is the address without /v1/traces, which is added to it."
        : "Check host, port and path. A collector takes spans at /v1/traces on port 4318."
    )
  }
  if (status === 415) {
    return Finding.bad(
      `${where}: it does not take ${target.protocol}`,
      "Set OTEL_EXPORTER_OTLP_PROTOCOL to http/protobuf, or to grpc with port 4317."
    )
  }
  return Finding.bad(
    where,
    status === 429 || status >= 500 ? "Look at its own log." : "Check host, port and path."
  )
}

/** The answer to a request without spans is a message without fields, or one that says what was left out. */
const isOtlp = ({ protocol }: Target, body: string): boolean => {
  if (protocol === "http/protobuf") return body === "" || body.charCodeAt(0) === 0x0a
  try {
    const parsed: unknown = JSON.parse(body === "" ? "{}" : body)
    return (
      Predicate.isObject(parsed) &&
      !Array.isArray(parsed) &&
      Object.keys(parsed).every((key) => key === "partialSuccess")
    )
  } catch {
    return false
  }
}

const encrypted = ({ url }: Target): Finding.Finding =>
  Finding.bad(`${shown(url)} expects an encrypted connection`, "Use https:// in place of http://.")

/** What a connection that fails says. */
const failure = (target: Target, code: string | undefined, message: string): Finding.Finding => {
  const { hostname, port, protocol } = new URL(target.url)
  const where = shown(target.url)
  switch (code) {
    case "ECONNREFUSED":
      return Finding.bad(
        `nothing listens at ${where}`,
        "Start a collector or Jaeger there, or set OTEL_EXPORTER_OTLP_ENDPOINT to where one runs."
      )
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return Finding.bad(
        `there is no host named ${hostname}`,
        "Check the name in OTEL_EXPORTER_OTLP_ENDPOINT."
      )
    case "TimeoutError":
    case "UND_ERR_CONNECT_TIMEOUT":
    case "UND_ERR_HEADERS_TIMEOUT":
    case "ETIMEDOUT":
      return Finding.bad(
        `${where} does not answer within ${Duration.toSeconds(PATIENCE)} seconds`,
        "Check that no firewall stands between, and that it is an OTLP endpoint."
      )
    case "ERR_SSL_WRONG_VERSION_NUMBER":
    case "ERR_SSL_PACKET_LENGTH_TOO_LONG":
    case "EPROTO":
      return Finding.bad(`${where} does not encrypt`, "Use http:// in place of https://.")
  }
  if (code !== undefined && /CERT|SELF_SIGNED|LEAF_SIGNATURE/.test(code)) {
    return Finding.bad(
      `the certificate of ${where} is not trusted (${code})`,
      "Set OTEL_EXPORTER_OTLP_CERTIFICATE, and NODE_EXTRA_CA_CERTS, to the file of the authority that signed it."
    )
  }
  if (code?.startsWith("HPE_") || code === "UND_ERR_SOCKET" || code === "ECONNRESET") {
    return Finding.bad(
      `something listens at ${where}, but it does not speak HTTP/1.1${port === "4317" ? ": 4317 is the port of gRPC" : ""}`,
      protocol === "http:"
        ? "For OTLP/HTTP use port 4318; for gRPC set OTEL_EXPORTER_OTLP_PROTOCOL=grpc; if it encrypts, use https://."
        : "For OTLP/HTTP use port 4318; for gRPC set OTEL_EXPORTER_OTLP_PROTOCOL=grpc."
    )
  }
  return Finding.bad(`${where} cannot be asked: ${code ?? message}`, "Check the address.")
}

/** An address without user, password and query. */
export const shown = (url: string): string => {
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname === "/" ? "" : pathname}`
}

/** An error and what caused it, outermost first: HTTP clients wrap what the system says. */
function* causes(error: unknown): Generator<unknown> {
  let cause = error
  for (let depth = 0; depth < 10 && cause !== undefined; depth++) {
    yield cause
    if (Predicate.hasProperty(cause, "cause") && cause.cause !== undefined) cause = cause.cause
    else if (Predicate.hasProperty(cause, "reason")) cause = cause.reason
    else if (Predicate.hasProperty(cause, "errors") && Array.isArray(cause.errors)) cause = cause.errors[0]
    else return
  }
}

/** The system's word for what went wrong, else the tag of the failure. */
const codeOf = (error: unknown): string | undefined => {
  let tag: string | undefined
  let code: string | undefined
  for (const cause of causes(error)) {
    if (Predicate.hasProperty(cause, "code") && typeof cause.code === "string") code = cause.code
    // Not all of these have a code.
    if (cause instanceof Error && cause.name === "HTTPParserError") code ??= "HPE_"
    if (Predicate.hasProperty(cause, "_tag") && typeof cause._tag === "string") tag = cause._tag
  }
  return code ?? tag
}

const messageOf = (error: unknown): string => String(Array.from(causes(error)).at(-1))
