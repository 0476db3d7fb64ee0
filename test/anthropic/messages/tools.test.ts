/**
 * Tools on the wire: their names both ways, their definitions, and the calls that the model makes of them.
 */
import { assert, describe, it } from "@effect/vitest"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as ServerTools from "../../../src/anthropic/ServerTools.ts"
import { ToolOptions } from "../../../src/anthropic/ToolOptions.ts"
import * as MessagesServer from "../../support/MessagesServer.ts"
import { message, text, toolUse } from "../../support/MessagesServer.ts"
import { ask, modes, reasonOf, replyWith, scripted } from "./Scripted.ts"

const Memory = Tool.providerDefined({
  id: "anthropic.memory_20250818",
  customName: "AnthropicMemory",
  providerName: "memory",
  requiresHandler: true,
  parameters: Schema.Struct({ command: Schema.String, path: Schema.String }),
  success: Schema.String
})({ failureMode: "return" })

const Weather = Tool.make("Weather", {
  description: "The weather in a city.",
  parameters: Schema.Struct({ city: Schema.String, days: Schema.optional(Schema.Int) }),
  success: Schema.String
})

const toolkit = Toolkit.make(Memory, Weather)
const handlers = toolkit.toHandlers({
  AnthropicMemory: ({ path }) => Effect.succeed(`nothing in ${path}`),
  Weather: ({ city }) => Effect.succeed(`rain in ${city}`)
})
const withHandlers = Effect.flatMap(handlers, (context) =>
  Effect.provideContext(
    Effect.suspend(() => toolkit),
    context
  )
)

const view = { command: "view", path: "/memories" }

describe("tools on the wire", () => {
  describe.each(modes)("%s", (mode) => {
    it.effect("knows a tool by its own name, and the API by the name on the wire", () =>
      scripted(
        [
          replyWith(
            mode,
            message([toolUse("toolu_1", "memory", view), toolUse("toolu_2", "Weather", { city: "Oslo" })])
          )
        ],
        (server) =>
          Effect.gen(function* () {
            const parts = yield* ask(mode, {
              prompt: "Look",
              toolkit: withHandlers,
              toolChoice: { tool: "AnthropicMemory" }
            })
            const { body, headers } = server.requests[0] ?? assert.fail()
            assert.deepStrictEqual(body.tools[0], { type: "memory_20250818", name: "memory" })
            assert.deepStrictEqual(body.tool_choice, { type: "tool", name: "memory" })
            assert.strictEqual(headers["anthropic-beta"], "context-management-2025-06-27")
            assert.deepStrictEqual(
              parts.flatMap((part) => (part.type === "tool-call" ? [[part.id, part.name, part.params]] : [])),
              [
                ["toolu_1", "AnthropicMemory", view],
                ["toolu_2", "Weather", { city: "Oslo" }]
              ]
            )
            assert.deepStrictEqual(
              parts.flatMap((part) => (part.type === "tool-result" ? [[part.name, part.result]] : [])),
              [
                ["AnthropicMemory", "nothing in /memories"],
                ["Weather", "rain in Oslo"]
              ]
            )
            const started = parts.flatMap((part) => (part.type === "tool-params-start" ? [part.name] : []))
            assert.deepStrictEqual(started, mode === "streamText" ? ["AnthropicMemory", "Weather"] : [])
          })
      )
    )

    it.effect("sends calls and results of the turn back under the names on the wire", () =>
      scripted(
        [
          replyWith(
            mode,
            message([
              text("Let me see."),
              toolUse("toolu_1", "memory", view),
              toolUse("toolu_2", "Weather", { city: "Oslo" })
            ])
          ),
          replyWith(mode, message([text("Nothing.")]))
        ],
        (server) =>
          Effect.gen(function* () {
            const first = yield* ask(mode, { prompt: "Look", toolkit: withHandlers })
            const history = Prompt.concat(Prompt.make("Look"), Prompt.fromResponseParts(first))
            yield* ask(mode, { prompt: Prompt.concat(history, "And?"), toolkit: withHandlers })
            assert.deepStrictEqual(server.requests[1]?.body.messages, [
              { role: "user", content: [{ type: "text", text: "Look" }] },
              {
                role: "assistant",
                content: [
                  { type: "text", text: "Let me see." },
                  { type: "tool_use", id: "toolu_1", name: "memory", input: view },
                  { type: "tool_use", id: "toolu_2", name: "Weather", input: { city: "Oslo" } }
                ]
              },
              {
                role: "user",
                content: [
                  { type: "tool_result", tool_use_id: "toolu_1", content: "nothing in /memories" },
                  { type: "tool_result", tool_use_id: "toolu_2", content: "rain in Oslo" },
                  { type: "text", text: "And?" }
                ]
              }
            ])
          })
      )
    )

    it.effect("replays a call under the name on the wire although the request does not offer the tool", () =>
      scripted(
        [
          replyWith(mode, message([toolUse("toolu_1", "memory", view)])),
          replyWith(mode, message([text("Ok")]))
        ],
        (server) =>
          Effect.gen(function* () {
            const first = yield* ask(mode, { prompt: "Look", toolkit: withHandlers })
            yield* ask(mode, { prompt: Prompt.concat(Prompt.make("Look"), Prompt.fromResponseParts(first)) })
            assert.strictEqual(server.requests[1]?.body.messages[1].content[0].name, "memory")
            assert.isUndefined(server.requests[1]?.body.tools)
          })
      )
    )

    it.effect("fails with the tools there are for a name that no tool has, a tool's own name included", () =>
      Effect.forEach(["nowhere", "AnthropicMemory"], (name) =>
        scripted([replyWith(mode, message([toolUse("toolu_1", name, {})]))], () =>
          Effect.gen(function* () {
            const reason = yield* reasonOf(ask(mode, { prompt: "Look", toolkit: withHandlers }))
            assert.propertyVal(reason, "_tag", "ToolNotFoundError")
            assert.propertyVal(reason, "toolName", name)
            assert.deepPropertyVal(reason, "availableTools", ["AnthropicMemory", "Weather"])
          })
        )
      )
    )

    it.effect("fails for parameters that the tool does not take", () =>
      scripted([replyWith(mode, message([toolUse("toolu_1", "Weather", { town: "Oslo" })]))], () =>
        Effect.gen(function* () {
          const reason = yield* reasonOf(ask(mode, { prompt: "Look", toolkit: withHandlers }))
          assert.propertyVal(reason, "_tag", "ToolParameterValidationError")
          assert.propertyVal(reason, "toolName", "Weather")
        })
      )
    )

    it.effect("tells a tool that returns its failures what is wrong with its parameters", () =>
      scripted([replyWith(mode, message([toolUse("toolu_1", "memory", { command: 1 })]))], () =>
        Effect.gen(function* () {
          const parts = yield* ask(mode, { prompt: "Look", toolkit: withHandlers })
          const result = parts.find((part) => part.type === "tool-result")
          assert.isTrue(result?.isFailure)
          assert.include(JSON.stringify(result?.encodedResult), "ToolParameterValidationError")
        })
      )
    )

    it.effect("leaves both to the caller, as the model made the call, when validation is deferred", () =>
      scripted(
        [
          replyWith(
            mode,
            message([toolUse("toolu_1", "nowhere", { a: 1 }), toolUse("toolu_2", "memory", { command: 1 })])
          )
        ],
        () =>
          Effect.gen(function* () {
            const parts = yield* ask(mode, {
              prompt: "Look",
              toolkit: withHandlers,
              disableToolCallResolution: true,
              toolCallValidation: "deferred"
            })
            assert.deepStrictEqual(
              parts.flatMap((part) => (part.type === "tool-call" ? [[part.name, part.params]] : [])),
              [
                ["nowhere", { a: 1 }],
                ["AnthropicMemory", { command: 1 }]
              ]
            )
          })
      )
    )

    it.effect("calls a tool without parameters with an empty object", () => {
      const Now = Tool.make("Now", { success: Schema.String })
      const kit = Toolkit.make(Now)
      return scripted([replyWith(mode, message([toolUse("toolu_1", "Now", {})]))], (server) =>
        Effect.gen(function* () {
          const parts = yield* ask(mode, {
            prompt: "When?",
            toolkit: Effect.flatMap(kit.toHandlers({ Now: () => Effect.succeed("noon") }), (context) =>
              Effect.provideContext(
                Effect.suspend(() => kit),
                context
              )
            )
          })
          assert.deepStrictEqual(parts.find((part) => part.type === "tool-call")?.params, {})
          assert.strictEqual(parts.find((part) => part.type === "tool-result")?.result, "noon")
          assert.deepStrictEqual(server.requests[0]?.body.tools[0].input_schema, {
            type: "object",
            additionalProperties: false
          })
        })
      )
    })

    it.effect("takes a null for a field that is optional or undefined, which JSON can only say so", () =>
      scripted(
        [replyWith(mode, message([toolUse("toolu_1", "Weather", { city: "Oslo", days: null })]))],
        (server) =>
          Effect.gen(function* () {
            const parts = yield* ask(mode, { prompt: "Look", toolkit: withHandlers })
            assert.strictEqual(parts.find((part) => part.type === "tool-result")?.result, "rain in Oslo")
            const { input_schema } = server.requests[0]?.body.tools[1] ?? assert.fail()
            assert.deepStrictEqual(input_schema.required, ["city"])
            assert.deepStrictEqual(input_schema.properties.days.anyOf.at(-1), { type: "null" })
          })
      )
    )

    it.effect(
      "answers the calls of server tools by their own names, and sends both back as they came",
      () => {
        const use = {
          type: "server_tool_use" as const,
          id: "srvtoolu_1",
          name: "web_search" as const,
          input: { query: "effect" },
          caller: { type: "direct" as const }
        }
        const found = {
          type: "web_search_tool_result" as const,
          tool_use_id: "srvtoolu_1",
          caller: { type: "direct" as const },
          content: [
            {
              type: "web_search_result" as const,
              url: "https://effect.website/",
              title: "Effect",
              page_age: null,
              encrypted_content: "Eo8P"
            }
          ]
        }
        const citation = {
          type: "web_search_result_location" as const,
          url: "https://effect.website/",
          title: "Effect",
          cited_text: "Effect is…",
          encrypted_index: "Eo8="
        }
        const cited = { type: "text" as const, text: "Effect.", citations: [citation] }
        const kit = Toolkit.make(ServerTools.WebSearch_20250305({ max_uses: 2 }))
        return scripted(
          [replyWith(mode, message([use, found, cited])), replyWith(mode, message([text("Ok")]))],
          (server) =>
            Effect.gen(function* () {
              const parts = yield* ask(mode, { prompt: "Look", toolkit: kit })
              assert.deepStrictEqual(server.requests[0]?.body.tools, [
                { type: "web_search_20250305", name: "web_search", max_uses: 2 }
              ])
              const call = parts.find((part) => part.type === "tool-call") ?? assert.fail()
              const result = parts.find((part) => part.type === "tool-result") ?? assert.fail()
              assert.deepStrictEqual(
                [call.name, call.providerExecuted, call.params],
                ["AnthropicWebSearch", true, use.input]
              )
              assert.deepStrictEqual(
                [result.name, result.providerExecuted, result.isFailure],
                ["AnthropicWebSearch", true, false]
              )
              assert.deepStrictEqual(result.result, found.content)
              const source = parts.find((part) => part.type === "source") ?? assert.fail()
              assert.strictEqual(
                source.sourceType === "url" ? source.url.href : "",
                "https://effect.website/"
              )

              yield* ask(mode, {
                prompt: Prompt.concat(
                  Prompt.concat(Prompt.make("Look"), Prompt.fromResponseParts(parts)),
                  "And?"
                ),
                toolkit: kit
              })
              assert.deepStrictEqual(server.requests[1]?.body.messages[1].content, [use, found, cited])
            })
        )
      }
    )

    it.effect("says that a server tool failed", () => {
      const content = {
        type: "web_search_tool_result_error" as const,
        error_code: "max_uses_exceeded" as const
      }
      return scripted(
        [
          replyWith(
            mode,
            message([
              { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "effect" } },
              { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content }
            ])
          )
        ],
        () =>
          Effect.gen(function* () {
            const kit = Toolkit.make(ServerTools.WebSearch_20250305({}))
            const parts = yield* ask(mode, { prompt: "Look", toolkit: kit })
            const result = parts.find((part) => part.type === "tool-result")
            assert.isTrue(result?.isFailure)
            assert.deepStrictEqual(result?.result, content)
          })
      )
    })

    it.effect("knows the shell and the editor of code execution as code execution", () => {
      const blocks = [
        {
          type: "server_tool_use" as const,
          id: "srvtoolu_1",
          name: "bash_code_execution" as const,
          input: { command: "ls" }
        },
        {
          type: "bash_code_execution_tool_result" as const,
          tool_use_id: "srvtoolu_1",
          content: {
            type: "bash_code_execution_result" as const,
            stdout: "a",
            stderr: "",
            return_code: 0,
            content: []
          }
        }
      ]
      const kit = Toolkit.make(ServerTools.CodeExecution_20250825({}))
      return scripted([replyWith(mode, message(blocks)), replyWith(mode, message([text("Ok")]))], (server) =>
        Effect.gen(function* () {
          const parts = yield* ask(mode, { prompt: "Look", toolkit: kit })
          assert.deepStrictEqual(
            parts.flatMap((part) =>
              part.type === "tool-call" || part.type === "tool-result" ? [part.name] : []
            ),
            ["AnthropicCodeExecution", "AnthropicCodeExecution"]
          )
          yield* ask(mode, {
            prompt: Prompt.concat(Prompt.make("Look"), Prompt.fromResponseParts(parts)),
            toolkit: kit
          })
          assert.deepStrictEqual(server.requests[1]?.body.messages[1].content, blocks)
        })
      )
    })

    it.effect(
      "fails for a call of a server tool that the toolkit has not, unless another tool brings it along",
      () => {
        const blocks = [
          {
            type: "server_tool_use" as const,
            id: "srvtoolu_1",
            name: "code_execution" as const,
            input: { code: "1" }
          },
          {
            type: "code_execution_tool_result" as const,
            tool_use_id: "srvtoolu_1",
            content: {
              type: "code_execution_result" as const,
              stdout: "1",
              stderr: "",
              return_code: 0,
              content: []
            }
          }
        ]
        const strict = scripted([replyWith(mode, message(blocks))], () =>
          Effect.gen(function* () {
            const kit = Toolkit.make(ServerTools.WebSearch_20250305({}))
            const reason = yield* reasonOf(ask(mode, { prompt: "Look", toolkit: kit }))
            assert.propertyVal(reason, "_tag", "ToolNotFoundError")
            assert.propertyVal(reason, "toolName", "code_execution")
          })
        )
        const brought = scripted(
          [replyWith(mode, message(blocks)), replyWith(mode, message([text("Ok")]))],
          (server) =>
            Effect.gen(function* () {
              const kit = Toolkit.make(ServerTools.WebSearch_20260318({}))
              const parts = yield* ask(mode, { prompt: "Look", toolkit: kit })
              yield* ask(mode, {
                prompt: Prompt.concat(Prompt.make("Look"), Prompt.fromResponseParts(parts)),
                toolkit: kit
              })
              assert.deepStrictEqual(server.requests[1]?.body.messages[1].content, blocks)
            })
        )
        return Effect.andThen(strict, brought)
      }
    )

    it.effect("refuses two tools with one name on the wire before it asks", () => {
      const memory = Tool.make("memory", { success: Schema.String })
      const other = Tool.providerDefined({
        id: "anthropic.memory_20250818",
        customName: "OtherMemory",
        providerName: "memory",
        requiresHandler: true
      })({})
      return Effect.forEach([Toolkit.make(Memory, memory), Toolkit.make(Memory, other)], (kit) =>
        scripted([], (server) =>
          Effect.gen(function* () {
            const reason = yield* reasonOf(
              ask(mode, {
                prompt: "Look",
                toolkit: { tools: kit.tools, handle: () => Effect.die("called") } as never
              })
            )
            assert.propertyVal(reason, "_tag", "ToolConfigurationError")
            assert.include(reason.message, '"memory", as it does "AnthropicMemory"')
            assert.lengthOf(server.requests, 0)
          })
        )
      )
    })

    it.effect("refuses, before it asks, tools that no request can offer, and names what to do", () => {
      const cases: ReadonlyArray<readonly [Tool.Any, string]> = [
        [
          Tool.make("Pick", {
            parameters: Schema.Union([
              Schema.Struct({ a: Schema.String }),
              Schema.Struct({ b: Schema.String })
            ])
          }),
          "Make them a Schema.Struct"
        ],
        [Tool.make("Say", { parameters: Schema.String }), 'of type "string"'],
        [
          Tool.providerDefined({ id: "openai.web_search", customName: "Search", providerName: "web_search" })(
            undefined
          ),
          "another provider"
        ],
        [
          Tool.providerDefined({
            id: "anthropic.browser_toolset_20260801",
            customName: "Browser",
            providerName: "browser"
          })(undefined),
          "not supported"
        ]
      ]
      return Effect.forEach(cases, ([tool, expected]) =>
        scripted([], (server) =>
          Effect.gen(function* () {
            const reason = yield* reasonOf(
              ask(mode, {
                prompt: "Look",
                toolkit: { tools: { [tool.name]: tool }, handle: () => Effect.die("called") } as never
              })
            )
            assert.propertyVal(reason, "_tag", "ToolConfigurationError")
            assert.propertyVal(reason, "toolName", tool.name)
            assert.include(reason.message, expected)
            assert.lengthOf(server.requests, 0)
          })
        )
      )
    })
  })

  describe("input that is no JSON", () => {
    const broken = (name: string, stop_reason: "tool_use" | "max_tokens") => [
      ...MessagesServer.events(message([])).slice(0, 1),
      {
        type: "content_block_start",
        index: 0,
        content_block: { type: "tool_use", id: "toolu_1", name, input: {} }
      },
      {
        type: "content_block_delta",
        index: 0,
        delta: { type: "input_json_delta", partial_json: '{"city": "Os' }
      },
      { type: "content_block_stop", index: 0 },
      ...MessagesServer.events(message([], { stop_reason })).slice(-2)
    ]
    const Remote = Tool.dynamic("Remote", { parameters: { type: "object" } })
    const dynamic = Toolkit.make(Remote)
    const withRemote = Effect.flatMap(dynamic.toHandlers({ Remote: () => Effect.die("called") }), (context) =>
      Effect.provideContext(
        Effect.suspend(() => dynamic),
        context
      )
    )

    it.effect("fails with the tool's name", () =>
      Effect.forEach([["Weather", withHandlers] as const, ["Remote", withRemote] as const], ([name, kit]) =>
        scripted([{ events: broken(name, "tool_use") }], () =>
          Effect.gen(function* () {
            const reason = yield* reasonOf(
              ask("streamText", { prompt: "Look", toolkit: kit as typeof withHandlers })
            )
            assert.propertyVal(reason, "_tag", "ToolParameterValidationError")
            assert.propertyVal(reason, "toolName", name)
          })
        )
      )
    )

    it.effect("is the text that the model wrote, when validation is deferred, and goes back as that", () =>
      scripted([{ events: broken("Remote", "tool_use") }, { json: message([text("Ok")]) }], (server) =>
        Effect.gen(function* () {
          const parts = yield* ask("streamText", {
            prompt: "Look",
            toolkit: withRemote,
            disableToolCallResolution: true,
            toolCallValidation: "deferred"
          })
          assert.strictEqual(parts.find((part) => part.type === "tool-call")?.params, '{"city": "Os')
          yield* ask("generateText", {
            prompt: Prompt.concat(Prompt.make("Look"), Prompt.fromResponseParts(parts))
          })
          assert.deepStrictEqual(server.requests[1]?.body.messages[1].content[0].input, {
            INVALID_JSON: '{"city": "Os'
          })
        })
      )
    )

    it.effect("runs nothing when the message was cut off", () =>
      Effect.forEach([["Weather", withHandlers] as const, ["Remote", withRemote] as const], ([name, kit]) =>
        scripted([{ events: broken(name, "max_tokens"), chunk: 7 }], () =>
          Effect.gen(function* () {
            const parts = yield* ask("streamText", { prompt: "Look", toolkit: kit as typeof withHandlers })
            const result = parts.find((part) => part.type === "tool-result")
            assert.propertyVal(result?.result, "type", "execution-interrupted")
            assert.strictEqual(parts.find((part) => part.type === "finish")?.reason, "length")
          })
        )
      )
    )
  })

  it.effect("sends the choice of a tool as the API has it", () =>
    Effect.forEach(
      [
        [undefined, undefined],
        ["auto", undefined],
        ["none", { type: "none" }],
        ["required", { type: "any" }],
        [{ tool: "Weather" }, { type: "tool", name: "Weather" }],
        [{ oneOf: ["Weather"] }, undefined],
        [{ mode: "required", oneOf: ["Weather"] }, { type: "any" }]
      ] as const,
      ([toolChoice, expected]) =>
        Effect.forEach([undefined, true], (disable_parallel_tool_use) =>
          scripted(
            [{ json: message([text("Ok")]) }],
            (server) =>
              Effect.gen(function* () {
                yield* LanguageModel.generateText({
                  prompt: "Look",
                  toolkit: withHandlers,
                  ...(toolChoice === undefined ? undefined : { toolChoice: toolChoice as "auto" })
                })
                const { tool_choice, tools } = server.requests[0]?.body ?? assert.fail()
                const one = { disable_parallel_tool_use: true }
                assert.deepStrictEqual(
                  tool_choice,
                  disable_parallel_tool_use === undefined || toolChoice === "none"
                    ? expected
                    : { ...(expected ?? { type: "auto" }), ...one }
                )
                assert.lengthOf(tools, typeof toolChoice === "object" && "oneOf" in toolChoice ? 1 : 2)
              }),
            disable_parallel_tool_use === undefined ? {} : { config: { disable_parallel_tool_use } }
          )
        )
    )
  )

  it.effect("defines a tool by its description, its schema and what it is annotated with", () => {
    const Fetch = Tool.make("Fetch", {
      description: "Fetches a page.",
      parameters: Schema.Struct({ url: Schema.String, since: Schema.optionalKey(Schema.Date) })
    })
      .annotate(Tool.Strict, true)
      .annotate(ToolOptions, { defer_loading: true, cache_control: { type: "ephemeral" } })
    return scripted([{ json: message([text("Ok")]) }], (server) =>
      Effect.gen(function* () {
        yield* LanguageModel.generateText({
          prompt: "Look",
          toolkit: { tools: { Fetch }, handle: () => Effect.die("called") } as never
        })
        const [definition] = server.requests[0]?.body.tools ?? assert.fail()
        const { input_schema, ...rest } = definition
        assert.deepStrictEqual(rest, {
          name: "Fetch",
          description: "Fetches a page.",
          strict: true,
          defer_loading: true,
          cache_control: { type: "ephemeral" }
        })
        assert.deepStrictEqual(input_schema.required, ["url", "since"])
        assert.isFalse(input_schema.additionalProperties)
      })
    )
  })

  it.effect("reads a strict tool's nulls as fields that are left out", () => {
    const Fetch = Tool.make("Fetch", {
      parameters: Schema.Struct({ url: Schema.String, depth: Schema.optionalKey(Schema.Int) }),
      success: Schema.Unknown
    }).annotate(Tool.Strict, true)
    const kit = Toolkit.make(Fetch)
    return scripted([{ json: message([toolUse("toolu_1", "Fetch", { url: "/", depth: null })]) }], () =>
      Effect.gen(function* () {
        const toolkit = Effect.flatMap(
          kit.toHandlers({ Fetch: (params) => Effect.succeed(params) }),
          (context) =>
            Effect.provideContext(
              Effect.suspend(() => kit),
              context
            )
        )
        const { toolResults } = yield* LanguageModel.generateText({ prompt: "Look", toolkit })
        assert.deepStrictEqual(toolResults[0]?.result, { url: "/" })
      })
    )
  })
})
