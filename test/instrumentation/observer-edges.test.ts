/** What a model makes up, what stands between the observer and the model, and what happens twice. */
import { assert, describe, it } from "@effect/vitest"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Stream from "effect/Stream"
import * as ContentPolicy from "../../src/content/ContentPolicy.ts"
import * as LanguageModelInstrumentation from "../../src/instrumentation/LanguageModelInstrumentation.ts"
import * as Approval from "../../src/propagation/Approval.ts"
import type * as ExpectedTree from "../../src/testing/ExpectedTree.ts"
import * as RecordedSpans from "../../src/testing/RecordedSpans.ts"
import * as ScriptedModel from "../../src/testing/ScriptedModel.ts"
import * as Metrics from "../support/Metrics.ts"
import * as Payments from "../support/Payments.ts"

const { finish, text, toolCall, toolResult } = ScriptedModel
const { instrument } = LanguageModelInstrumentation

const surroundings = Layer.mergeAll(Payments.handlers, RecordedSpans.layer, Metrics.layer)

const scripted = (...turns: ReadonlyArray<ScriptedModel.Turn>) =>
  Effect.map(ScriptedModel.make(turns), ({ model }) => model)

const expectTrees = (...trees: ReadonlyArray<ExpectedTree.ExpectedTree>) =>
  Effect.map(RecordedSpans.RecordedSpans, (spans) => RecordedSpans.expectTrees(spans, trees))

const ask = (model: LanguageModel.LanguageModel, prompt: Prompt.RawInput = "go") =>
  Effect.orDie(model.generateText({ prompt, toolkit: Payments.toolkit }))

/** A model with another way to answer. */
const decorated = (
  model: LanguageModel.LanguageModel,
  change: (
    answer: Effect.Effect<LanguageModel.GenerateTextResponse<never>>
  ) => Effect.Effect<unknown, unknown>
): LanguageModel.LanguageModel =>
  // The boundary of a decorator: it passes on whatever it is given.
  ({
    ...model,
    generateText: (options: never) => change(model.generateText(options) as never)
  }) as unknown as LanguageModel.LanguageModel

describe("ids that a model gives twice, or leaves empty,", () => {
  it.effect("each stand for a call of their own", () =>
    Effect.gen(function* () {
      const model = instrument(
        yield* scripted([
          toolCall("", "balance", {}),
          toolCall("", "pay", { amount: 1 }),
          toolCall("", "balance", {}),
          finish("length")
        ])
      )
      yield* ask(model)
      assert.deepStrictEqual(yield* Metrics.values("toolspan.tool.calls"), {
        "balance/not_started": 2,
        "pay/not_started": 1
      })
    }).pipe(Effect.provide(surroundings))
  )

  it.effect("are asked for under their own names", () =>
    Effect.gen(function* () {
      const model = instrument(
        yield* scripted([toolCall("c", "pay", { amount: 1 }), toolCall("c", "bounce", { amount: 1 })])
      )
      yield* ask(model)
      assert.deepStrictEqual(yield* Metrics.values("toolspan.approval.requests"), { pay: 1, bounce: 1 })
    }).pipe(Effect.provide(surroundings))
  )

  it.effect("leave no call of the provider open", () =>
    Effect.gen(function* () {
      const call = toolCall("x", "web_search", { query: "a" }, { providerExecuted: true })
      const result = toolResult("x", "web_search", { hits: 1 })
      const model = instrument(yield* scripted([call, call, result, result]))
      yield* Stream.runDrain(model.streamText({ prompt: "go", toolkit: Payments.searchable }))
      yield* expectTrees({
        name: "LanguageModel.streamText",
        events: [],
        children: [{ name: "execute_tool web_search" }, { name: "execute_tool web_search" }]
      })
      assert.deepStrictEqual(yield* Metrics.values("toolspan.tool.active"), {})
    }).pipe(Effect.provide(surroundings))
  )
})

describe("a call that the provider would execute, and asks about,", () => {
  it.effect("waits under its own name, and has not begun", () =>
    Effect.gen(function* () {
      const parts: ReadonlyArray<Response.PartEncoded> = [
        toolCall("m1", "web_search", { query: "a" }, { providerExecuted: true }),
        { type: "tool-approval-request", toolCallId: "m1", approvalId: "mcpr_1" },
        finish("stop")
      ]
      const model = instrument(yield* scripted(parts))
      yield* model.generateText({ prompt: "go", toolkit: Payments.searchable })
      yield* expectTrees({
        name: "LanguageModel.generateText",
        events: [{ name: "toolspan.approval.requested", attributes: { "gen_ai.tool.name": "web_search" } }]
      })
      assert.deepStrictEqual(yield* Metrics.values("toolspan.tool.calls"), {})
    }).pipe(Effect.provide(surroundings))
  )
})

describe("who stands between the observer and the model", () => {
  it.effect("may copy the answer: its calls are stamped all the same", () =>
    Effect.gen(function* () {
      const model = instrument(
        decorated(yield* scripted([toolCall("c", "pay", { amount: 1 })]), (answer) =>
          Effect.map(answer, ({ content }) => new LanguageModel.GenerateTextResponse(content.slice()))
        )
      )
      const { toolCalls } = yield* ask(model)
      assert.property(toolCalls[0]?.metadata, "toolspan")
    }).pipe(Effect.provide(surroundings))
  )

  it.effect("may keep a streamed answer back: no span stays open", () =>
    Effect.gen(function* () {
      const base = yield* scripted([toolCall("p", "web_search", { query: "a" }, { providerExecuted: true })])
      const keeping = {
        ...base,
        streamText: (options: never) =>
          Stream.unwrap(
            Effect.map(Stream.runCollect(base.streamText(options) as Stream.Stream<unknown>), (parts) =>
              Stream.fromIterable(parts)
            )
          )
      } as unknown as LanguageModel.LanguageModel
      yield* Stream.runDrain(instrument(keeping).streamText({ prompt: "go", toolkit: Payments.searchable }))
      yield* expectTrees({ name: "LanguageModel.streamText" })
      assert.deepStrictEqual(yield* Metrics.values("toolspan.tool.active"), {})
    }).pipe(Effect.provide(surroundings))
  )

  it.effect("may ask another model about the answer: that is a turn below", () =>
    Effect.gen(function* () {
      const judge = yield* scripted([text("fine")])
      const model = instrument(
        decorated(yield* scripted([text("hi")]), (answer) =>
          Effect.tap(answer, () => Effect.orDie(judge.generateText({ prompt: "judge" })))
        )
      )
      yield* ask(model)
      yield* expectTrees({
        name: "LanguageModel.generateText",
        children: [{ name: "LanguageModel.generateText" }]
      })
    }).pipe(Effect.provide(surroundings))
  )

  it.effect("sees the tools and the words that it was given", () =>
    Effect.gen(function* () {
      const base = yield* scripted([text("hi")])
      let seen: unknown
      const looking = {
        ...base,
        generateText: (options: {
          readonly prompt: unknown
          readonly toolkit: { readonly tools: object }
        }) => {
          seen = [options.prompt, Object.keys(options.toolkit.tools)]
          return base.generateText(options as never)
        }
      } as unknown as LanguageModel.LanguageModel
      yield* ask(instrument(looking))
      assert.deepStrictEqual(seen, ["go", Object.keys(Payments.toolkit.tools)])
    }).pipe(Effect.provide(surroundings))
  )

  it.effect("may set a tracer of its own: handlers have that one", () =>
    Effect.gen(function* () {
      const own = yield* RecordedSpans.make
      let seen: unknown
      const Look = Payments.Balance
      const kit = Toolkit.make(Look)
      const handlers = kit.toLayer({
        balance: () =>
          Effect.map(Effect.tracer, (tracer) => {
            seen = tracer
            return ""
          })
      })
      const model = instrument(
        decorated(yield* scripted([toolCall("a", "balance", {})]), Effect.withTracer(own.tracer))
      )
      yield* model.generateText({ prompt: "go", toolkit: kit }).pipe(Effect.provide(handlers))
      assert.strictEqual(seen, own.tracer)
    }).pipe(Effect.provide(surroundings))
  )

  it.effect("may observe it, too: all is said once", () =>
    Effect.gen(function* () {
      const inner = instrument(
        yield* scripted([toolCall("c", "pay", { amount: 1 }), toolCall("d", "balance", {})], [text("done")])
      )
      const outer = instrument(decorated(inner, (answer) => answer))
      const asked = yield* ask(outer)
      const prompt = Payments.after(Prompt.make("go"), asked.content)
      const no = yield* Approval.deny(Approval.pending(prompt)[0]?.approvalId ?? "")
      yield* ask(outer, Payments.decided(prompt, no))
      assert.deepStrictEqual(
        [
          yield* Metrics.values("toolspan.approval.requests"),
          yield* Metrics.values("toolspan.approval.pending"),
          yield* Metrics.values("toolspan.tool.calls"),
          yield* Metrics.values("toolspan.tool.streak")
        ],
        [{ pay: 1 }, {}, { "balance/success": 1, "pay/denied": 1 }, { pay: 1, balance: 1 }]
      )
    }).pipe(Effect.provide(surroundings))
  )

  it.effect(
    "may spread an observed model to replace a method: that is another one, and observed when asked to",
    () =>
      Effect.gen(function* () {
        const observed = instrument(yield* scripted())
        const fallback = yield* scripted([toolCall("a", "balance", {})])
        const model = instrument({ ...observed, generateText: fallback.generateText })
        yield* ask(model)
        yield* expectTrees({
          name: "LanguageModel.generateText",
          attributes: { "gen_ai.operation.name": "chat" },
          children: [{ name: "execute_tool balance" }]
        })
      }).pipe(Effect.provide(surroundings))
  )

  it("keeps the private parts of a model's class", () => {
    class Mine {
      #requests = 7
      extra: number | undefined
      requests() {
        return this.#requests
      }
    }
    // Only what is decorated matters to `instrument`.
    const mine = instrument(new Mine() as unknown as LanguageModel.LanguageModel) as unknown as Mine
    mine.extra = 1
    const { requests } = mine
    assert.deepStrictEqual([mine.requests(), mine.extra, mine.requests], [7, 1, requests])
  })
})

describe("a decision", () => {
  const asking = Effect.gen(function* () {
    const model = yield* scripted([toolCall("c", "pay", { amount: 1 })], [text("done")], [text("done")])
    return { model }
  })

  it.effect("is not used up by a turn that has no tools", () =>
    Effect.gen(function* () {
      const model = instrument((yield* asking).model)
      const prompt = Payments.after(Prompt.make("go"), (yield* ask(model)).content)
      const answered = Payments.decided(
        prompt,
        yield* Approval.deny(Approval.pending(prompt)[0]?.approvalId ?? "")
      )
      yield* Effect.exit(model.generateText({ prompt: answered }))
      assert.deepStrictEqual(yield* Metrics.values("toolspan.approval.decisions"), {})
      yield* ask(model, answered)
      assert.deepStrictEqual(yield* Metrics.values("toolspan.approval.decisions"), { "pay/denied": 1 })
      assert.deepStrictEqual(yield* Metrics.values("toolspan.tool.calls"), { "pay/denied": 1 })
    }).pipe(Effect.provide(surroundings))
  )

  it.effect("lowers what was raised, whoever asks and whoever acts on it", () =>
    Effect.gen(function* () {
      const { model } = yield* asking
      const uncounted = instrument(model, { metrics: false })
      const route = (name: string) => Effect.provideService(Metric.CurrentMetricAttributes, { route: name })
      const first = Payments.after(Prompt.make("go"), (yield* ask(uncounted)).content)
      const no = yield* Approval.deny(Approval.pending(first)[0]?.approvalId ?? "")
      yield* ask(instrument(model), Payments.decided(first, no))
      assert.deepStrictEqual(yield* Metrics.values("toolspan.approval.pending"), {})

      const other = instrument((yield* asking).model)
      const second = Payments.after(Prompt.make("go"), (yield* ask(other).pipe(route("/ask"))).content)
      const yes = yield* Approval.approve(Approval.pending(second)[0]?.approvalId ?? "")
      yield* ask(other, Payments.decided(second, yes)).pipe(route("/answer"))
      assert.deepStrictEqual(yield* Metrics.values("toolspan.approval.pending"), {})
    }).pipe(Effect.provide(surroundings))
  )

  it.effect("both yes and no, is told as both: upstream acts on both", () =>
    Effect.gen(function* () {
      const model = instrument((yield* asking).model)
      const prompt = Payments.after(Prompt.make("go"), (yield* ask(model)).content)
      const id = Approval.pending(prompt)[0]?.approvalId ?? ""
      yield* ask(model, Payments.decided(prompt, yield* Approval.approve(id), yield* Approval.deny(id)))
      assert.deepStrictEqual(yield* Metrics.values("toolspan.approval.decisions"), {
        "pay/approved": 1,
        "pay/denied": 1
      })
      assert.deepStrictEqual(yield* Metrics.values("toolspan.tool.calls"), {
        "pay/success": 1,
        "pay/denied": 1
      })
    }).pipe(Effect.provide(surroundings))
  )

  it.effect("without a stamp is told once, too, if its turn is tried again", () =>
    Effect.gen(function* () {
      const model = instrument(
        yield* scripted([toolCall("c", "pay", { amount: 1 })], () => Effect.die("down"), [text("done")])
      )
      const { content } = yield* ask(model)
      const prompt = Payments.after(
        Prompt.make("go"),
        content.map((part) => (part.type === "tool-call" ? { ...part, metadata: {} } : part))
      )
      const yes = yield* Approval.approve(Approval.pending(prompt)[0]?.approvalId ?? "")
      yield* Effect.exit(ask(model, Payments.decided(prompt, yes)))
      yield* ask(model, Payments.decided(prompt, yes))
      assert.deepStrictEqual(yield* Metrics.values("toolspan.approval.decisions"), { "pay/approved": 1 })
      assert.deepStrictEqual(yield* Metrics.values("toolspan.telemetry.dropped"), { no_stamp: 1 })
    }).pipe(Effect.provide(surroundings))
  )
})

describe("the content of a turn", () => {
  it.effect("keeps to what a tool says of its own", () =>
    Effect.gen(function* () {
      const Secret = Payments.Balance.annotate(ContentPolicy.ToolContent, { descriptions: "off" })
      const model = instrument(yield* scripted([text("hi")]), { content: { descriptions: "full" } })
      yield* model
        .generateText({ prompt: "go", toolkit: Toolkit.make(Secret, Payments.Audit) })
        .pipe(Effect.provide(Payments.handlers))
      const [turn] = (yield* RecordedSpans.RecordedSpans).spans
      const definitions: ReadonlyArray<object> = JSON.parse(
        String(turn?.attributes.get("gen_ai.tool.definitions"))
      )
      assert.deepStrictEqual(definitions[0], { type: "function", name: "balance" })
      assert.property(definitions[1], "parameters")
    }).pipe(Effect.provide(surroundings))
  )

  it.effect("keeps blocks apart that are streamed at once", () =>
    Effect.gen(function* () {
      const model = instrument(
        yield* LanguageModel.make({
          generateText: () => Effect.succeed([]),
          streamText: () =>
            Stream.make(
              { type: "text-start", id: "a" } as const,
              { type: "reasoning-start", id: "b" } as const,
              { type: "text-delta", id: "a", delta: "said" } as const,
              { type: "reasoning-delta", id: "b", delta: "thought" } as const
            )
        }),
        { content: { messages: "full" } }
      )
      yield* Stream.runDrain(model.streamText({ prompt: "go" }))
      const [turn] = (yield* RecordedSpans.RecordedSpans).spans
      assert.deepStrictEqual(JSON.parse(String(turn?.attributes.get("gen_ai.output.messages"))), [
        {
          role: "assistant",
          parts: [
            { type: "text", content: "said" },
            { type: "reasoning", content: "thought" }
          ]
        }
      ])
    }).pipe(Effect.provide(surroundings))
  )

  it.effect("is not in the failure of a span that upstream did not make", () =>
    Effect.gen(function* () {
      const model = instrument(
        decorated(yield* scripted(), () => Effect.fail(new Error("card of Ada refused")))
      )
      yield* Effect.exit(ask(model))
      yield* expectTrees({
        name: "LanguageModel.generateText",
        status: "error",
        description: "The model failed",
        attributes: { "error.type": "Error" }
      })
    }).pipe(Effect.provide(surroundings))
  )

  it.effect("is let go of when the span has ended, however long that waits to be exported", () =>
    Effect.gen(function* () {
      yield* ask(instrument(yield* scripted([text("hi")])))
      const [turn] = (yield* RecordedSpans.RecordedSpans).spans
      assert.strictEqual(turn?.end, Object.getPrototypeOf(turn).end)
    }).pipe(Effect.provide(surroundings))
  )
})
