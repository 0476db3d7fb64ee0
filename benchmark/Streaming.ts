/**
 * A streamed answer of 10,000 events: the SDK's own stream, and the same as parts of a language model.
 */
import Anthropic from "@anthropic-ai/sdk"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as AnthropicClient from "../src/anthropic/AnthropicClient.ts"
import * as AnthropicLanguageModel from "../src/anthropic/AnthropicLanguageModel.ts"
import { events, message, sse, text } from "../test/support/MessagesServer.ts"
import * as Measure from "./Measure.ts"

const EVENTS = 10_000
const SIZE = 4

const body = new TextEncoder().encode(sse(events(message([text("word".repeat(EVENTS))]), SIZE)))

/** How many bytes come at a time, about as a network gives them. */
const CHUNK = 16 * 1024

/** Answers at once, from memory. */
const fetch = async (): Promise<Response> => {
  let at = 0
  const stream = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      if (at >= body.length) return controller.close()
      controller.enqueue(body.subarray(at, at + CHUNK))
      at += CHUNK
    }
  })
  return new Response(stream, { headers: { "content-type": "text/event-stream" } })
}

const sdk = new Anthropic({ apiKey: "none", fetch, maxRetries: 0 })

const bySdk = async (): Promise<void> => {
  const stream = await sdk.beta.messages.create({
    model: "claude-test-1",
    max_tokens: 100,
    messages: [{ role: "user", content: "Go" }],
    stream: true
  })
  let characters = 0
  for await (const event of stream) {
    if (event.type === "content_block_delta" && event.delta.type === "text_delta") {
      characters += event.delta.text.length
    }
  }
  check(characters)
}

const model = AnthropicLanguageModel.layer({ model: "claude-test-1" }).pipe(
  Layer.provide(AnthropicClient.layer({ apiKey: Redacted.make("none"), fetch, maxRetries: 0 }))
)

const asParts = Effect.gen(function* () {
  let characters = 0
  yield* Stream.runForEachArray(LanguageModel.streamText({ prompt: "Go" }), (parts) =>
    Effect.sync(() => {
      for (const part of parts) if (part.type === "text-delta") characters += part.delta.length
    })
  )
  check(characters)
})

const check = (characters: number): void => {
  if (characters !== EVENTS * SIZE) throw new Error(`${characters} characters came, of ${EVENTS * SIZE}`)
}

export const run = async (rounds: number): Promise<void> => {
  // One client for all, as the SDK's is.
  const runtime = ManagedRuntime.make(model)
  const rows = await Measure.compare(
    [
      ["the SDK's own stream", bySdk],
      ["parts of a language model", () => runtime.runPromise(asParts)]
    ],
    { batch: 1, rounds }
  )
  await runtime.dispose()
  Measure.print("A streamed answer of 10,000 events", rows, { "parts of a language model": 1.05 })
}
