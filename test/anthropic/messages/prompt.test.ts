/**
 * Prompts on the wire: who says what in which turn, files, caching, and what goes back as it came.
 */
import { assert, describe, it } from "@effect/vitest"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as fc from "fast-check"
import type { ModelConfig } from "../../../src/anthropic/ModelConfig.ts"
import { message, text } from "../../support/MessagesServer.ts"
import { ask, modes, reasonOf, replyWith, scripted } from "./Scripted.ts"

/** The body and the headers of the request that this prompt makes. */
const sent = (prompt: Prompt.RawInput, config?: ModelConfig) =>
  scripted(
    [{ json: message([text("Ok")]) }],
    (server) =>
      Effect.andThen(
        LanguageModel.generateText({ prompt }),
        Effect.sync(() => server.requests[0] ?? assert.fail())
      ),
    config === undefined ? {} : { config }
  )

// biome-ignore lint/suspicious/noExplicitAny: tests look into what was sent as far as they like
type Block = any
type Sent = { readonly role: string; readonly content: ReadonlyArray<Block> }

const messagesOf = (prompt: Prompt.RawInput) => Effect.map(sent(prompt), ({ body }) => body.messages)

const call = (id: string, name = "Weather"): Prompt.ToolCallPartEncoded => ({
  type: "tool-call",
  id,
  name,
  params: {}
})
const result = (id: string, value: unknown, isFailure = false): Prompt.ToolResultPartEncoded => ({
  type: "tool-result",
  id,
  name: "Weather",
  isFailure,
  result: value
})
const cacheControl = { type: "ephemeral", ttl: "1h" } as const
const cached = { anthropic: { cacheControl } }
const cache_control = cacheControl

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="

describe("prompts on the wire", () => {
  it.effect("have the system prompt apart, and later system messages where they stand", () =>
    Effect.gen(function* () {
      const { body } = yield* sent([
        { role: "system", content: "Be brief.", options: cached },
        { role: "system", content: "Be kind." },
        { role: "user", content: "Hi" },
        { role: "system", content: "Now be long." }
      ])
      assert.deepStrictEqual(body.system, [
        { type: "text", text: "Be brief.", cache_control },
        { type: "text", text: "Be kind." }
      ])
      assert.deepStrictEqual(body.messages, [
        { role: "user", content: [{ type: "text", text: "Hi" }] },
        { role: "system", content: [{ type: "text", text: "Now be long." }] }
      ])
    })
  )

  it.effect("have one turn after another, the results of a turn's calls first in the next", () =>
    Effect.gen(function* () {
      const messages = yield* messagesOf([
        { role: "user", content: "Hi" },
        { role: "user", content: "Are you there?" },
        { role: "assistant", content: [call("a"), call("b"), call("c")] },
        { role: "tool", content: [result("b", "second"), result("a", "first", true)] },
        { role: "user", content: "Well?" },
        { role: "tool", content: [result("c", "third")] },
        { role: "assistant", content: "Rain." }
      ])
      assert.deepStrictEqual(
        messages.map(({ content, role }: Sent) => [
          role,
          content.map((block: Block) => block.text ?? block.content ?? block.id)
        ]),
        [
          ["user", ["Hi", "Are you there?"]],
          ["assistant", ["a", "b", "c"]],
          ["user", ["second", "first", "third", "Well?"]],
          ["assistant", ["Rain."]]
        ]
      )
      assert.deepStrictEqual(messages[2].content[1], {
        type: "tool_result",
        tool_use_id: "a",
        content: "first",
        is_error: true
      })
    })
  )

  it.effect(
    "have the result of a call right after it, although an approval put text of the assistant between",
    () =>
      Effect.gen(function* () {
        const messages = yield* messagesOf([
          { role: "user", content: "Hi" },
          {
            role: "assistant",
            content: [call("a"), { type: "tool-approval-request", approvalId: "x", toolCallId: "a" }]
          },
          { role: "tool", content: [{ type: "tool-approval-response", approvalId: "x", approved: true }] },
          { role: "assistant", content: "It rains." },
          { role: "tool", content: [result("a", "rain")] },
          { role: "user", content: "Thanks" }
        ])
        assert.deepStrictEqual(
          messages.map(({ content, role }: Sent) => [role, content.map(({ type }: Block) => type)]),
          [
            ["user", ["text"]],
            ["assistant", ["tool_use"]],
            ["user", ["tool_result"]],
            ["assistant", ["text"]],
            ["user", ["text"]]
          ]
        )
      })
  )

  it.effect("have a result that stands in the assistant's message after it", () =>
    Effect.gen(function* () {
      const messages = yield* messagesOf([
        { role: "user", content: "Hi" },
        { role: "assistant", content: [call("a"), result("a", "rain")] },
        { role: "assistant", content: "It rains." }
      ])
      assert.deepStrictEqual(
        messages.map(({ content, role }: Sent) => [role, content[0].type]),
        [
          ["user", "text"],
          ["assistant", "tool_use"],
          ["user", "tool_result"],
          ["assistant", "text"]
        ]
      )
    })
  )

  it.effect("keep the order of all that was said, whatever it is made of", () => {
    const word = fc.constantFrom("a", "b", "c", " ", "")
    const messages = fc.array(
      fc.oneof(
        fc.record({ role: fc.constant("user" as const), content: word }),
        fc.record({ role: fc.constant("assistant" as const), content: word }),
        fc.record({
          role: fc.constant("assistant" as const),
          calls: fc.uniqueArray(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 3 })
        })
      ),
      { minLength: 1, maxLength: 8 }
    )
    return Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(messages, (given) => {
          let next = 0
          const history = given.flatMap((entry): ReadonlyArray<Prompt.MessageEncoded> => {
            if (!("calls" in entry)) return [entry]
            const ids = entry.calls.map(() => `call-${next++}`)
            return [
              { role: "assistant", content: ids.map((id) => call(id)) },
              { role: "tool", content: ids.map((id) => result(id, id)) }
            ]
          })
          return Effect.runPromise(
            Effect.map(messagesOf([{ role: "user", content: "start" }, ...history]), (turns) => {
              for (const [index, { content, role }] of turns.entries()) {
                assert.isNotEmpty(content)
                assert.notStrictEqual(role, turns[index - 1]?.role)
                const uses = content
                  .filter(({ type }: Block) => type === "tool_use")
                  .map(({ id }: Block) => id)
                const answers = turns[index + 1]?.content
                  .slice(0, uses.length)
                  .map((block: Block) => block.tool_use_id)
                if (uses.length > 0) assert.deepStrictEqual(answers, uses)
              }
              const said = turns.flatMap(({ content }: Sent) =>
                content.flatMap(({ text }: Block) => text ?? [])
              )
              const expected = given.flatMap((entry) =>
                "calls" in entry || entry.content.trim() === "" ? [] : [entry.content]
              )
              assert.deepStrictEqual(said, ["start", ...expected])
            })
          )
        }),
        { numRuns: 40 }
      )
    )
  })

  it.effect("have images and documents in the request, behind a URL, or in the Files API", () =>
    Effect.gen(function* () {
      const { body, headers } = yield* sent([
        {
          role: "user",
          content: [
            { type: "text", text: "What is this?" },
            { type: "file", mediaType: "image/png", data: png, options: cached },
            { type: "file", mediaType: "image/*", data: Uint8Array.from(Buffer.from(png, "base64")) },
            { type: "file", mediaType: "image/jpeg", data: new URL("https://example.com/a.jpg") },
            { type: "file", mediaType: "image/webp", data: "", options: { anthropic: { fileId: "file_1" } } },
            {
              type: "file",
              mediaType: "application/pdf",
              fileName: "a.pdf",
              data: "data:application/pdf;base64,JVBERi0="
            },
            {
              type: "file",
              mediaType: "application/pdf",
              fileName: "b.pdf",
              data: new URL("https://example.com/b.pdf"),
              options: {
                anthropic: { documentTitle: "B", documentContext: "draft", citations: { enabled: true } }
              }
            },
            { type: "file", mediaType: "text/markdown", data: new TextEncoder().encode("# Grüße") }
          ]
        }
      ])
      assert.deepStrictEqual(body.messages[0].content, [
        { type: "text", text: "What is this?" },
        { type: "image", source: { type: "base64", media_type: "image/png", data: png }, cache_control },
        { type: "image", source: { type: "base64", media_type: "image/png", data: png } },
        { type: "image", source: { type: "url", url: "https://example.com/a.jpg" } },
        { type: "image", source: { type: "file", file_id: "file_1" } },
        {
          type: "document",
          source: { type: "base64", media_type: "application/pdf", data: "JVBERi0=" },
          title: "a.pdf"
        },
        {
          type: "document",
          source: { type: "url", url: "https://example.com/b.pdf" },
          title: "B",
          context: "draft",
          citations: { enabled: true }
        },
        { type: "document", source: { type: "text", media_type: "text/plain", data: "# Grüße" } }
      ])
      assert.strictEqual(headers["anthropic-beta"], "files-api-2025-04-14")
    })
  )

  it.effect("refuse files that the API does not take, with what to do", () =>
    Effect.forEach(
      [
        [{ mediaType: "image/tiff", data: "SUkqAA==" }, "JPEG, PNG, GIF or WebP"],
        [{ mediaType: "video/mp4", data: "AAAA" }, "images, PDF or text"],
        [{ mediaType: "text/plain", data: "plain text" }, "give text as bytes"],
        [{ mediaType: "text/plain", data: new URL("https://example.com/") }, "send the text itself"]
      ] as const,
      ([file, expected]) =>
        Effect.gen(function* () {
          const reason = yield* reasonOf(sent([{ role: "user", content: [{ type: "file", ...file }] }]))
          assert.propertyVal(reason, "_tag", "InvalidUserInputError")
          assert.include(reason.message, expected)
        })
    )
  )

  it.effect("say what a tool answered as text, as images, or as JSON", () =>
    Effect.gen(function* () {
      const image = { type: "image", mediaType: "image/png", data: png }
      const imageBlock = { type: "image", source: { type: "base64", media_type: "image/png", data: png } }
      const cases: ReadonlyArray<readonly [unknown, unknown]> = [
        ["", ""],
        ["rain", "rain"],
        [undefined, undefined],
        [null, undefined],
        [7, "7"],
        [[], "[]"],
        [{ type: "text", text: "t", more: 1 }, '{"type":"text","text":"t","more":1}'],
        [image, [imageBlock]],
        [
          [{ type: "text", text: "seen" }, image],
          [{ type: "text", text: "seen" }, imageBlock]
        ],
        [[image, 1], JSON.stringify([image, 1])],
        [[{ type: "text", text: " " }, image], [imageBlock]],
        [{ type: "text", text: "" }, undefined],
        [
          { ...image, mediaType: "image/bmp" },
          [
            {
              type: "text",
              text: "[An image of type image/bmp is left out: images are JPEG, PNG, GIF or WebP]"
            }
          ]
        ]
      ]
      const ids = cases.map((_, index) => `call-${index}`)
      const messages = yield* messagesOf([
        { role: "user", content: "Hi" },
        { role: "assistant", content: ids.map((id) => call(id)) },
        { role: "tool", content: cases.map(([value], index) => result(`call-${index}`, value)) }
      ])
      assert.deepStrictEqual(
        messages[2].content.map(({ content }: Sent) => content),
        cases.map(([, content]) => content)
      )
    })
  )

  it.effect("say what a tool itself has for the model", () =>
    Effect.gen(function* () {
      const messages = yield* messagesOf([
        { role: "user", content: "Hi" },
        { role: "assistant", content: [call("a")] },
        {
          role: "tool",
          content: [
            {
              ...result("a", { raw: true }),
              modelOutput: [
                { type: "text", text: "For you" },
                { type: "file", mediaType: "application/pdf", data: "JVBERi0=" }
              ]
            }
          ]
        }
      ])
      assert.deepStrictEqual(messages[2].content[0].content, [
        { type: "text", text: "For you" },
        { type: "document", source: { type: "base64", media_type: "application/pdf", data: "JVBERi0=" } }
      ])
    })
  )

  it.effect("set cache breakpoints on parts, and on the last block of a message", () =>
    Effect.gen(function* () {
      const { body } = yield* sent(
        [
          {
            role: "user",
            content: [
              { type: "text", text: "a", options: cached },
              { type: "text", text: "b" }
            ],
            options: cached
          },
          { role: "assistant", content: [{ ...call("x"), options: cached }], options: {} },
          { role: "tool", content: [result("x", "r")], options: cached }
        ],
        { cache_control: { type: "ephemeral" } }
      )
      assert.deepStrictEqual(
        body.messages.map(({ content }: Sent) => content.map((block: Block) => block.cache_control)),
        [[cache_control, cache_control], [cache_control], [cache_control]]
      )
      assert.deepStrictEqual(body.cache_control, { type: "ephemeral" })
    })
  )

  it.effect(
    "leave out blank text, the white space at the end of a beginning, and what other providers thought",
    () =>
      Effect.gen(function* () {
        const messages = yield* messagesOf([
          {
            role: "user",
            content: [
              { type: "text", text: " \n" },
              { type: "text", text: "Hi" }
            ]
          },
          {
            role: "assistant",
            content: [
              { type: "reasoning", text: "hm", options: { openai: { itemId: "rs_1" } } },
              { type: "tool-call", id: "ws|1", name: "OpenAiWebSearch", params: {}, providerExecuted: true },
              {
                type: "tool-result",
                id: "ws|1",
                name: "OpenAiWebSearch",
                isFailure: false,
                result: {},
                providerExecuted: true
              },
              { type: "text", text: "The answer is \n" }
            ]
          }
        ])
        assert.deepStrictEqual(messages, [
          { role: "user", content: [{ type: "text", text: "Hi" }] },
          { role: "assistant", content: [{ type: "text", text: "The answer is" }] }
        ])
      })
  )

  it.effect("give calls of other providers ids that the API takes", () =>
    Effect.gen(function* () {
      const messages = yield* messagesOf([
        { role: "user", content: "Hi" },
        { role: "assistant", content: [call("call_1|fc_2")] },
        { role: "tool", content: [result("call_1|fc_2", "r")] }
      ])
      assert.strictEqual(messages[1].content[0].id, "call_1_fc_2")
      assert.strictEqual(messages[2].content[0].tool_use_id, "call_1_fc_2")
    })
  )

  describe.each(modes)("%s", (mode) => {
    it.effect("sends thinking back as it came, with its signature, and what was redacted", () => {
      const content = [
        { type: "thinking" as const, thinking: "Let me think about it.", signature: "EqQBCgIYAhIM" },
        { type: "redacted_thinking" as const, data: "EmwKAhgBEgy3" },
        // The model may think without showing it.
        { type: "thinking" as const, thinking: "", signature: "EoUBCkYIBxgC" },
        text("Done.")
      ]
      return scripted([replyWith(mode, message(content)), replyWith(mode, message([text("Ok")]))], (server) =>
        Effect.gen(function* () {
          const parts = yield* ask(mode, { prompt: "Hi" })
          // As a program that keeps its history would.
          const json = JSON.stringify(yield* Effect.orDie(encodePrompt(Prompt.fromResponseParts(parts))))
          const kept = Prompt.make(JSON.parse(json).content)
          yield* ask(mode, { prompt: Prompt.concat(Prompt.concat(Prompt.make("Hi"), kept), "And?") })
          assert.deepStrictEqual(server.requests[1]?.body.messages[1].content, [
            ...content.slice(0, 3),
            { type: "text", text: "Done." }
          ])
        })
      )
    })

    it.effect("sends back what effect/ai has no part for, as it came", () => {
      const content = [
        { type: "compaction" as const, content: "So far: hello.", encrypted_content: null },
        {
          type: "fallback" as const,
          from: { model: "a" },
          to: { model: "b" },
          trigger: { type: "refusal" } as never
        },
        {
          type: "mcp_tool_use" as const,
          id: "mcptoolu_1",
          name: "list",
          server_name: "files",
          input: { path: "/" }
        },
        { type: "mcp_tool_result" as const, tool_use_id: "mcptoolu_1", is_error: false, content: "a" },
        { type: "container_upload" as const, file_id: "file_1" },
        text("Done.")
      ]
      return scripted([replyWith(mode, message(content)), replyWith(mode, message([text("Ok")]))], (server) =>
        Effect.gen(function* () {
          const parts = yield* ask(mode, { prompt: "Hi" })
          yield* ask(mode, { prompt: Prompt.concat(Prompt.make("Hi"), Prompt.fromResponseParts(parts)) })
          assert.deepStrictEqual(server.requests[1]?.body.messages[1].content, [
            ...content.slice(0, 5),
            { type: "text", text: "Done." }
          ])
        })
      )
    })

    it.effect("sends citations back without what the API only says", () => {
      const citation = {
        type: "page_location" as const,
        cited_text: "It rains.",
        document_index: 0,
        document_title: "Weather",
        start_page_number: 1,
        end_page_number: 2
      }
      const block = { type: "text" as const, text: "Rain.", citations: [{ ...citation, file_id: "file_1" }] }
      return scripted([replyWith(mode, message([block])), replyWith(mode, message([text("Ok")]))], (server) =>
        Effect.gen(function* () {
          const parts = yield* ask(mode, { prompt: "Hi" })
          const source = parts.find((part) => part.type === "source") ?? assert.fail()
          assert.deepStrictEqual([source.sourceType, source.title], ["document", "Weather"])
          yield* ask(mode, { prompt: Prompt.concat(Prompt.make("Hi"), Prompt.fromResponseParts(parts)) })
          assert.deepStrictEqual(server.requests[1]?.body.messages[1].content, [
            { type: "text", text: "Rain.", citations: [citation] }
          ])
        })
      )
    })
  })

  it.effect("take the configuration of the request, and the betas that it needs", () =>
    Effect.gen(function* () {
      const { body, headers } = yield* sent("Hi", {
        max_tokens: 9,
        temperature: 0.5,
        stop_sequences: ["."],
        thinking: { type: "enabled", budget_tokens: 1024 },
        metadata: { user_id: "u" },
        service_tier: "standard_only",
        mcp_servers: [{ type: "url", name: "files", url: "https://example.com/mcp" }],
        tools: [{ type: "mcp_toolset", mcp_server_name: "files" }],
        betas: ["context-1m-2025-08-07"]
      })
      const { messages: _, model: __, stream: ___, ...rest } = body
      assert.deepStrictEqual(rest, {
        max_tokens: 9,
        temperature: 0.5,
        stop_sequences: ["."],
        thinking: { type: "enabled", budget_tokens: 1024 },
        metadata: { user_id: "u" },
        service_tier: "standard_only",
        mcp_servers: [{ type: "url", name: "files", url: "https://example.com/mcp" }],
        tools: [{ type: "mcp_toolset", mcp_server_name: "files" }]
      })
      assert.strictEqual(headers["anthropic-beta"], "context-1m-2025-08-07,mcp-client-2025-11-20")
    })
  )
})

const encodePrompt = (prompt: Prompt.Prompt) => Schema.encodeEffect(Prompt.Prompt)(prompt)
