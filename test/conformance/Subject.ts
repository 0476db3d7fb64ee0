/**
 * The `effect` that a program under comparison imports: the real one, except that what it makes is instrumented, that calls of `handle` are
 * counted outside of that, and that spans are recorded.
 */
import { assert } from "@effect/vitest"
import * as Root from "effect"
import * as Ai from "effect/ai"
import type * as LanguageModel from "effect/ai/LanguageModel"
import type * as Tool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Effectable from "effect/Effectable"
import { identity } from "effect/Function"
import * as Http from "effect/http"
import * as Tracer from "effect/Tracer"
import * as LanguageModelInstrumentation from "../../src/instrumentation/LanguageModelInstrumentation.ts"
import * as ToolkitInstrumentation from "../../src/instrumentation/ToolkitInstrumentation.ts"
import * as Attributes from "../../src/semconv/Attributes.ts"
import { RecordedSpan, RecordedSpans } from "../../src/testing/index.ts"
import type { Modules } from "./Program.ts"

/** What is done to each toolkit, and to each model. */
export interface Instrument {
  readonly toolkit: <T extends Toolkit.Any>(toolkit: T) => T
  readonly model: <M extends LanguageModel.LanguageModel>(model: M) => M
}

/** Of a plain run: nothing. */
export const plain: Instrument = { toolkit: identity, model: identity }

export const toolkits: Instrument = { ...plain, toolkit: ToolkitInstrumentation.instrument }
export const toolkitsAndModels: Instrument = { ...toolkits, model: LanguageModelInstrumentation.instrument }

export interface Subject {
  readonly modules: Modules
  readonly tracer: Tracer.Tracer
  /** How many toolkits the program made so far. */
  readonly toolkits: () => number
  /** How many models it made so far. */
  readonly models: () => number
  /** How many turns of them were observed so far. */
  readonly turns: () => number
  /** How often `handle` ran so far. */
  readonly calls: () => number
  /** The spans of tool calls so far. */
  readonly toolSpans: () => ReadonlyArray<RecordedSpan.RecordedSpan>
  /** All other spans so far. */
  readonly otherSpans: () => ReadonlyArray<RecordedSpan.RecordedSpan>
}

export const make = (instrument: Instrument): Effect.Effect<Subject> =>
  Effect.map(RecordedSpans.make, ({ spans, tracer }) => {
    let toolkits = 0
    let models = 0
    let calls = 0
    const subject = <Tools extends Record<string, Tool.Any>>(toolkit: Toolkit.Toolkit<Tools>) => {
      toolkits++
      return counting(instrument.toolkit(toolkit), () => calls++)
    }
    const makeModel: typeof LanguageModel.make = (provider) =>
      Effect.map(Ai.LanguageModel.make(provider), (model) => {
        models++
        return instrument.model(model)
      })
    const runPromise: typeof Effect.runPromise = (effect, options) =>
      Effect.runPromise(Effect.provideService(effect, Tracer.Tracer, tracer), options)
    return {
      modules: {
        effect: { ...Root, Effect: { ...Effect, runPromise } },
        "effect/ai": {
          ...Ai,
          LanguageModel: { ...Ai.LanguageModel, make: makeModel },
          Toolkit: {
            ...Ai.Toolkit,
            empty: instrument.toolkit(Ai.Toolkit.empty),
            make: (...tools: ReadonlyArray<Tool.Any>) => subject(Ai.Toolkit.make(...tools)),
            merge: (...toolkits: ReadonlyArray<Toolkit.Any>) => subject(Ai.Toolkit.merge(...toolkits))
          }
        },
        "effect/http": Http
      },
      tracer,
      toolkits: () => toolkits,
      models: () => models,
      turns: () => spans.filter(isObservedTurn).length,
      calls: () => calls,
      toolSpans: () => spans.filter(isToolSpan),
      otherSpans: () => spans.filter((span) => !isToolSpan(span))
    }
  })

const isToolSpan = ({ name }: RecordedSpan.RecordedSpan): boolean =>
  name.startsWith(Attributes.OPERATION_EXECUTE_TOOL)

/** Upstream itself says nothing of operations. */
const isObservedTurn = ({ attributes }: RecordedSpan.RecordedSpan): boolean =>
  attributes.get(Attributes.ATTR_GEN_AI_OPERATION_NAME) === Attributes.OPERATION_CHAT

/** Asserts one span for each call of `handle`, ended once. */
export const assertSpanPerCall = (subject: Subject): void => {
  const spans = subject.toolSpans()
  assert.strictEqual(spans.length, subject.calls(), "execute_tool spans, and calls of handle")
  for (const span of spans) {
    assert.notStrictEqual(RecordedSpan.status(span), "open", `${span.name} never ended`)
    assert.strictEqual(span.endCount, 1, `${span.name} ended more than once`)
  }
}

/** The toolkit, with `onCall` before each run of an effect that its `handle` gave. */
const counting = <Tools extends Record<string, Tool.Any>>(
  toolkit: Toolkit.Toolkit<Tools>,
  onCall: () => void
): Toolkit.Toolkit<Tools> => {
  const counted = Effect.map(
    toolkit,
    (withHandler): Toolkit.WithHandler<Tools> => ({
      ...withHandler,
      handle: (...args) => Effect.andThen(Effect.sync(onCall), withHandler.handle(...args))
    })
  )
  const evaluation = Effectable.Prototype<typeof counted>({ label: "Toolkit", evaluate: () => counted })
  return Object.setPrototypeOf(
    Object.assign(() => {}, evaluation),
    toolkit
  )
}
