import { assert, describe, it } from "@effect/vitest"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Telemetry from "effect/ai/Telemetry"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as LanguageModelInstrumentation from "../../src/instrumentation/LanguageModelInstrumentation.ts"
import * as ToolkitInstrumentation from "../../src/instrumentation/ToolkitInstrumentation.ts"
import { CurrentAgent, CurrentConversation, ToolCallOrigin } from "../../src/propagation/Origin.ts"
import * as ToolCallContext from "../../src/propagation/ToolCallContext.ts"
import type * as ExpectedTree from "../../src/testing/ExpectedTree.ts"
import * as RecordedSpans from "../../src/testing/RecordedSpans.ts"
import * as ScriptedModel from "../../src/testing/ScriptedModel.ts"
import * as Metrics from "../support/Metrics.ts"
import * as Payments from "../support/Payments.ts"
import { collect } from "../support/Toolkits.ts"

type Options = LanguageModelInstrumentation.Options

const surroundings = Layer.mergeAll(Payments.handlers, RecordedSpans.layer, Metrics.layer)

const observed = (turns: ReadonlyArray<ScriptedModel.Turn>, options?: Options) =>
  Layer.merge(LanguageModelInstrumentation.layer(ScriptedModel.layer(turns), options), surroundings)

/** A model of a provider's own making, observed. */
const provided = (
  provider: Partial<Parameters<typeof LanguageModel.make>[0]>,
  decorate: (model: LanguageModel.LanguageModel) => LanguageModel.LanguageModel = (model) => model
) =>
  Layer.merge(
    LanguageModelInstrumentation.layer(
      Layer.effect(
        LanguageModel.LanguageModel,
        Effect.map(
          LanguageModel.make({
            generateText: () => Effect.die(new Error("not asked for")),
            streamText: () => Stream.die(new Error("not asked for")),
            ...provider
          }),
          decorate
        )
      )
    ),
    surroundings
  )

const { finish, text, toolCall, toolResult } = ScriptedModel
const usage = {
  inputTokens: { total: 100, cacheRead: 40 },
  outputTokens: { total: 20, reasoning: 5 }
}

type Services = LanguageModel.LanguageModel | Tool.HandlersFor<typeof Payments.toolkit.tools>

const recorded = RecordedSpans.RecordedSpans

const expectTrees = (...trees: ReadonlyArray<ExpectedTree.ExpectedTree>) =>
  Effect.map(recorded, (spans) => RecordedSpans.expectTrees(spans, trees))

const attributesOf = (name: string) =>
  Effect.map(recorded, ({ byName }) => Object.fromEntries(byName(name)[0]?.attributes ?? []))

describe.each(Payments.methods)("a turn, with %s,", (method) => {
  const turnSpan = `LanguageModel.${method}`

  it.effect("has agent, conversation, finish reason and usage on upstream's own span", () =>
    Effect.gen(function* () {
      yield* Payments.turn(method, "hello")
      yield* expectTrees({
        name: turnSpan,
        kind: "client",
        exact: true,
        events: [],
        attributes: {
          "gen_ai.operation.name": "chat",
          "gen_ai.agent.name": "clerk",
          "gen_ai.conversation.id": "conv_1",
          "gen_ai.response.finish_reasons": ["stop"],
          "gen_ai.usage.input_tokens": 100,
          "gen_ai.usage.cache_read.input_tokens": 40,
          "gen_ai.usage.output_tokens": 20,
          "gen_ai.usage.reasoning.output_tokens": 5,
          // Upstream's own.
          "gen_ai.output.type": "text",
          "effect.ai.tool_choice": "auto",
          "effect.ai.concurrency": "unbounded"
        }
      })
    }).pipe(
      Effect.provideService(CurrentAgent, "clerk"),
      Effect.provideService(CurrentConversation, "conv_1"),
      Effect.provide(observed([[text("hi"), finish("stop", usage)]]))
    )
  )

  it.effect("leaves what the provider says of itself", () =>
    Effect.gen(function* () {
      yield* Payments.turn(method, "hello")
      assert.include(yield* attributesOf(turnSpan), {
        "gen_ai.operation.name": "text_completion",
        "gen_ai.usage.input_tokens": 1
      })
      assert.deepStrictEqual((yield* attributesOf(turnSpan))["gen_ai.response.finish_reasons"], ["end_turn"])
    }).pipe(
      Effect.provide(
        observed([
          ({ span }) => {
            Telemetry.addGenAIAnnotations(span, {
              operation: { name: "text_completion" },
              response: { finishReasons: ["end_turn"] },
              usage: { inputTokens: 1 }
            })
            return [text("hi"), finish("stop", usage)]
          }
        ])
      )
    )
  )

  it.effect("is the parent of its tool calls, of needsApproval and of what the provider requests", () =>
    Effect.gen(function* () {
      const Ask = Tool.make("ask", {
        success: Schema.Void,
        needsApproval: () => Effect.as(Effect.void.pipe(Effect.withSpan("policy.check")), false)
      })
      const kit = Toolkit.make(Ask)
      const handlers = kit.toLayer({ ask: () => Effect.void.pipe(Effect.withSpan("work")) })
      yield* (
        method === "generateText"
          ? Effect.asVoid(LanguageModel.generateText({ prompt: "go", toolkit: kit }))
          : Stream.runDrain(LanguageModel.streamText({ prompt: "go", toolkit: kit }))
      ).pipe(Effect.withSpan("request"), Effect.provide(handlers))
      yield* expectTrees({
        name: "request",
        children: [
          {
            name: turnSpan,
            children: [
              { name: "POST" },
              { name: "policy.check" },
              { name: "execute_tool ask", links: [], children: [{ name: "work" }] }
            ]
          }
        ]
      })
    }).pipe(
      Effect.provide(
        observed([
          () => Effect.as(Effect.void.pipe(Effect.withSpan("POST")), [toolCall("call_1", "ask", {})])
        ])
      )
    )
  )

  it.effect("gives the application's own CurrentSpanTransformer what it always got", () =>
    Effect.gen(function* () {
      const seen: Array<unknown> = []
      yield* Payments.turn(method, "hello").pipe(
        Effect.provideService(Telemetry.CurrentSpanTransformer, ({ response, span }) => {
          seen.push(response.map(({ type }) => type))
          span.attribute("mine", true)
          span.attribute("gen_ai.response.finish_reasons", ["mine"])
        })
      )
      assert.deepStrictEqual(seen, [
        method === "generateText" ? ["text", "finish"] : ["text-start", "text-delta", "text-end", "finish"]
      ])
      const attributes = yield* attributesOf(turnSpan)
      assert.isTrue(attributes["mine"])
      assert.deepStrictEqual(attributes["gen_ai.response.finish_reasons"], ["mine"])
    }).pipe(Effect.provide(observed([[text("hi")]])))
  )

  it.effect("that the token limit cuts off says which calls never started, and counts them", () =>
    Effect.gen(function* () {
      yield* Payments.turn(method, "go")
      yield* expectTrees({
        name: turnSpan,
        status: "ok",
        attributes: { "gen_ai.response.finish_reasons": ["length"] },
        events: [
          {
            name: "toolspan.tool.not_started",
            attributes: { "gen_ai.tool.name": "balance", "gen_ai.tool.call.id": "call_1" }
          },
          {
            name: "toolspan.tool.not_started",
            attributes: { "gen_ai.tool.name": "pay", "gen_ai.tool.call.id": "call_2" }
          }
        ]
      })
      assert.deepStrictEqual(yield* Metrics.values("toolspan.tool.calls"), {
        "balance/not_started": 1,
        "pay/not_started": 1
      })
    }).pipe(
      Effect.provide(
        observed([
          [toolCall("call_1", "balance", {}), toolCall("call_2", "pay", { amount: 1 }), finish("length")]
        ])
      )
    )
  )

  it.effect("that fails says how; the text of the failure is upstream's", () =>
    Effect.gen(function* () {
      yield* Effect.exit(Payments.turn(method, "go"))
      yield* expectTrees({
        name: turnSpan,
        status: "error",
        attributes: { "error.type": "InvalidOutputError" },
        events: []
      })
      // Which tool it was is nowhere to be seen: nothing is guessed.
      assert.deepStrictEqual(yield* Metrics.values("toolspan.tool.calls"), {})
    }).pipe(Effect.provide(observed([[toolCall("call_1", "no_such_tool", {})]])))
  )

  it.effect("with a call whose parameters do not decode shows that call, with its id, and fails", () =>
    Effect.gen(function* () {
      yield* Effect.exit(Payments.turn(method, "go"))
      yield* expectTrees({
        name: turnSpan,
        status: "error",
        attributes: { "error.type": "ToolParameterValidationError" },
        events: [],
        children: [
          {
            name: "execute_tool refund",
            status: "error",
            attributes: {
              "gen_ai.tool.call.id": "call_1",
              "gen_ai.tool.call.arguments": '{"amount":"a lot"}',
              "toolspan.tool.outcome": "invalid_arguments"
            }
          }
        ]
      })
      assert.deepStrictEqual(yield* Metrics.values("toolspan.tool.calls"), { "refund/invalid_arguments": 1 })
    }).pipe(Effect.provide(observed([[toolCall("call_1", "refund", { amount: "a lot" })]])))
  )

  it.effect("that fails because a decided tool is gone is counted as a call of an unknown tool", () =>
    Effect.gen(function* () {
      const prompt = Prompt.fromMessages([
        Prompt.assistantMessage({
          content: [
            Prompt.toolCallPart({ id: "call_1", name: "gone", params: {}, providerExecuted: false }),
            Prompt.toolApprovalRequestPart({ approvalId: "a_1", toolCallId: "call_1" })
          ]
        }),
        Prompt.toolMessage({
          content: [Prompt.toolApprovalResponsePart({ approvalId: "a_1", approved: true })]
        })
      ])
      yield* Effect.exit(Payments.turn(method, prompt))
      yield* expectTrees({
        name: turnSpan,
        status: "error",
        attributes: { "error.type": "ToolNotFoundError" },
        // Nothing was done about the decision: the next turn has it still.
        children: []
      })
      assert.deepStrictEqual(yield* Metrics.values("toolspan.tool.calls"), { "_OTHER/unknown_tool": 1 })
    }).pipe(Effect.provide(observed([])))
  )

  it.effect("leaves calls to a loop that resolves them itself, which finds their origin in their stamp", () =>
    Effect.gen(function* () {
      const options = {
        prompt: "go",
        toolkit: Payments.toolkit,
        disableToolCallResolution: true,
        toolCallValidation: "deferred"
      } as const
      const answer: Effect.Effect<ReadonlyArray<Payments.Part>, unknown, Services> = method === "generateText"
        ? Effect.map(LanguageModel.generateText(options), ({ content }) => content)
        : Stream.runCollect(LanguageModel.streamText(options))
      const parts = yield* Effect.orDie(answer).pipe(Effect.withSpan("ask"))
      const { handle } = yield* ToolkitInstrumentation.instrument(Payments.toolkit)
      // The boundary of a loop of one's own: names that a model makes up are no names of tools.
      const run = handle as unknown as (
        name: string,
        params: unknown,
        id: string
      ) => Effect.Effect<Stream.Stream<unknown, unknown>, unknown>
      for (const part of parts) {
        if (part.type !== "tool-call") continue
        yield* Effect.exit(
          collect(run(part.name, part.params, part.id)).pipe(
            Effect.provideService(ToolCallOrigin, ToolCallContext.origin(part)),
            Effect.withSpan("resolve")
          )
        )
      }
      const resolving = (yield* recorded).byName("resolve")
      yield* expectTrees(
        {
          name: "ask",
          children: [
            {
              name: turnSpan,
              status: "ok",
              events: [],
              children: [
                {
                  name: "execute_tool balance",
                  links: [{ to: required(resolving[0]) }],
                  attributes: { "toolspan.tool.outcome": "success" }
                },
                {
                  name: "execute_tool",
                  status: "error",
                  links: [{ to: required(resolving[1]) }],
                  attributes: {
                    "gen_ai.tool.name": "no_such_tool",
                    "gen_ai.tool.call.id": "call_2",
                    "toolspan.tool.outcome": "unknown_tool"
                  }
                }
              ]
            }
          ]
        },
        { name: "resolve" },
        { name: "resolve" }
      )
      assert.deepStrictEqual(yield* Metrics.values("toolspan.tool.streak"), {}, "is for whoever resolves")
    }).pipe(
      Effect.provide(observed([[toolCall("call_1", "balance", {}), toolCall("call_2", "no_such_tool", {})]]))
    )
  )

  it.effect("whose needsApproval dies fails; that call never runs, and its siblings' spans end", () =>
    Effect.gen(function* () {
      let runs = 0
      const Guarded = Tool.make("guarded", {
        success: Schema.Void,
        needsApproval: () => Effect.die(new RangeError("no policy"))
      })
      const Sibling = Tool.make("sibling", { success: Schema.Void })
      const kit = Toolkit.make(Sibling, Guarded)
      const handlers = kit.toLayer({ guarded: () => Effect.sync(() => runs++), sibling: () => Effect.never })
      const exit = yield* Effect.exit(
        (method === "generateText"
          ? Effect.asVoid(LanguageModel.generateText({ prompt: "go", toolkit: kit }))
          : Stream.runDrain(LanguageModel.streamText({ prompt: "go", toolkit: kit }))
        ).pipe(Effect.provide(handlers))
      )
      assert.isTrue(Exit.isFailure(exit))
      assert.strictEqual(runs, 0)
      yield* expectTrees({
        name: turnSpan,
        status: "error",
        attributes: { "error.type": "RangeError" },
        children: [
          {
            name: "execute_tool sibling",
            // Upstream closes the results of the one, and interrupts the fiber of the other.
            attributes: {
              "toolspan.tool.outcome": method === "generateText" ? "abandoned" : "cancelled"
            }
          }
        ]
      })
    }).pipe(
      Effect.provide(observed([[toolCall("call_1", "sibling", {}), toolCall("call_2", "guarded", {})]]))
    )
  )

  it.effect("tells how often a tool was called since the user last said something", () =>
    Effect.gen(function* () {
      let prompt = Prompt.make("go")
      for (let n = 0; n < 3; n++) prompt = Payments.after(prompt, yield* Payments.turn(method, prompt))
      assert.deepStrictEqual(yield* Metrics.values("toolspan.tool.streak"), {
        balance: 2 + 3 + 4,
        refund: 1
      })
      yield* Payments.turn(method, Prompt.concat(prompt, Prompt.make("and now?")))
      assert.deepStrictEqual(yield* Metrics.values("toolspan.tool.streak"), {
        balance: 2 + 3 + 4 + 1,
        refund: 1
      })
    }).pipe(
      Effect.provide(
        observed([
          [toolCall("call_1", "balance", {}), toolCall("call_2", "balance", {})],
          [toolCall("call_3", "balance", {}), toolCall("call_4", "refund", { amount: 1 })],
          [toolCall("call_5", "balance", {})],
          [toolCall("call_6", "balance", {})]
        ])
      )
    )
  )

  it.effect("captures messages and tool definitions only if the content policy says so, secrets masked", () =>
    Effect.gen(function* () {
      const prompt = Prompt.make([
        { role: "system", content: "Be brief." },
        { role: "user", content: "my key is sk-live-4f1c9a7be2d05836" },
        {
          role: "assistant",
          content: [
            { type: "tool-call", id: "call_0", name: "pay", params: { amount: 5 }, providerExecuted: false }
          ]
        },
        {
          role: "tool",
          content: [{ type: "tool-result", id: "call_0", name: "pay", isFailure: false, result: "paid 5" }]
        }
      ])
      yield* Payments.turn(method, prompt)
      const attributes = yield* attributesOf(turnSpan)
      const json = (key: string): unknown => JSON.parse(String(attributes[key]))
      assert.deepStrictEqual(json("gen_ai.system_instructions"), [{ type: "text", content: "Be brief." }])
      assert.deepStrictEqual(json("gen_ai.input.messages"), [
        { role: "user", parts: [{ type: "text", content: "my key is [REDACTED]" }] },
        { role: "assistant", parts: [{ type: "tool_call", id: "call_0", name: "pay" }] },
        { role: "tool", parts: [{ type: "tool_call_response", id: "call_0" }] }
      ])
      assert.deepStrictEqual(json("gen_ai.output.messages"), [
        {
          role: "assistant",
          parts: [
            { type: "text", content: "it is low" },
            { type: "tool_call", id: "call_1", name: "balance" }
          ]
        }
      ])
      assert.match(
        String(attributes["gen_ai.tool.definitions"]),
        /^\[\{"type":"function","name":"pay","parameters":\{"type":"object","properties":\{"amount":/
      )
    }).pipe(
      Effect.provide(
        observed([[text("it is low"), toolCall("call_1", "balance", {})]], {
          content: { messages: "redacted", descriptions: "redacted" }
        })
      )
    )
  )

  it.effect("shows of a long conversation the latest messages, and no more than the cap", () =>
    Effect.gen(function* () {
      const messages = Array.from({ length: 1000 }, (_, n) => ({
        role: "user" as const,
        content: `message ${n}`
      }))
      yield* Payments.turn(method, messages)
      const shown = String((yield* attributesOf(turnSpan))["gen_ai.input.messages"])
      assert.include(shown, "message 999")
      assert.notInclude(shown, 'message 0"')
      assert.isAtMost(Buffer.byteLength(shown), 4096)
    }).pipe(Effect.provide(observed([[text("x".repeat(100_000))]], { content: { messages: "full" } })))
  )
})

describe("tools that the provider executes", () => {
  const search = [
    toolCall("srv_1", "web_search", { query: "effect" }, { providerExecuted: true }),
    toolResult("srv_1", "web_search", { hits: 3 })
  ]
  const call = { "gen_ai.tool.name": "web_search", "gen_ai.tool.call.id": "srv_1" }

  it.effect("have a span from call to result when the answer is streamed", () =>
    Effect.gen(function* () {
      const called = yield* Latch.make()
      const reading = yield* LanguageModel.streamText({ prompt: "go", toolkit: Payments.searchable }).pipe(
        Stream.tap((part) => (part.type === "tool-call" ? called.open : Effect.void)),
        Stream.runCollect,
        Effect.forkChild
      )
      yield* called.await
      yield* TestClock.adjust("3 seconds")
      const parts = yield* Fiber.join(reading)
      yield* expectTrees({
        name: "LanguageModel.streamText",
        events: [],
        children: [
          {
            name: "execute_tool web_search",
            kind: "internal",
            status: "ok",
            attributes: {
              ...call,
              "gen_ai.tool.type": "extension",
              "gen_ai.tool.call.arguments": '{"query":"effect"}',
              "toolspan.tool.provider_executed": true,
              "toolspan.tool.outcome": "success"
            }
          }
        ]
      })
      assert.deepStrictEqual(yield* Metrics.values("gen_ai.execute_tool.duration"), {
        "web_search/extension": 3
      })
      assert.deepStrictEqual(yield* Metrics.values("toolspan.tool.calls"), { "web_search/success": 1 })
      const [stamped] = parts
      assert.deepStrictEqual(stamped?.metadata, {}, "nobody will run it later")
    }).pipe(
      Effect.provide(
        provided({
          streamText: () =>
            Stream.make(...search, finish("stop")).pipe(
              Stream.rechunk(1),
              Stream.tap((part) => (part.type === "tool-result" ? Effect.sleep("3 seconds") : Effect.void))
            )
        })
      )
    )
  )

  it.effect("are an event of the turn when it is not, since their times are not known", () =>
    Effect.gen(function* () {
      yield* LanguageModel.generateText({ prompt: "go", toolkit: Payments.searchable })
      yield* expectTrees({
        name: "LanguageModel.generateText",
        events: [
          {
            name: "toolspan.tool.provider_executed",
            attributes: { ...call, "toolspan.tool.outcome": "success" }
          }
        ]
      })
      assert.deepStrictEqual(yield* Metrics.values("toolspan.tool.calls"), { "web_search/success": 1 })
      assert.deepStrictEqual(yield* Metrics.values("gen_ai.execute_tool.duration"), {})
    }).pipe(Effect.provide(observed([search])))
  )

  it.effect("end with the answer if their result never comes", () =>
    Effect.gen(function* () {
      yield* Stream.runDrain(LanguageModel.streamText({ prompt: "go", toolkit: Payments.searchable }))
      yield* expectTrees({
        name: "LanguageModel.streamText",
        children: [{ name: "execute_tool web_search", attributes: { "toolspan.tool.outcome": "abandoned" } }]
      })
    }).pipe(
      Effect.provide(
        observed([[toolCall("srv_1", "web_search", { query: "x" }, { providerExecuted: true })]])
      )
    )
  )
})

describe("a stream", () => {
  it.effect("gives each part out before the next one comes in", () =>
    Effect.gen(function* () {
      const next = yield* Latch.make()
      const first = yield* Deferred.make<string>()
      const parts: Stream.Stream<Response.StreamPartEncoded> = Stream.concat(
        Stream.make({ type: "text-start", id: "t" }, { type: "text-delta", id: "t", delta: "one" }),
        Stream.unwrap(Effect.as(next.await, Stream.make({ type: "text-end", id: "t" }, finish("stop"))))
      )
      const model = LanguageModelInstrumentation.instrument(
        yield* LanguageModel.make({ generateText: () => Effect.succeed([]), streamText: () => parts })
      )
      const reading = yield* model.streamText({ prompt: "go" }).pipe(
        Stream.runForEach((part) =>
          part.type === "text-delta" ? Deferred.succeed(first, part.delta) : Effect.void
        ),
        Effect.forkChild
      )
      assert.strictEqual(yield* Deferred.await(first), "one")
      const [turn] = (yield* recorded).spans
      assert.strictEqual(turn?.status._tag, "Started")
      yield* next.open
      yield* Fiber.join(reading)
      yield* expectTrees({ name: "LanguageModel.streamText", status: "ok" })
    }).pipe(Effect.provide(surroundings))
  )

  for (const [how, status] of [
    ["interrupted", "interrupted"],
    ["left by its reader", "ok"]
  ] as const) {
    it.effect(`that is ${how} in the middle ends its turn, its calls, and says what never started`, () =>
      Effect.gen(function* () {
        const seen = yield* Deferred.make<void>()
        const stream = LanguageModel.streamText({ prompt: "go", toolkit: Payments.toolkit })
        const reading = yield* (
          how === "interrupted"
            ? Stream.runForEach(stream, (part) =>
                part.type === "tool-call" && part.id === "call_2"
                  ? Deferred.succeed(seen, undefined)
                  : Effect.void
              )
            : Effect.andThen(Stream.runDrain(Stream.take(stream, 2)), Deferred.succeed(seen, undefined))
        ).pipe(Effect.forkChild)
        yield* Deferred.await(seen)
        yield* Fiber.interrupt(reading)
        yield* expectTrees({
          name: "LanguageModel.streamText",
          status,
          events: [
            {
              name: "toolspan.tool.not_started",
              attributes: { "gen_ai.tool.name": "balance", "gen_ai.tool.call.id": "call_2" }
            }
          ],
          children: [{ name: "execute_tool audit", attributes: { "toolspan.tool.outcome": "cancelled" } }]
        })
        assert.deepStrictEqual(yield* Metrics.values("toolspan.tool.calls"), {
          "audit/cancelled": 1,
          "balance/not_started": 1
        })
        assert.deepStrictEqual(yield* Metrics.values("toolspan.tool.active"), {})
      }).pipe(
        Effect.provide(
          provided({
            streamText: () =>
              Stream.make(toolCall("call_1", "audit", {}), toolCall("call_2", "balance", {})).pipe(
                Stream.rechunk(1),
                Stream.concat(Stream.never)
              )
          })
        )
      )
    )
  }

  it.effect("that the provider breaks off fails its turn, and what was running is cancelled", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(Payments.turn("streamText", "go"))
      assert.isTrue(Exit.isFailure(exit))
      yield* expectTrees({
        name: "LanguageModel.streamText",
        status: "error",
        attributes: { "error.type": "Error" },
        events: [{ name: "toolspan.tool.not_started" }],
        children: [{ name: "execute_tool audit", attributes: { "toolspan.tool.outcome": "cancelled" } }]
      })
    }).pipe(
      Effect.provide(
        provided({
          streamText: () =>
            Stream.make(toolCall("call_1", "audit", {}), toolCall("call_2", "balance", {})).pipe(
              Stream.rechunk(1),
              Stream.concat(Stream.die(new Error("connection lost")))
            )
        })
      )
    )
  )
})

const required = <A>(value: A | undefined): A => {
  if (value === undefined) throw new Error("not there")
  return value
}

/** For what is about the observer, not about one method. */
describe("a turn", () => {
  it.effect("of generateObject is observed like any other", () =>
    Effect.gen(function* () {
      const { value } = yield* LanguageModel.generateObject({
        prompt: "go",
        schema: Schema.Struct({ n: Schema.Number }),
        toolkit: Payments.toolkit
      })
      assert.deepStrictEqual(value, { n: 1 })
      yield* expectTrees({
        name: "LanguageModel.generateObject",
        attributes: {
          "effect.ai.object_name": "generateObject",
          "gen_ai.output.type": "json",
          "gen_ai.response.finish_reasons": ["tool-calls"]
        },
        children: [{ name: "execute_tool balance" }]
      })
    }).pipe(Effect.provide(observed([[text('{"n":1}'), toolCall("call_1", "balance", {})]])))
  )

  it.effect("that is tried again below the observer has a span for each attempt", () =>
    Effect.gen(function* () {
      for (const method of Payments.methods)
        yield* Payments.turn(method, "go").pipe(Effect.withSpan("request"))
      const attempts = (name: string) => ({
        name: "request",
        children: [
          { name, status: "error" as const, attributes: { "error.type": "Error" } },
          {
            name,
            attributes: { "gen_ai.operation.name": "chat" },
            children: [{ name: "execute_tool balance", links: [] }]
          }
        ]
      })
      yield* expectTrees(attempts("LanguageModel.generateText"), attempts("LanguageModel.streamText"))
    }).pipe(
      Effect.provide(
        (() => {
          const answer = [toolCall("call_1", "balance", {}), finish("tool-calls")]
          let requests = 0
          return provided(
            {
              generateText: () =>
                requests++ % 2 === 0 ? Effect.die(new Error("down")) : Effect.succeed(answer),
              streamText: () =>
                requests++ % 2 === 0 ? Stream.die(new Error("down")) : Stream.fromIterable(answer)
            },
            (model) => retrying(model)
          )
        })()
      )
    )
  )

  it.effect("that a tool's handler starts is a turn of its own, below the call", () =>
    Effect.gen(function* () {
      const Delegate = Tool.make("delegate", { success: Schema.String })
      const kit = Toolkit.make(Delegate)
      const agent = LanguageModelInstrumentation.layer(ScriptedModel.layer([[text("sub")]]))
      const handlers = kit.toLayer({
        delegate: () =>
          LanguageModel.generateText({ prompt: "sub" }).pipe(
            Effect.map((response) => response.text),
            Effect.provide(agent),
            Effect.orDie
          )
      })
      yield* LanguageModel.generateText({ prompt: "go", toolkit: kit }).pipe(Effect.provide(handlers))
      yield* expectTrees({
        name: "LanguageModel.generateText",
        children: [{ name: "execute_tool delegate", children: [{ name: "LanguageModel.generateText" }] }]
      })
    }).pipe(Effect.provide(observed([[toolCall("call_1", "delegate", {})]])))
  )

  it.effect("of a model that opens no span itself has one all the same", () =>
    Effect.gen(function* () {
      const scripted = yield* ScriptedModel.make([[text("hi")]])
      const silent: LanguageModel.LanguageModel = Object.freeze(
        Object.create(scripted.model, {
          generateText: {
            value: (options: { readonly prompt: string }) =>
              Effect.withTracerEnabled(scripted.model.generateText(options), false)
          }
        })
      )
      const model = LanguageModelInstrumentation.instrument(silent)
      yield* model.generateText({ prompt: "go" })
      yield* expectTrees({ name: "LanguageModel.generateText", status: "ok" })
    }).pipe(Effect.provide(Layer.merge(surroundings, RecordedSpans.layer)))
  )

  it.effect("of a model that runs calls itself leaves their results alone", () =>
    Effect.gen(function* () {
      const answer = [
        toolCall("call_1", "balance", {}),
        { type: "tool-result", id: "call_1", name: "balance", isFailure: false, result: "1 EUR" } as const,
        finish("stop")
      ]
      const { model } = yield* ScriptedModel.make([answer])
      yield* LanguageModelInstrumentation.instrument(model).generateText({
        prompt: "go",
        toolkit: Payments.toolkit,
        disableToolCallResolution: true
      })
      yield* expectTrees({ name: "LanguageModel.generateText", events: [] })
      assert.deepStrictEqual(yield* Metrics.values("toolspan.tool.calls"), {})
    }).pipe(Effect.provide(surroundings))
  )

  it.effect("has one span a call if the toolkit is instrumented as well, and its own options win", () =>
    Effect.gen(function* () {
      const kit = ToolkitInstrumentation.instrument(Payments.toolkit, {
        agentName: "inner",
        content: { results: "full" }
      })
      yield* Payments.turn("generateText", "go", kit)
      yield* expectTrees({
        name: "LanguageModel.generateText",
        attributes: { "gen_ai.agent.name": "outer" },
        children: [
          {
            name: "execute_tool balance",
            attributes: { "gen_ai.agent.name": "inner", "gen_ai.tool.call.result": '{"result":"12 EUR"}' }
          }
        ]
      })
      assert.deepStrictEqual(yield* Metrics.values("toolspan.tool.calls"), { "balance/inner/success": 1 })
    }).pipe(
      Effect.provide(
        observed([[toolCall("call_1", "balance", {})]], { agentName: "outer", content: { arguments: "off" } })
      )
    )
  )

  for (const [form, make] of [
    ["a WithHandler", Effect.map(Payments.toolkit, (withHandler) => withHandler)],
    ["an effect of a WithHandler", Effect.map(Payments.toolkit, (withHandler) => Effect.succeed(withHandler))]
  ] as const) {
    it.effect(`instruments ${form}, too`, () =>
      Effect.gen(function* () {
        const kit = yield* make
        yield* LanguageModel.generateText({ prompt: "go", toolkit: kit })
        yield* expectTrees({
          name: "LanguageModel.generateText",
          children: [{ name: "execute_tool balance" }]
        })
      }).pipe(Effect.provide(observed([[toolCall("call_1", "balance", {})]])))
    )
  }

  it.effect("is not observed where nobody traces, but its tools are counted", () =>
    Effect.gen(function* () {
      const parts = yield* Payments.turn("generateText", "go")
      const [call] = parts
      assert.deepStrictEqual(call?.metadata, {}, "no stamp")
      assert.deepStrictEqual(yield* Metrics.values("toolspan.tool.calls"), { "balance/success": 1 })
    }).pipe(
      Effect.provide(
        Layer.mergeAll(
          LanguageModelInstrumentation.layer(ScriptedModel.layer([[toolCall("call_1", "balance", {})]])),
          Payments.handlers,
          Metrics.layer
        )
      )
    )
  )

  it.effect("is never stamped with ids that are none: tracing may be turned off below", () =>
    Effect.gen(function* () {
      const [call] = yield* Payments.turn("generateText", "go").pipe(Effect.withTracerEnabled(false))
      assert.deepStrictEqual(call?.metadata, {})
      yield* expectTrees()
    }).pipe(Effect.provide(observed([[toolCall("call_1", "balance", {})]])))
  )

  it.effect("counts nothing if metrics are off", () =>
    Effect.gen(function* () {
      yield* Payments.turn("generateText", "go")
      for (const id of ["toolspan.tool.calls", "toolspan.tool.streak", "toolspan.approval.requests"]) {
        assert.deepStrictEqual(yield* Metrics.values(id), {})
      }
    }).pipe(
      Effect.provide(
        observed([[toolCall("call_1", "balance", {}), toolCall("call_2", "pay", { amount: 1 })]], {
          metrics: false
        })
      )
    )
  )
})

describe("LanguageModelInstrumentation", () => {
  it.effect("keeps two models apart: it is a function of a layer", () =>
    Effect.gen(function* () {
      const ask = Effect.map(LanguageModel.generateText({ prompt: "go" }), (response) => response.text)
      const first = LanguageModelInstrumentation.layer(ScriptedModel.layer([[text("first")]]))
      const second = LanguageModelInstrumentation.layer(ScriptedModel.layer([[text("second")]]))
      const answers = yield* Effect.all([Effect.provide(ask, first), Effect.provide(ask, second)])
      assert.deepStrictEqual(answers, ["first", "second"])
    })
  )

  it.effect("returns a model that is instrumented already as it is", () =>
    Effect.gen(function* () {
      const { model } = yield* ScriptedModel.make([])
      const instrumented = LanguageModelInstrumentation.instrument(model)
      assert.strictEqual(LanguageModelInstrumentation.instrument(instrumented), instrumented)
    })
  )

  it("refuses options that are not meant", () => {
    assert.throws(
      () => LanguageModelInstrumentation.layer(ScriptedModel.layer([]), { agentName: "" }),
      'LanguageModelInstrumentation.layer: option "agentName" is ""; allowed: a non-empty string'
    )
  })
})

/** A model that tries every request twice. */
const retrying = (model: LanguageModel.LanguageModel): LanguageModel.LanguageModel => {
  // The boundary of a decorator: it passes on whatever it is given.
  const { generateText, streamText } = model as unknown as Record<
    "generateText" | "streamText",
    (options: object) => unknown
  >
  return {
    ...model,
    generateText: (options: object) => {
      const answer = generateText(options) as Effect.Effect<unknown>
      return Effect.catchDefect(answer, () => answer)
    },
    streamText: (options: object) => {
      const answer = streamText(options) as Stream.Stream<unknown>
      return Stream.catchCause(answer, () => answer)
    }
  } as unknown as LanguageModel.LanguageModel
}
