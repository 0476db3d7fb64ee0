import { assert, describe, it } from "@effect/vitest"
import * as AiError from "effect/ai/AiError"
import * as Chat from "effect/ai/Chat"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { ScriptedModel } from "../../src/testing/index.ts"

const Add = Tool.make("add", {
  parameters: Schema.Struct({ a: Schema.Number, b: Schema.Number }),
  success: Schema.Number
})
const toolkit = Toolkit.make(Add)
const handlers = toolkit.toLayer({ add: ({ a, b }) => Effect.succeed(a + b) })

const Search = Tool.providerDefined({
  id: "vendor.search",
  customName: "Search",
  providerName: "search",
  success: Schema.Struct({ hits: Schema.Number })
})()

const thoughtful: ReadonlyArray<ScriptedModel.Part> = [
  { ...ScriptedModel.reasoning("thinking"), metadata: { vendor: { signature: "s1" } } },
  { ...ScriptedModel.text("done"), metadata: { vendor: { citation: 7 } } }
]

describe("ScriptedModel", () => {
  it.effect("answers one request a turn, in order, and records what it was asked", () =>
    Effect.gen(function* () {
      const { model, requests } = yield* ScriptedModel.make([
        [ScriptedModel.text("first")],
        [ScriptedModel.text("second")]
      ])
      const first = yield* model.generateText({ prompt: "one" })
      const second = yield* model.generateText({ prompt: "two" })
      assert.deepStrictEqual([first.text, second.text], ["first", "second"])
      assert.deepStrictEqual(
        requests.map(({ prompt }) => prompt),
        [Prompt.make("one"), Prompt.make("two")]
      )
    })
  )

  it.effect("lets upstream resolve the tool calls of a turn", () =>
    Effect.gen(function* () {
      const response = yield* LanguageModel.generateText({ prompt: "2 + 3?", toolkit })
      assert.deepStrictEqual(
        response.toolResults.map(({ id, name, result }) => ({ id, name, result })),
        [{ id: "c1", name: "add", result: 5 }]
      )
      assert.strictEqual(response.finishReason, "tool-calls")
    }).pipe(
      Effect.provide([ScriptedModel.layer([[ScriptedModel.toolCall("c1", "add", { a: 2, b: 3 })]]), handlers])
    )
  )

  it.effect("lets a turn depend on the results of the turn before", () =>
    Effect.gen(function* () {
      const chat = yield* Chat.empty
      yield* chat.generateText({ prompt: "2 + 3?", toolkit })
      const response = yield* chat.generateText({ prompt: [], toolkit })
      assert.strictEqual(response.text, "add gave 5")
      const scripted = yield* ScriptedModel.ScriptedModel
      assert.deepStrictEqual(
        scripted.requests.map(({ tools }) => tools.map(({ name }) => name)),
        [["add"], ["add"]]
      )
    }).pipe(
      Effect.provide([
        ScriptedModel.layer([
          [ScriptedModel.toolCall("c1", "add", { a: 2, b: 3 })],
          ({ prompt }) =>
            Effect.sync(() => [
              ScriptedModel.text(
                prompt.content
                  .flatMap((message) => (message.role === "tool" ? message.content : []))
                  .flatMap((part) =>
                    part.type === "tool-result" ? [`${part.name} gave ${part.result}`] : []
                  )
                  .join()
              )
            ])
        ]),
        handlers
      ])
    )
  )

  it.effect("streams text and reasoning as start, delta and end, and results before the finish", () =>
    Effect.gen(function* () {
      const parts = yield* Stream.runCollect(LanguageModel.streamText({ prompt: "2 + 3?", toolkit }))
      assert.deepStrictEqual(
        parts.map((part) => part.type),
        [
          "reasoning-start",
          "reasoning-delta",
          "reasoning-end",
          "text-start",
          "text-delta",
          "text-end",
          "tool-call",
          "tool-result",
          "finish"
        ]
      )
      const ids = parts.flatMap((part) =>
        part.type === "text-start" || part.type === "reasoning-start" ? [part.id] : []
      )
      assert.strictEqual(new Set(ids).size, 2)
    }).pipe(
      Effect.provide([
        ScriptedModel.layer([
          [
            ScriptedModel.reasoning("I should add"),
            ScriptedModel.text("Adding."),
            ScriptedModel.toolCall("c1", "add", { a: 2, b: 3 })
          ]
        ]),
        handlers
      ])
    )
  )

  it.effect("keeps streamed text, reasoning and their metadata in a history", () =>
    Effect.gen(function* () {
      const { model } = yield* ScriptedModel.make([thoughtful, thoughtful])
      const [generated, streamed] = [yield* Chat.empty, yield* Chat.empty]
      yield* Effect.provideService(
        Effect.andThen(
          generated.generateText({ prompt: "go" }),
          Stream.runDrain(streamed.streamText({ prompt: "go" }))
        ),
        LanguageModel.LanguageModel,
        model
      )
      const history = yield* generated.exportJson
      for (const kept of ["thinking", "s1", "done", "7"]) assert.include(history, kept)
      assert.strictEqual(yield* streamed.exportJson, history)
    })
  )

  it.effect("gives generateObject the text of the turn to decode", () =>
    Effect.gen(function* () {
      const { model } = yield* ScriptedModel.make([[ScriptedModel.text('{"city":"Kyiv"}')]])
      const response = yield* model.generateObject({
        prompt: "where?",
        schema: Schema.Struct({ city: Schema.String })
      })
      assert.deepStrictEqual(response.value, { city: "Kyiv" })
    })
  )

  it.effect("passes on calls that the provider executes, with their results", () =>
    Effect.gen(function* () {
      const { model } = yield* ScriptedModel.make([
        [
          ScriptedModel.toolCall(
            "p1",
            "Search",
            {},
            { providerExecuted: true, metadata: { vendor: { n: 1 } } }
          ),
          ScriptedModel.toolResult("p1", "Search", { hits: 3 })
        ]
      ])
      const response = yield* model.generateText({ prompt: "search", toolkit: Toolkit.make(Search) })
      const [call] = response.toolCalls
      const [result] = response.toolResults
      assert.deepStrictEqual(call?.metadata, { vendor: { n: 1 } })
      assert.deepStrictEqual(
        [result?.isFailure, result?.providerExecuted, result?.result],
        [false, true, { hits: 3 }]
      )
      assert.strictEqual(response.finishReason, "stop")
    })
  )

  it.effect("ends with the finish of the script where there is one", () =>
    Effect.gen(function* () {
      const { model } = yield* ScriptedModel.make([
        [
          ScriptedModel.text("cut o"),
          ScriptedModel.finish("length", { inputTokens: { total: 6 }, outputTokens: { total: 12 } })
        ]
      ])
      const response = yield* model.generateText({ prompt: "go" })
      assert.strictEqual(response.finishReason, "length")
      assert.deepStrictEqual([response.usage.inputTokens.total, response.usage.outputTokens.total], [6, 12])
      assert.strictEqual(response.content.filter((part) => part.type === "finish").length, 1)
    })
  )

  it.effect("answers every request by a function, whatever came before in this process", () =>
    Effect.gen(function* () {
      const { model, requests } = yield* ScriptedModel.make(({ prompt }) => [
        ScriptedModel.text(`${prompt.content.length} messages`)
      ])
      const first = yield* model.generateText({ prompt: "one" })
      const second = yield* model.generateText({ prompt: Prompt.concat(Prompt.make("one"), "two") })
      assert.deepStrictEqual([first.text, second.text], ["1 messages", "2 messages"])
      assert.lengthOf(requests, 2)
    })
  )

  it.effect("fails as a provider does when a turn fails", () =>
    Effect.gen(function* () {
      const limited = AiError.make({
        module: "Vendor",
        method: "generateText",
        reason: new AiError.RateLimitError({})
      })
      const { model } = yield* ScriptedModel.make([() => Effect.fail(limited)])
      assert.strictEqual(yield* Effect.flip(model.generateText({ prompt: "go" })), limited)
    })
  )

  it.effect("dies beyond the script, and says which turn was asked for and how many there are", () =>
    Effect.gen(function* () {
      const { model, requests } = yield* ScriptedModel.make([[ScriptedModel.text("only")]])
      yield* model.generateText({ prompt: "one" })
      const generated = yield* Effect.exit(model.generateText({ prompt: "two" }))
      const streamed = yield* Effect.exit(Stream.runDrain(model.streamText({ prompt: "three" })))
      assert.deepStrictEqual([generated, streamed].map(defect), [
        "Error: ScriptedModel: turn 2 was asked for, but the script has 1",
        "Error: ScriptedModel: turn 3 was asked for, but the script has 1"
      ])
      assert.strictEqual(requests.length, 3)
    })
  )

  it.effect("gives each of many parallel requests a turn of its own", () =>
    Effect.gen(function* () {
      const names = Array.from({ length: 50 }, (_, n) => `turn ${n}`)
      const { model } = yield* ScriptedModel.make(names.map((name) => [ScriptedModel.text(name)]))
      const responses = yield* Effect.forEach(names, () => model.generateText({ prompt: "go" }), {
        concurrency: "unbounded"
      })
      assert.sameMembers(
        responses.map((response) => response.text),
        names
      )
    })
  )

  it.effect("counts the turns of each model by itself", () =>
    Effect.gen(function* () {
      const make = ScriptedModel.make([[ScriptedModel.text("first")]])
      const [one, two] = [yield* make, yield* make]
      yield* one.model.generateText({ prompt: "go" })
      const response = yield* two.model.generateText({ prompt: "go" })
      assert.strictEqual(response.text, "first")
    })
  )
})

const defect = (exit: Exit.Exit<unknown, unknown>): unknown =>
  Exit.isFailure(exit) && Cause.hasDies(exit.cause) ? String(Cause.squash(exit.cause)) : exit
