/**
 * The language model under the runtime, which keeps the conversation as JSON and answers calls itself.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Agent from "../../../src/runtime/Agent.ts"
import * as AgentRuntime from "../../../src/runtime/AgentRuntime.ts"
import { message, text, toolUse } from "../../support/MessagesServer.ts"
import { modes, replyWith, scripted } from "./Scripted.ts"

const Memory = Tool.providerDefined({
  id: "anthropic.memory_20250818",
  customName: "AnthropicMemory",
  providerName: "memory",
  requiresHandler: true,
  parameters: Schema.Struct({
    command: Schema.String,
    view_range: Schema.optional(Schema.Array(Schema.Int))
  }),
  success: Schema.String
})({ failureMode: "return" })

const toolkit = Toolkit.make(Memory)
const handlers = toolkit.toLayer({ AnthropicMemory: ({ command }) => Effect.succeed(`did ${command}`) })

const thinking = { type: "thinking" as const, thinking: "Hm.", signature: "EqQB" }
const turn = message([
  thinking,
  toolUse("toolu_1", "memory", { command: "view", view_range: null }),
  toolUse("toolu_2", "memory", { command: 7 }),
  toolUse("toolu_3", "forget", {})
])

describe.each(modes)("an agent on %s", (mode) => {
  it.effect("has its calls and their results, refused ones too, under the names on the wire", () =>
    scripted([replyWith(mode, turn), replyWith(mode, message([text("Done.")]))], (server) => {
      const agent = Agent.make({ name: "notes", toolkit })
      const run =
        mode === "generateText"
          ? agent.generate({ prompt: "Look" })
          : Effect.map(Stream.runCollect(agent.run({ prompt: "Look" })), (events) => {
              const last = events.at(-1)
              return last?._tag === "Ended" ? last.outcome : assert.fail("no end")
            })
      return Effect.gen(function* () {
        const outcome = yield* run
        assert.strictEqual(outcome._tag, "Finished")
        const [, assistant, user] = server.requests[1]?.body.messages ?? assert.fail()
        assert.deepStrictEqual(assistant.content, [
          thinking,
          // What its schema takes instead of the null.
          { type: "tool_use", id: "toolu_1", name: "memory", input: { command: "view" } },
          { type: "tool_use", id: "toolu_2", name: "memory", input: { command: 7 } },
          { type: "tool_use", id: "toolu_3", name: "forget", input: {} }
        ])
        assert.deepStrictEqual(
          user.content.map((block: { tool_use_id: string; is_error?: boolean }) => [
            block.tool_use_id,
            block.is_error ?? false
          ]),
          [
            ["toolu_1", false],
            ["toolu_2", true],
            ["toolu_3", true]
          ]
        )
        assert.strictEqual(user.content[0].content, "did view")
        assert.include(JSON.stringify(user.content[1].content), "ToolParameterValidationError")
        assert.include(JSON.stringify(user.content[2].content), "ToolNotFoundError")
      }).pipe(
        Effect.provide(
          agent.layer.pipe(Layer.provide(handlers), Layer.provideMerge(AgentRuntime.layerMemory))
        )
      )
    })
  )
})
