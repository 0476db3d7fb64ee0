/**
 * A server that speaks the Messages API as it is told: one reply for each request, in order, as JSON or as server-sent events. It keeps the
 * requests, and knows when a client has gone.
 */
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import type {
  BetaContentBlock,
  BetaMessage,
  BetaRawMessageStreamEvent,
  BetaUsage
} from "@anthropic-ai/sdk/resources/beta/messages"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

export interface Request {
  readonly path: string
  readonly headers: Http.IncomingHttpHeaders
  // biome-ignore lint/suspicious/noExplicitAny: tests look into requests as far as they like, and fail where there is nothing
  readonly body: any
}

export interface Reply {
  /** Default: 200. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** The whole body, as JSON. */
  readonly json?: unknown
  /** The whole body, as it is. */
  readonly text?: string
  /** The body as server-sent events. */
  readonly events?: ReadonlyArray<SseEvent>
  /** How many bytes are written at a time, each after the event loop has gone round. Default: all at once. */
  readonly chunk?: number
  /** What comes after the body. `hang`: nothing, ever. `disconnect`: the connection is destroyed. Default: `end`. */
  readonly after?: "end" | "hang" | "disconnect"
  /** Waits before it answers at all. */
  readonly before?: Effect.Effect<void>
}

export type SseEvent = { readonly type: string } & Readonly<Record<string, unknown>>

export interface Server {
  readonly url: string
  /** Those that came so far. */
  readonly requests: ReadonlyArray<Request>
  /** Is done when a client has left before the response ended. */
  readonly left: Effect.Effect<void>
  /** Is done when the first request is there. */
  readonly asked: Effect.Effect<void>
}

export const start = (replies: ReadonlyArray<Reply>): Effect.Effect<Server, never, Scope.Scope> =>
  Effect.gen(function* () {
    const requests: Array<Request> = []
    const left = yield* Deferred.make<void>()
    const asked = yield* Deferred.make<void>()
    const http = Http.createServer((request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => {
        const reply = replies[requests.length] ?? unexpected
        requests.push({
          path: request.url ?? "",
          headers: request.headers,
          body: JSON.parse(Buffer.concat(chunks).toString("utf8"))
        })
        Deferred.doneUnsafe(asked, Effect.void)
        response.on("close", () => {
          if (!response.writableFinished) Deferred.doneUnsafe(left, Effect.void)
        })
        Effect.runFork(answer(response, reply))
      })
    })
    yield* Effect.acquireRelease(
      Effect.callback<void>((resume) => {
        http.listen(0, "127.0.0.1", () => resume(Effect.void))
      }),
      () =>
        Effect.callback<void>((resume) => {
          http.close(() => resume(Effect.void))
          http.closeAllConnections()
        })
    )
    const { port } = http.address() as AddressInfo
    return {
      url: `http://127.0.0.1:${port}`,
      requests,
      left: Deferred.await(left),
      asked: Deferred.await(asked)
    }
  })

const unexpected: Reply = {
  status: 400,
  json: {
    type: "error",
    error: { type: "invalid_request_error", message: "the test has no reply for this request" }
  }
}

const answer = Effect.fnUntraced(function* (response: Http.ServerResponse, reply: Reply) {
  if (reply.before !== undefined) yield* reply.before
  const type = reply.events === undefined ? "application/json" : "text/event-stream"
  response.writeHead(reply.status ?? 200, {
    "content-type": type,
    "request-id": "req_test",
    ...reply.headers
  })
  response.flushHeaders()
  const body = Buffer.from(bodyOf(reply))
  const chunk = reply.chunk ?? Math.max(1, body.length)
  for (let at = 0; at < body.length && !response.destroyed; at += chunk) {
    response.write(body.subarray(at, at + chunk))
    if (chunk < body.length)
      yield* Effect.callback<void>((resume) => void setImmediate(() => resume(Effect.void)))
  }
  if (reply.after === "hang") return
  if (reply.after === "disconnect") {
    // After what was written has gone out.
    response.write("", () => response.destroy())
    return
  }
  response.end()
})

const bodyOf = ({ events, json, text }: Reply): string =>
  text ?? (events === undefined ? JSON.stringify(json) : sse(events))

export const sse = (events: ReadonlyArray<SseEvent>): string =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("")

export const usage: BetaUsage = {
  cache_creation: null,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  fallback_credit: null,
  inference_geo: null,
  input_tokens: 10,
  iterations: null,
  output_tokens: 5,
  output_tokens_details: null,
  server_tool_use: null,
  service_tier: "standard",
  speed: null
}

export const message = (
  content: ReadonlyArray<BetaContentBlock>,
  fields: Partial<BetaMessage> = {}
): BetaMessage => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-test-1-20260101",
  content: [...content],
  container: null,
  context_management: null,
  diagnostics: null,
  stop_details: null,
  stop_reason: content.some(({ type }) => type === "tool_use") ? "tool_use" : "end_turn",
  stop_sequence: null,
  usage,
  ...fields
})

export const text = (value: string): BetaContentBlock => ({ type: "text", text: value, citations: null })

export const toolUse = (id: string, name: string, input: unknown): BetaContentBlock => ({
  type: "tool_use",
  id,
  name,
  input
})

/** The events that say a message, its texts and inputs cut into pieces of `size` characters. */
export const events = (whole: BetaMessage, size = 4): ReadonlyArray<SseEvent & BetaRawMessageStreamEvent> => {
  const { container, content, context_management, stop_details, stop_reason, stop_sequence } = whole
  const start = {
    type: "message_start" as const,
    message: {
      ...whole,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { ...whole.usage, output_tokens: 1 }
    }
  }
  const { cache_creation: _, inference_geo: __, service_tier: ___, speed: ____, ...deltaUsage } = whole.usage
  return [
    start,
    { type: "ping" } as never,
    ...content.flatMap((block, index) => blockEvents(block, index, size)),
    {
      type: "message_delta",
      context_management,
      delta: { container, stop_details, stop_reason, stop_sequence },
      usage: deltaUsage
    },
    { type: "message_stop" }
  ]
}

const blockEvents = (
  block: BetaContentBlock,
  index: number,
  size: number
): ReadonlyArray<SseEvent & BetaRawMessageStreamEvent> => {
  const delta = (delta: object) => ({ type: "content_block_delta", index, delta }) as never
  const around = (content_block: object, deltas: ReadonlyArray<never>) => [
    { type: "content_block_start", index, content_block } as never,
    ...deltas,
    { type: "content_block_stop" as const, index }
  ]
  switch (block.type) {
    case "text":
      return around({ ...block, text: "", citations: block.citations === null ? null : [] }, [
        ...(block.citations ?? []).map((citation) => delta({ type: "citations_delta", citation })),
        ...pieces(block.text, size).map((text) => delta({ type: "text_delta", text }))
      ])
    case "thinking":
      return around({ ...block, thinking: "", signature: "" }, [
        ...pieces(block.thinking, size).map((thinking) => delta({ type: "thinking_delta", thinking })),
        delta({ type: "signature_delta", signature: block.signature })
      ])
    case "tool_use":
    case "server_tool_use":
    case "mcp_tool_use": {
      const json = Object.keys(block.input as object).length === 0 ? "" : JSON.stringify(block.input)
      return around({ ...block, input: {} }, [
        delta({ type: "input_json_delta", partial_json: "" }),
        ...pieces(json, size).map((partial_json) => delta({ type: "input_json_delta", partial_json }))
      ])
    }
    default:
      return around(block, [])
  }
}

const pieces = (value: string, size: number): ReadonlyArray<string> =>
  Array.from({ length: Math.ceil(value.length / size) }, (_, piece) =>
    value.slice(piece * size, (piece + 1) * size)
  )
