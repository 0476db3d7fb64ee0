/** What goes wrong around the observer of a model costs telemetry, never the turn. */
import { assert, describe, it } from "@effect/vitest"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Response from "effect/ai/Response"
import * as Toolkit from "effect/ai/Toolkit"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import * as ContentPolicy from "../../src/content/ContentPolicy.ts"
import * as LanguageModelInstrumentation from "../../src/instrumentation/LanguageModelInstrumentation.ts"
import * as RecordedSpan from "../../src/testing/RecordedSpan.ts"
import * as RecordedSpans from "../../src/testing/RecordedSpans.ts"
import * as ScriptedModel from "../../src/testing/ScriptedModel.ts"
import * as Metrics from "../support/Metrics.ts"
import * as Payments from "../support/Payments.ts"

const { text, toolCall } = ScriptedModel

const call = toolCall("call_1", "balance", {})

const observed = (...turns: ReadonlyArray<ScriptedModel.Turn>) =>
  Layer.mergeAll(
    LanguageModelInstrumentation.layer(ScriptedModel.layer(turns), { content: { messages: "full" } }),
    Payments.handlers,
    Metrics.layer
  )

const resultsOf = (parts: ReadonlyArray<Payments.Part>) =>
  parts.flatMap((part) => (part.type === "tool-result" ? [part.result] : []))

class Broken extends RecordedSpan.RecordedSpan {
  override attribute(): void {
    throw new Error("tracer down")
  }
  override event(): void {
    throw new Error("tracer down")
  }
}

const tracers: Readonly<Record<string, Tracer.Tracer>> = {
  "opens no span": Tracer.make({
    span: () => {
      throw new Error("tracer down")
    }
  }),
  "makes frozen spans": Tracer.make({
    span: (options) => Object.freeze(new RecordedSpan.RecordedSpan(options))
  })
}

describe.each(Payments.methods)("a turn, with %s,", (method) => {
  it.effect("goes on where spans take no attributes and no events of ours", () =>
    Effect.gen(function* () {
      const spans: Array<Broken> = []
      const tracer = Tracer.make({
        span: (options) => {
          // Upstream writes on its own span without a guard: only spans of ours are broken.
          const Span = options.name.startsWith("LanguageModel") ? RecordedSpan.RecordedSpan : Broken
          const span = new Span(options)
          if (span instanceof Broken) spans.push(span)
          return span
        }
      })
      const parts = yield* Payments.turn(method, "go").pipe(Effect.provideService(Tracer.Tracer, tracer))
      assert.deepStrictEqual(resultsOf(parts), ["12 EUR"])
      assert.deepStrictEqual(
        spans.map(({ endCount }) => endCount),
        [1]
      )
    }).pipe(Effect.provide(observed([call])))
  )

  it.effect("goes on with a tracer that opens no span for the turn itself", () =>
    Effect.gen(function* () {
      let refused = 0
      const { spans, tracer } = yield* RecordedSpans.make
      const moody = Tracer.make({
        span: (options) => {
          if (options.name.startsWith("LanguageModel") && refused++ === 0) throw new Error("tracer down")
          return tracer.span(options)
        }
      })
      const parts = yield* Payments.turn(method, "go").pipe(Effect.provideService(Tracer.Tracer, moody))
      assert.deepStrictEqual(resultsOf(parts), ["12 EUR"])
      // Upstream's own span, which it asked for itself, and the call's.
      assert.deepStrictEqual(
        spans.map(({ endCount, name }) => [name, endCount]),
        [
          [`LanguageModel.${method}`, 1],
          ["execute_tool balance", 1]
        ]
      )
    }).pipe(Effect.provide(observed([call])))
  )

  it.effect("goes on with a policy that is none, and with a hook that throws", () =>
    Effect.gen(function* () {
      const none = yield* Payments.turn(method, "go").pipe(
        // What a program in plain JavaScript may provide.
        Effect.provideService(ContentPolicy.ContentPolicy, undefined as unknown as ContentPolicy.Policy)
      )
      assert.deepStrictEqual(resultsOf(none), ["12 EUR"])
      const throwing = ContentPolicy.make({
        messages: "full",
        redact: () => {
          throw new Error("hook down")
        }
      })
      const hooked = yield* Payments.turn(method, "go").pipe(
        Effect.provideService(ContentPolicy.ContentPolicy, throwing)
      )
      assert.deepStrictEqual(resultsOf(hooked), ["12 EUR"])
      const dropped = yield* Metrics.values("toolspan.telemetry.dropped")
      assert.deepStrictEqual(Object.keys(dropped), ["hook_failed"])
    }).pipe(
      Effect.provide(
        Layer.mergeAll(
          LanguageModelInstrumentation.layer(ScriptedModel.layer([[call], [call]])),
          Payments.handlers,
          Metrics.layer,
          RecordedSpans.layer
        )
      )
    )
  )

  it.effect("that is interrupted at any step ends its span, once", () =>
    Effect.gen(function* () {
      const { spans } = yield* RecordedSpans.RecordedSpans
      const model = LanguageModelInstrumentation.instrument(
        yield* LanguageModel.make({
          generateText: () => Effect.succeed([text("hi")]),
          streamText: () => Stream.make({ type: "text-start", id: "t" }, { type: "text-end", id: "t" })
        })
      )
      const ask =
        method === "generateText"
          ? Effect.asVoid(model.generateText({ prompt: "go" }))
          : Stream.runDrain(model.streamText({ prompt: "go" }))
      // Moves the scheduler's yield, where interruption gets its chance, through all steps of the turn.
      for (let steps = 900; steps < 1040; steps++) {
        const fiber = yield* Effect.forkChild(
          Effect.gen(function* () {
            for (let n = 0; n < steps; n++) yield* Effect.suspend(() => Effect.void)
            yield* ask
          })
        )
        yield* Effect.yieldNow
        yield* Fiber.interrupt(fiber)
      }
      assert.isAbove(spans.length, 0)
      for (const span of spans) {
        assert.strictEqual(span.endCount, 1, `${span.name}: ${RecordedSpan.status(span)}`)
      }
    }).pipe(Effect.provide(RecordedSpans.layer))
  )
})

describe("an observed model", () => {
  it.effect("runs a toolkit with an annotation that is not valid, and says so", () =>
    Effect.gen(function* () {
      const messages: Array<unknown> = []
      const Bad = Payments.Balance.annotate(
        ContentPolicy.ToolContent,
        // What a program in plain JavaScript may annotate.
        { results: "nonsense" } as unknown as ContentPolicy.Options
      )
      const { toolResults } = yield* LanguageModel.generateText({
        prompt: "go",
        toolkit: Toolkit.make(Bad)
      }).pipe(Effect.provide(Logger.layer([Logger.make(({ message }) => void messages.push(message))])))
      assert.strictEqual(toolResults[0]?.result, "12 EUR")
      assert.match(String(messages), /a toolkit is not instrumented.*Tool "balance".*nonsense/)
    }).pipe(Effect.provide(Layer.merge(observed([call]), RecordedSpans.layer)))
  )

  for (const [what, tracer] of Object.entries(tracers)) {
    it.effect(`answers as it does bare with a tracer that ${what}`, () =>
      Effect.gen(function* () {
        const run = (model: LanguageModel.LanguageModel) =>
          Effect.exit(model.generateText({ prompt: "go" })).pipe(
            Effect.map((exit) => JSON.stringify(exit).replace(/"toolspan":\{[^}]*\}/, "")),
            Effect.provideService(Tracer.Tracer, tracer)
          )
        const { model } = yield* ScriptedModel.make([[text("hi")], [text("hi")]])
        assert.strictEqual(yield* run(LanguageModelInstrumentation.instrument(model)), yield* run(model))
      })
    )
  }

  it.effect("may keep its answers, and freeze them: what is stamped is a copy", () =>
    Effect.gen(function* () {
      const part = Response.makePart("tool-call", {
        id: "call_1",
        name: "balance",
        params: {},
        providerExecuted: false
      })
      const answer = new LanguageModel.GenerateTextResponse<typeof Payments.toolkit.tools>(
        Object.freeze([part]) as unknown as []
      )
      const frozen = {
        ...(yield* ScriptedModel.make([])).model,
        generateText: () => Effect.succeed(answer)
        // A model of somebody's own making.
      } as unknown as LanguageModel.LanguageModel
      const observedModel = LanguageModelInstrumentation.instrument(frozen)
      const given = yield* observedModel.generateText({ prompt: "go" })
      assert.instanceOf(given, LanguageModel.GenerateTextResponse)
      assert.lengthOf(given.toolCalls, 1)
      assert.property(given.content[0]?.metadata, "toolspan")
      assert.deepStrictEqual(part.metadata, {})
    }).pipe(Effect.provide(RecordedSpans.layer))
  )

  it.effect("keeps turns of one model apart, however many run at once", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const model = LanguageModelInstrumentation.layer(
        Layer.effect(
          LanguageModel.LanguageModel,
          LanguageModel.make({
            generateText: ({ prompt }) =>
              Effect.as(Deferred.await(gate), [
                toolCall(JSON.stringify(prompt.content.at(-1)?.content), "balance", {})
              ]),
            streamText: () => Stream.empty
          })
        )
      )
      const fibers = yield* Effect.forEach(Array.from({ length: 50 }).keys(), (n) =>
        Payments.turn("generateText", `question ${n}`).pipe(
          Effect.withSpan(`request ${n}`),
          Effect.provide(Layer.merge(model, Payments.handlers)),
          Effect.forkChild
        )
      )
      yield* Deferred.succeed(gate, undefined)
      yield* Effect.forEach(fibers, Fiber.join)
      const recorded = yield* RecordedSpans.RecordedSpans
      RecordedSpans.expectTrees(
        recorded,
        fibers.map((_, n) => ({
          name: `request ${n}`,
          children: [
            {
              name: "LanguageModel.generateText",
              children: [
                {
                  name: "execute_tool balance",
                  attributes: {
                    "gen_ai.tool.call.id": (id: unknown) => String(id).includes(`"question ${n}"`)
                  }
                }
              ]
            }
          ]
        }))
      )
    }).pipe(Effect.provide(RecordedSpans.layer))
  )
})
