/**
 * The guides of `effect/ai` that are about tools, as they stand, with a scripted model in place of the vendor's: plain, with every toolkit
 * instrumented, and with the model as well, the same answer, the same prompts to the model, the same other spans, and one ended
 * `execute_tool` span for each call of `handle`.
 */
import { assert, describe, it } from "@effect/vitest"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Model from "effect/ai/Model"
import type * as Prompt from "effect/ai/Prompt"
import * as Tool from "effect/ai/Tool"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Tracer from "effect/Tracer"
import * as ToolCallContext from "../../src/propagation/ToolCallContext.ts"
import { type RecordedSpan, ScriptedModel } from "../../src/testing/index.ts"
import * as DocExamples from "./DocExamples.ts"
import type { Modules } from "./Program.ts"
import * as Subject from "./Subject.ts"

/** Stands in for `@effect/ai-openai`, of which there is no release for this effect: what the guides import of it. */
const vendor = (model: LanguageModel.LanguageModel): Modules => ({
  "@effect/ai-openai": {
    OpenAiClient: { layerConfig: () => Layer.empty },
    OpenAiLanguageModel: {
      model: (name: string) => Model.make("openai", name, Layer.succeed(LanguageModel.LanguageModel, model))
    },
    OpenAiTool: {
      WebSearch: Tool.providerDefined({
        id: "openai.web_search",
        customName: "WebSearch",
        providerName: "web_search"
      })
    }
  }
})

interface Guide {
  readonly file: string
  /** The service class that the guide exports, and the method of it to call with a question. */
  readonly service: string
  readonly method: string
  readonly turns: ReadonlyArray<ScriptedModel.Turn>
  /** How often `handle` runs. */
  readonly calls: number
}

const lastResults: ScriptedModel.Turn = ({ prompt }) => [
  ScriptedModel.text(JSON.stringify(prompt.content.filter(({ role }) => role === "tool").at(-1)?.content))
]

const guides: Readonly<Record<string, Guide>> = {
  "the guide on tools, which calls two in parallel": {
    file: "20_tools.ts",
    service: "ProductAssistant",
    method: "answer",
    turns: [
      [
        ScriptedModel.toolCall("c1", "SearchProducts", { query: "headphones" }),
        ScriptedModel.toolCall("c2", "GetInventory", { productId: "p-1" }),
        ScriptedModel.text("One moment.")
      ]
    ],
    calls: 2
  },
  "the guide on chats, whose agent loops until there are no calls": {
    file: "30_chat.ts",
    service: "AiAssistant",
    method: "agent",
    turns: [
      [ScriptedModel.toolCall("c1", "getCurrentTime", { id: "a" })],
      [
        ScriptedModel.toolCall("c2", "getCurrentTime", { id: "b" }),
        ScriptedModel.toolCall("c3", "getCurrentTime", { id: "c" })
      ],
      lastResults
    ],
    calls: 3
  }
}

/** What a guide exports as its service: its own types are not part of this compilation. */
type Exported = Context.Service<
  unknown,
  Record<string, (question: string) => Effect.Effect<unknown, unknown>>
> & {
  readonly layer: Layer.Layer<unknown>
}

const run = Effect.fn(function* ({ file, method, service, turns }: Guide, instrument: Subject.Instrument) {
  const subject = yield* Subject.make(instrument)
  const { model, requests } = yield* ScriptedModel.make(turns)
  const modules = { ...subject.modules, ...vendor(instrument.model(model)) }
  const exported = yield* Effect.promise(() => DocExamples.readGuide(file).run(modules, () => {}))
  // The boundary to code that is compiled here and now.
  const Assistant = exported[service] as Exported
  const answer = yield* Effect.flatMap(
    Assistant,
    (assistant) => assistant[method]?.("...") ?? Effect.die(method)
  ).pipe(Effect.provide(Assistant.layer), Effect.provideService(Tracer.Tracer, subject.tracer))
  return { answer, prompts: requests.map(({ prompt }) => unstamped(prompt)), subject }
})

/** A prompt as JSON, without the stamps of calls that an instrumented model asked for. */
const unstamped = (prompt: Prompt.Prompt): string =>
  JSON.stringify(prompt, (key, value: unknown) => (key === ToolCallContext.KEY ? undefined : value), 2)

const names = (spans: ReadonlyArray<RecordedSpan.RecordedSpan>) => spans.map((span) => span.name)

describe("effect's guides", () => {
  for (const [name, guide] of Object.entries(guides)) {
    for (const [what, instrument, turns] of [
      ["toolkits", Subject.toolkits, 0],
      ["toolkits and model", Subject.toolkitsAndModels, guide.turns.length]
    ] as const) {
      it.effect(`${name}, go the same way plain and with ${what} instrumented`, () =>
        Effect.gen(function* () {
          const plain = yield* run(guide, Subject.plain)
          const instrumented = yield* run(guide, instrument)
          assert.strictEqual(plain.prompts.length, guide.turns.length)
          assert.deepStrictEqual(instrumented.answer, plain.answer)
          assert.deepStrictEqual(instrumented.prompts, plain.prompts)
          assert.deepStrictEqual(
            [plain.subject.calls(), instrumented.subject.calls()],
            [guide.calls, guide.calls]
          )
          assert.deepStrictEqual(plain.subject.toolSpans(), [])
          assert.deepStrictEqual([plain.subject.turns(), instrumented.subject.turns()], [0, turns])
          assert.deepStrictEqual(names(instrumented.subject.otherSpans()), names(plain.subject.otherSpans()))
          Subject.assertSpanPerCall(instrumented.subject)
        })
      )
    }
  }
})
