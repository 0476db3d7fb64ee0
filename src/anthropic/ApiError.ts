/**
 * Errors of the API and of the way to it as reasons of `AiError`, by the type that the API names, and by the HTTP status where it names
 * none. The text never holds a secret of the client.
 */
import type { ErrorType } from "@anthropic-ai/sdk/resources/shared"
import * as AiError from "effect/ai/AiError"
import * as Duration from "effect/Duration"
import type { ErrorInfo } from "./ProviderMetadata.ts"

/** What of the SDK this needs. The module is an optional peer, so it is loaded by the client. */
export interface SdkErrors {
  readonly APIError: typeof import("@anthropic-ai/sdk").APIError
  readonly APIConnectionError: typeof import("@anthropic-ai/sdk").APIConnectionError
  readonly APIConnectionTimeoutError: typeof import("@anthropic-ai/sdk").APIConnectionTimeoutError
}

export interface Context {
  readonly sdk: SdkErrors
  readonly url: string
  /** Takes the client's secrets out of a text. */
  readonly scrub: (text: string) => string
  /** Whether the response had begun. */
  readonly responding: boolean
}

type Kind =
  | "authentication"
  | "billing"
  | "internal"
  | "invalid"
  | "notFound"
  | "permission"
  | "rateLimit"
  | "tooLarge"

/** Every type of error that the API's types list, and `request_too_large`, which its documentation adds. */
export const kinds: Readonly<Record<ErrorType | "request_too_large", Kind>> = {
  invalid_request_error: "invalid",
  authentication_error: "authentication",
  billing_error: "billing",
  permission_error: "permission",
  not_found_error: "notFound",
  rate_limit_error: "rateLimit",
  timeout_error: "internal",
  api_error: "internal",
  overloaded_error: "internal",
  // Of the API's memory stores and managed resources, which this module does not ask for.
  memory_precondition_failed_error: "invalid",
  memory_path_conflict_error: "invalid",
  conflict_error: "invalid",
  request_too_large: "tooLarge"
}

export const toReason = (error: unknown, context: Context): AiError.AiErrorReason => {
  const { sdk } = context
  if (error instanceof sdk.APIConnectionTimeoutError) {
    return network(
      "TransportError",
      "no response in time; the client's option `timeout` says how long to wait",
      context
    )
  }
  if (error instanceof sdk.APIConnectionError) return network("TransportError", describe(error), context)
  if (error instanceof sdk.APIError) return fromApi(error, context)
  if (error instanceof SyntaxError) {
    return new AiError.InvalidResponseError({
      description: context.scrub(`The response is not JSON: ${error.message}`)
    })
  }
  if (context.responding) {
    return network("TransportError", `the connection was lost: ${describe(error)}`, context)
  }
  return network("EncodeError", describe(error), context)
}

/** The response ended early. */
export const cutOff = (context: Context): AiError.NetworkError =>
  network("TransportError", "the response ended before the message did", context)

const fromApi = (error: InstanceType<SdkErrors["APIError"]>, context: Context): AiError.AiErrorReason => {
  const info: ErrorInfo = {
    errorType: error.type ?? null,
    errorCode: error.errorCode,
    requestId: error.requestID ?? null
  }
  const description = context.scrub(error.apiMessage ?? error.message)
  const given = { metadata: { anthropic: info }, ...http(error, context) }
  switch (kindOf(error)) {
    case "rateLimit": {
      const retryAfter = retryAfterOf(error.headers)
      return new AiError.RateLimitError({
        ...given,
        ...(retryAfter === undefined ? undefined : { retryAfter })
      })
    }
    case "billing":
      return new AiError.QuotaExhaustedError(given)
    case "authentication":
      return new AiError.AuthenticationError({ kind: "InvalidKey", description, ...given })
    case "permission":
      return new AiError.AuthenticationError({ kind: "InsufficientPermissions", description, ...given })
    case "notFound":
      return new AiError.InvalidRequestError({
        parameter: "model",
        constraint: "was not found",
        description,
        ...given
      })
    case "tooLarge":
      return new AiError.InvalidRequestError({
        parameter: "messages",
        constraint: "are more bytes than the API takes",
        description,
        ...given
      })
    case "invalid":
      return isTooLong(description)
        ? new AiError.InvalidRequestError({
            parameter: "messages",
            constraint: "exceed the model's context window",
            description,
            ...given
          })
        : new AiError.InvalidRequestError({ description, ...given })
    case "internal":
      return new AiError.InternalProviderError({
        description: info.errorType === null ? description : `${info.errorType}: ${description}`,
        ...given
      })
    case undefined:
      return new AiError.UnknownError({ description, ...given })
  }
}

const kindOf = (error: InstanceType<SdkErrors["APIError"]>): Kind | undefined => {
  // A limit on spending is no limit on the rate: waiting does not help.
  if (error.errorCode !== null && /(^|_)spend_limit_reached$/.test(error.errorCode)) return "billing"
  if (error.type !== null && Object.hasOwn(kinds, error.type)) return kinds[error.type]
  const { status } = error
  switch (status) {
    case 401:
      return "authentication"
    case 402:
      return "billing"
    case 403:
      return "permission"
    case 404:
      return "notFound"
    case 408:
      return "internal"
    case 413:
      return "tooLarge"
    case 429:
      return "rateLimit"
  }
  if (status === undefined) return error.type === null ? undefined : "internal"
  return status >= 500 ? "internal" : "invalid"
}

/** The API has no code for this error, only its text. */
const isTooLong = (description: string): boolean =>
  /prompt is too long|exceed(s|ed)? (the )?context|context (window|limit)/i.test(description)

/** From `retry-after-ms`, or `retry-after`, which is seconds or a date. */
const retryAfterOf = (headers: Headers | undefined): Duration.Duration | undefined => {
  const millis = Number.parseFloat(headers?.get("retry-after-ms") ?? "")
  if (millis >= 0) return Duration.millis(millis)
  const value = headers?.get("retry-after") ?? ""
  const seconds = Number.parseFloat(value)
  if (seconds >= 0) return Duration.seconds(seconds)
  const until = Date.parse(value) - Date.now()
  return until >= 0 ? Duration.millis(until) : undefined
}

const keptHeaders = /^(request-id|retry-after(-ms)?|x-should-retry|anthropic-ratelimit-.*)$/

const http = (
  error: InstanceType<SdkErrors["APIError"]>,
  context: Context
): { readonly http?: typeof AiError.HttpContext.Type } => {
  if (error.status === undefined) return {}
  const headers = [...(error.headers?.entries() ?? [])].filter(([name]) => keptHeaders.test(name))
  const body =
    error.error === undefined ? undefined : context.scrub(JSON.stringify(error.error)).slice(0, 4096)
  return {
    http: {
      response: { status: error.status, headers: Object.fromEntries(headers) },
      ...(body === undefined ? undefined : { body })
    }
  }
}

const network = (
  reason: "TransportError" | "EncodeError",
  description: string,
  { scrub, url }: Context
): AiError.NetworkError =>
  new AiError.NetworkError({ reason, method: "POST", url, description: scrub(description) })

/** The messages of an error and of what caused it. The errors themselves may hold what nobody should read. */
const describe = (error: unknown): string => {
  const messages: Array<string> = []
  let current = error
  while (current instanceof Error && messages.length < 4) {
    const code = "code" in current && typeof current.code === "string" ? ` (${current.code})` : ""
    const message = `${current.message}${code}`
    if (message !== "" && !messages.includes(message)) messages.push(message)
    current = current.cause
  }
  return messages.length === 0 ? String(error) : messages.join(": ")
}
