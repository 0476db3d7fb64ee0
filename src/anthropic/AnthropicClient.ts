/**
 * The client of the Messages API: the official SDK, with its errors as reasons of `AiError`, aborted when the fiber is interrupted.
 *
 * The SDK is the optional peer dependency `@anthropic-ai/sdk`. It sends a request again after a failed connection, a timeout and the statuses
 * 408, 409, 429 and 5xx, up to `maxRetries` times, as `retry-after` says. No other retry is made here: a program that has its own sets
 * `maxRetries: 0`. What was interrupted after the response had begun is never sent again.
 *
 * The SDK's own spans are off: the model turn's span is effect/ai's.
 */
import type { ClientOptions } from "@anthropic-ai/sdk"
import type * as Wire from "@anthropic-ai/sdk/resources/beta/messages"
import * as AiError from "effect/ai/AiError"
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as ApiError from "./ApiError.ts"
import * as EventBatches from "./EventBatches.ts"
import type { Sampling } from "./ModelConfig.ts"

export interface Options {
  /** A key of the API. */
  readonly apiKey?: Redacted.Redacted | undefined
  /** A token of OAuth, or of a gateway, instead of a key. */
  readonly authToken?: Redacted.Redacted | undefined
  /** Default: `https://api.anthropic.com`. */
  readonly baseURL?: string | undefined
  /** How long a response may take to begin, for each attempt. Default: 10 minutes. */
  readonly timeout?: Duration.Input | undefined
  /** How many times a failed request is sent again. Default: 2. */
  readonly maxRetries?: number | undefined
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string | Redacted.Redacted>> | undefined
  /** Default: the global one. */
  readonly fetch?: typeof globalThis.fetch | undefined
}

export type Params = Omit<Wire.MessageCreateParamsNonStreaming, "stream"> & Sampling
export type Event = Wire.BetaRawMessageStreamEvent

/** Headers of one request. */
export type RequestHeaders = Readonly<Record<string, string>>

/** What is known of a response before it is read. */
interface Response {
  readonly requestId: string | null
}

export class AnthropicClient extends Context.Service<
  AnthropicClient,
  {
    /** Sends a request and reads the whole message. */
    readonly create: (
      params: Params,
      headers: RequestHeaders
    ) => Effect.Effect<Response & { readonly message: Wire.BetaMessage }, AiError.AiErrorReason>

    /**
     * Sends a request, and succeeds when the response begins. What the events are decoded to ends with the message, or fails. The request
     * is aborted when the scope closes.
     */
    readonly stream: <A>(
      params: Params,
      headers: RequestHeaders,
      decoder: (response: Response) => EventBatches.Decoder<Event, A, AiError.AiErrorReason>
    ) => Effect.Effect<Stream.Stream<A, AiError.AiErrorReason>, AiError.AiErrorReason, Scope.Scope>
  }
>()("toolspan/anthropic/AnthropicClient") {}

export const make = Effect.fnUntraced(function* (options: Options) {
  const sdk = yield* load
  const secrets = secretsOf(options)
  const scrub = (text: string) =>
    secrets.reduce((scrubbed, secret) => scrubbed.replaceAll(secret, "<redacted>"), text)
  const headers = Object.fromEntries(
    Object.entries(options.headers ?? {}).map(([name, value]) => [
      name,
      typeof value === "string" ? value : Redacted.value(value)
    ])
  )
  const hasCredentials = isGiven(options.apiKey) || isGiven(options.authToken) || sendsCredentials(headers)
  const baseURL = options.baseURL ?? "https://api.anthropic.com"
  // The credentials and the URL are given, so the SDK does not look for them in the environment. It stays in here, for it has the key in
  // plain text.
  const client = new sdk.default({
    ...credentials(options),
    baseURL,
    timeout: Duration.toMillis(options.timeout ?? "10 minutes"),
    maxRetries: options.maxRetries ?? 2,
    defaultHeaders:
      isGiven(options.apiKey) || isGiven(options.authToken) ? headers : { authorization: null, ...headers },
    ...(options.fetch === undefined ? undefined : { fetch: options.fetch }),
    // Errors are told once, and what the SDK writes holds content.
    logLevel: "off",
    openTelemetry: { traces: { enabled: false }, propagation: false }
  })
  const context: ApiError.Context = {
    sdk: sdk.default,
    url: scrub(`${baseURL.replace(/\/+$/, "")}/v1/messages`),
    scrub,
    responding: false
  }
  const responding: ApiError.Context = { ...context, responding: true }
  const failure = (error: unknown) => ApiError.toReason(error, context)
  const ready = hasCredentials ? Effect.void : Effect.fail(missingKey())

  return AnthropicClient.of({
    create: Effect.fnUntraced(function* (params, requestHeaders) {
      yield* ready
      const { data, request_id } = yield* Effect.tryPromise({
        try: (signal) =>
          client.beta.messages
            .create({ ...params, stream: false }, { signal, headers: requestHeaders })
            .withResponse(),
        catch: failure
      })
      return { message: data, requestId: request_id ?? null }
    }),
    stream: Effect.fnUntraced(function* (params, requestHeaders, decoder) {
      yield* ready
      const controller = yield* Effect.acquireRelease(
        Effect.sync(() => new AbortController()),
        (controller) => Effect.sync(() => controller.abort())
      )
      const { data, request_id } = yield* Effect.tryPromise({
        try: () =>
          client.beta.messages
            .create({ ...params, stream: true }, { signal: controller.signal, headers: requestHeaders })
            .withResponse(),
        catch: failure
      })
      const { begin, decode } = decoder({ requestId: request_id ?? null })
      const parts = EventBatches.pull(data[Symbol.asyncIterator](), {
        begin,
        decode,
        failure: (error) => ApiError.toReason(error, responding),
        // The SDK ends as if all were well when the connection closes early.
        isLast: (event) => event.type === "message_stop",
        cutOff: () => ApiError.cutOff(responding)
      })
      return Stream.fromPull(Effect.succeed(parts))
    })
  })
})

export const layer = (options: Options): Layer.Layer<AnthropicClient> =>
  Layer.effect(AnthropicClient, make(options))

/**
 * The key from `ANTHROPIC_API_KEY` and the base URL, if there is one, from `ANTHROPIC_BASE_URL`, unless `options` say otherwise.
 */
export const layerConfig = (options?: {
  readonly apiKey?: Config.Config<Redacted.Redacted> | undefined
  readonly baseURL?: Config.Config<string> | undefined
  readonly timeout?: Config.Config<Duration.Input> | undefined
  readonly maxRetries?: Config.Config<number> | undefined
  readonly headers?: Options["headers"]
  readonly fetch?: Options["fetch"]
}): Layer.Layer<AnthropicClient, Config.ConfigError> =>
  Layer.effect(
    AnthropicClient,
    Effect.gen(function* () {
      const apiKey = yield* options?.apiKey ?? Config.Redacted("ANTHROPIC_API_KEY")
      const baseURL = yield* options?.baseURL === undefined
        ? Config.map(Config.option(Config.String("ANTHROPIC_BASE_URL")), Option.getOrUndefined)
        : options.baseURL
      const timeout = options?.timeout === undefined ? undefined : yield* options.timeout
      const maxRetries = options?.maxRetries === undefined ? undefined : yield* options.maxRetries
      return yield* make({
        apiKey,
        baseURL: baseURL === "" ? undefined : baseURL,
        timeout,
        maxRetries,
        headers: options?.headers,
        fetch: options?.fetch
      })
    })
  )

const load: Effect.Effect<typeof import("@anthropic-ai/sdk")> = Effect.orDie(
  Effect.tryPromise({
    try: () => import("@anthropic-ai/sdk"),
    catch: (error) =>
      error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND"
        ? new Error(
            "toolspan/anthropic needs the package @anthropic-ai/sdk, which is not installed or is missing a part of its own. " +
              "Install it: npm install @anthropic-ai/sdk",
            { cause: error }
          )
        : error
  })
)

const isGiven = (secret: Redacted.Redacted | undefined): secret is Redacted.Redacted =>
  secret !== undefined && Redacted.value(secret).trim() !== ""

const sendsCredentials = (headers: RequestHeaders): boolean =>
  Object.keys(headers).some((name) => /^(x-api-key|authorization)$/i.test(name))

/** One credential, always: without one, the SDK would look for some in the environment and in files. "none" is not sent. */
const credentials = ({ apiKey, authToken }: Options): Pick<ClientOptions, "apiKey" | "authToken"> => {
  if (isGiven(apiKey)) return { apiKey: Redacted.value(apiKey).trim() }
  if (isGiven(authToken)) return { authToken: Redacted.value(authToken).trim() }
  return { apiKey: "none" }
}

/** The longest first: one may be part of another. */
const secretsOf = ({ apiKey, authToken, baseURL, headers }: Options): ReadonlyArray<string> => {
  const redacted = Object.values(headers ?? {}).filter((value) => typeof value !== "string")
  const given = [apiKey, authToken, ...redacted]
    .filter(isGiven)
    .map((secret) => Redacted.value(secret).trim())
  // Some have a password in the URL, which no request is made to but errors would show.
  const password = /^[a-z]+:\/\/([^/@]+)@/i.exec(baseURL ?? "")?.[1]
  return [...given, ...(password === undefined ? [] : [password])].sort((a, b) => b.length - a.length)
}

const missingKey = () =>
  new AiError.AuthenticationError({
    kind: "MissingKey",
    description:
      "Give AnthropicClient.layer an `apiKey`, or set ANTHROPIC_API_KEY and use AnthropicClient.layerConfig"
  })
