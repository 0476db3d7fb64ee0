/**
 * Streamed responses: the same as whole ones, however the bytes arrive, and what happens when they do not.
 */

import type { BetaContentBlock } from "@anthropic-ai/sdk/resources/beta/messages"
import { assert, describe, it } from "@effect/vitest"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as fc from "fast-check"
import * as EventBatches from "../../../src/anthropic/EventBatches.ts"
import * as ServerTools from "../../../src/anthropic/ServerTools.ts"
import * as MessagesServer from "../../support/MessagesServer.ts"
import { message, text, toolUse } from "../../support/MessagesServer.ts"
import { ask, reasonOf, scripted } from "./Scripted.ts"

const Note = Tool.make("Note", { parameters: Schema.Struct({ text: Schema.String }), success: Schema.String })
const toolkit = Toolkit.make(Note, ServerTools.WebFetch_20250910({}))
const asked = {
  prompt: "Hi",
  toolkit: { tools: toolkit.tools, handle: () => Effect.die("called") } as never,
  disableToolCallResolution: true
}

const whole = message(
  [
    { type: "thinking", thinking: "Überlegen…", signature: "EqQB" },
    text("Grüße 👋🏽, “Welt”!\n\n"),
    {
      type: "server_tool_use",
      id: "srvtoolu_1",
      name: "web_fetch",
      input: { url: "https://example.com/?q=ü" }
    },
    {
      type: "web_fetch_tool_result",
      tool_use_id: "srvtoolu_1",
      content: { type: "web_fetch_tool_result_error", error_code: "url_not_accessible" }
    },
    toolUse("toolu_1", "Note", { text: '👋 "quoted" \\ \u2028' })
  ],
  {
    usage: {
      ...MessagesServer.usage,
      cache_read_input_tokens: 7,
      output_tokens_details: { thinking_tokens: 2 }
    }
  }
)

/** What a history keeps of a response, and how it ended. */
const kept = (
  parts: ReadonlyArray<Response.AnyPart>
): { readonly history: unknown; readonly rest: ReadonlyArray<object> } => ({
  history: JSON.parse(JSON.stringify(Prompt.fromResponseParts(parts).content)),
  rest: parts.flatMap((part): ReadonlyArray<object> => {
    if (part.type === "source") return [{ ...part }]
    if (part.type === "response-metadata") return [{ id: part.id, modelId: part.modelId }]
    return part.type === "finish"
      ? [{ reason: part.reason, usage: { ...part.usage }, metadata: part.metadata }]
      : []
  })
})

const keptOf = (said: typeof whole) =>
  Effect.map(
    scripted([{ json: said }], () => ask("generateText", asked)),
    kept
  )

/** Without what makes the first and the last event long. */
const short = message([text("Grüße 👋🏽"), toolUse("toolu_1", "Note", { text: "é" })], {
  usage: { input_tokens: 1, output_tokens: 2 } as typeof whole.usage
})

describe("a streamed response", () => {
  it.effect("is the whole one, wherever its bytes are cut", () => {
    const bytes = new TextEncoder().encode(MessagesServer.sse(MessagesServer.events(short, 9)))
    let cut = 0
    const fetch = async () =>
      new globalThis.Response(
        new ReadableStream({
          type: "bytes",
          start(controller) {
            if (cut > 0) controller.enqueue(bytes.slice(0, cut))
            setImmediate(() => {
              controller.enqueue(bytes.slice(cut))
              controller.close()
            })
          }
        }),
        { headers: { "content-type": "text/event-stream" } }
      )
    return scripted(
      [],
      () =>
        Effect.gen(function* () {
          const expected = yield* keptOf(short)
          for (cut = 0; cut < bytes.length; cut++) {
            const parts = yield* ask("streamText", asked)
            assert.deepStrictEqual(kept(parts), expected, `cut at ${cut}`)
          }
        }),
      { client: { fetch } }
    )
  })

  it.effect("is the whole one, in pieces of any size over a connection", () =>
    Effect.gen(function* () {
      const expected = yield* keptOf(whole)
      yield* Effect.forEach([1, 2, 3, 7, 64, 1000], (chunk) =>
        scripted([{ events: MessagesServer.events(whole, 3), chunk }], () =>
          Effect.map(ask("streamText", asked), (parts) => assert.deepStrictEqual(kept(parts), expected))
        )
      )
    })
  )

  it.effect("is the whole one, whatever it says", () => {
    const string = fc.string({ unit: "grapheme", maxLength: 12 })
    const block: fc.Arbitrary<BetaContentBlock> = fc.oneof(
      string.map(text),
      fc
        .record({ thinking: string, signature: fc.base64String() })
        .map((fields) => ({ type: "thinking" as const, ...fields })),
      fc.base64String().map((data) => ({ type: "redacted_thinking" as const, data })),
      fc.tuple(fc.uuid(), string).map(([id, value]) => toolUse(id, "Note", { text: value })),
      string.map((content) => ({ type: "compaction" as const, content, encrypted_content: null })),
      string.map((cited_text) => ({
        type: "text" as const,
        text: "cited",
        citations: [
          {
            type: "web_search_result_location" as const,
            url: "https://a.b/",
            title: null,
            cited_text,
            encrypted_index: ""
          }
        ]
      }))
    )
    return Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(
          fc.array(block, { maxLength: 5 }),
          fc.integer({ min: 1, max: 5 }),
          (content, size) => {
            const said = message(content)
            return Effect.runPromise(
              scripted([{ json: said }, { events: MessagesServer.events(said, size) }], () =>
                Effect.gen(function* () {
                  const expected = kept(yield* ask("generateText", asked))
                  assert.deepStrictEqual(kept(yield* ask("streamText", asked)), expected)
                })
              )
            )
          }
        ),
        { numRuns: 60 }
      )
    )
  })

  it.effect("is one part for the deltas of a block that came together", () => {
    const long = message([text("a".repeat(400)), toolUse("toolu_1", "Note", { text: "b".repeat(400) })])
    return scripted([{ events: MessagesServer.events(long, 1) }], () =>
      Effect.gen(function* () {
        const parts = yield* ask("streamText", asked)
        const deltas = parts.filter(({ type }) => type === "text-delta" || type === "tool-params-delta")
        assert.isBelow(deltas.length, 100)
        assert.strictEqual(
          deltas.map((part) => ("delta" in part ? part.delta : "")).join("").length,
          400 + 411
        )
      })
    )
  })

  it.effect("comes as it is said, not when it ends", () =>
    scripted(
      [{ events: MessagesServer.events(message([text("Hello")])).slice(0, 4), after: "hang" }],
      (server) =>
        Effect.gen(function* () {
          const parts = yield* LanguageModel.streamText({ prompt: "Hi" }).pipe(
            Stream.takeUntil((part) => part.type === "text-delta"),
            Stream.runCollect
          )
          assert.deepStrictEqual(
            parts.map(({ type }) => type),
            ["response-metadata", "text-start", "text-delta"]
          )
          // Who has enough leaves.
          yield* server.left
        })
    )
  )

  it.effect("counts the tokens of the end, with what only the start says", () => {
    const said = message([text("Ok")], {
      usage: {
        ...MessagesServer.usage,
        input_tokens: 10,
        cache_read_input_tokens: 100,
        cache_creation_input_tokens: 1000,
        output_tokens: 50,
        output_tokens_details: { thinking_tokens: 30 },
        service_tier: "priority"
      }
    })
    const events = MessagesServer.events(said).map((event) =>
      event.type === "message_delta"
        ? {
            ...event,
            usage: { output_tokens: 50, input_tokens: null, output_tokens_details: { thinking_tokens: 30 } }
          }
        : event
    )
    return scripted([{ events: events as ReadonlyArray<MessagesServer.SseEvent> }], () =>
      Effect.gen(function* () {
        const parts = yield* ask("streamText", { prompt: "Hi" })
        const finish = parts.find((part) => part.type === "finish") ?? assert.fail()
        assert.deepStrictEqual(
          { ...finish.usage },
          {
            inputTokens: { uncached: 10, cacheRead: 100, cacheWrite: 1000, total: 1110 },
            outputTokens: { total: 50, reasoning: 30, text: 20 }
          }
        )
        assert.strictEqual(finish.metadata.anthropic?.usage["service_tier"], "priority")
      })
    )
  })

  describe("fails", () => {
    const begun = MessagesServer.events(message([text("Hello")])).slice(0, 4)
    const cases: ReadonlyArray<readonly [string, MessagesServer.Reply, string, string]> = [
      [
        "when the connection is lost",
        { events: begun, after: "disconnect" },
        "NetworkError",
        "the connection was lost"
      ],
      [
        "when it ends before the message does",
        { events: begun },
        "NetworkError",
        "ended before the message did"
      ],
      ["when it has nothing in it", { events: [] }, "NetworkError", "ended before the message did"],
      [
        "when the API is overloaded meanwhile",
        {
          events: [...begun, { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }],
          after: "hang"
        },
        "InternalProviderError",
        "overloaded_error: Overloaded"
      ],
      [
        "when the limit is reached meanwhile",
        { events: [...begun, { type: "error", error: { type: "rate_limit_error", message: "Slow down" } }] },
        "RateLimitError",
        "Rate limit"
      ],
      [
        "when an event is no JSON",
        { text: `${MessagesServer.sse(begun)}event: message_stop\ndata: {"type"\n\n` },
        "InvalidResponseError",
        "not JSON"
      ],
      [
        "for a block that nobody knows",
        {
          events: [...begun, { type: "content_block_start", index: 1, content_block: { type: "hologram" } }]
        },
        "InvalidResponseError",
        '"hologram"'
      ],
      [
        "for a delta that nobody knows",
        { events: [...begun, { type: "content_block_delta", index: 0, delta: { type: "hologram_delta" } }] },
        "InvalidResponseError",
        '"hologram_delta"'
      ],
      [
        "for a delta of a block that has not begun",
        {
          events: [
            ...begun,
            { type: "content_block_delta", index: 7, delta: { type: "text_delta", text: "?" } }
          ]
        },
        "InvalidResponseError",
        "of block 7 where there can be none"
      ],
      [
        "for a delta of another kind than its block",
        {
          events: [
            ...begun,
            { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: "?" } }
          ]
        },
        "InvalidResponseError",
        "of block 0 where there can be none"
      ],
      [
        "for an end without a beginning",
        { events: [{ type: "message_stop" }] },
        "InvalidResponseError",
        "message_stop"
      ]
    ]
    it.effect.each(cases)("%s, after what came before", ([, reply, tag, expected]) =>
      scripted([reply], () =>
        Effect.gen(function* () {
          const seen: Array<string> = []
          const reason = yield* reasonOf(
            LanguageModel.streamText({ prompt: "Hi" }).pipe(
              Stream.runForEach(({ type }) => Effect.sync(() => seen.push(type)))
            )
          )
          assert.propertyVal(reason, "_tag", tag)
          assert.include(reason.message, expected)
          const begins = reply.text !== undefined || (reply.events?.length ?? 0) > 2
          assert.deepStrictEqual(seen, begins ? ["response-metadata", "text-start", "text-delta"] : [])
        })
      )
    )
  })

  it.effect("passes over events that nobody knows", () => {
    const events = MessagesServer.events(message([text("Hello")]))
    return scripted(
      [{ events: [...events.slice(0, 2), { type: "message_hint", hint: 1 }, ...events.slice(2)] }],
      () =>
        Effect.map(ask("streamText", { prompt: "Hi" }), (parts) =>
          assert.strictEqual(parts.at(-1)?.type, "finish")
        )
    )
  })
})

describe("EventBatches", () => {
  const options = {
    begin: () => {},
    decode: (event: number, batch: Array<number>) => {
      if (event === 13.5) return "unlucky"
      if (event !== 0.5) batch.push(event)
      return undefined
    },
    failure: (error: unknown) => `failed: ${error}`,
    isLast: (event: number) => event < 0,
    cutOff: () => "cut off"
  }

  it.effect("gives at once what is there at once, and waits for the rest", () =>
    Effect.gen(function* () {
      const later = yield* Queue.make<number>()
      const context = yield* Effect.context<never>()
      async function* numbers() {
        yield 1
        yield 2
        yield await Effect.runPromiseWith(context)(Queue.take(later))
        yield -1
      }
      const pull = EventBatches.pull(numbers(), options)
      assert.deepStrictEqual([...(yield* pull)], [1, 2])
      const next = yield* Effect.forkChild(pull)
      yield* Queue.offer(later, 3)
      assert.deepStrictEqual([...(yield* Fiber.join(next))], [3, -1])
      assert.propertyVal(yield* Effect.flip(pull), "_tag", "Done")
      assert.propertyVal(yield* Effect.flip(pull), "_tag", "Done")
    })
  )

  it.effect("gives what came before a failure, or before an end that came too soon", () =>
    Effect.gen(function* () {
      async function* failing() {
        yield 1
        throw "no more"
      }
      async function* ending() {
        yield 1
      }
      for (const [numbers, expected] of [
        [failing(), "failed: no more"],
        [ending(), "cut off"]
      ] as const) {
        const pull = EventBatches.pull(numbers, options)
        assert.deepStrictEqual([...(yield* pull)], [1])
        assert.strictEqual(yield* Effect.flip(pull), expected)
      }
    })
  )

  it.effect(
    "wakes nobody for events that say nothing, and fails after what came before one that is wrong",
    () =>
      Effect.gen(function* () {
        async function* numbers() {
          yield 0.5
          await new Promise((resolve) => setImmediate(resolve))
          await new Promise((resolve) => setImmediate(resolve))
          yield 1
          yield 13.5
          yield 2
        }
        const pull = EventBatches.pull(numbers(), options)
        assert.deepStrictEqual([...(yield* pull)], [1])
        assert.strictEqual(yield* Effect.flip(pull), "unlucky")
      })
  )

  it.effect("gives no more than 1024 at a time, and loses none", () =>
    Effect.gen(function* () {
      async function* numbers() {
        for (let number = 0; number < 5000; number++) yield number
        yield -1
      }
      const pull = EventBatches.pull(numbers(), options)
      const all: Array<number> = []
      while (all.at(-1) !== -1) {
        const batch = yield* pull
        assert.isAtMost(batch.length, 1024)
        all.push(...batch)
      }
      assert.deepStrictEqual(
        all.slice(0, -1),
        Array.from({ length: 5000 }, (_, number) => number)
      )
    })
  )
})
