import type * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Model from "effect/ai/Model"
import type * as Part from "effect/ai/Response"
import type * as Tool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import { describe, expectTypeOf, it } from "vitest"
import * as LanguageModelInstrumentation from "../../src/instrumentation/LanguageModelInstrumentation.ts"
import * as ToolkitInstrumentation from "../../src/instrumentation/ToolkitInstrumentation.ts"
import * as ScriptedModel from "../../src/testing/ScriptedModel.ts"
import type * as Payments from "../support/Payments.ts"
import { type OutOfStock, toolkit } from "../support/Toolkits.ts"

describe("types", () => {
  it("a toolkit has the type that it had, and so has what it evaluates to", () => {
    const instrumented = ToolkitInstrumentation.instrument(toolkit, { agentName: "clerk" })
    expectTypeOf(instrumented).toEqualTypeOf(toolkit)
    expectTypeOf<Effect.Success<typeof instrumented>>().toEqualTypeOf<
      Toolkit.WithHandler<typeof toolkit.tools>
    >()
  })

  it("a WithHandler has the type that it had", () => {
    const wrap = (withHandler: Toolkit.WithHandler<typeof toolkit.tools>) =>
      ToolkitInstrumentation.instrument(withHandler)
    expectTypeOf(wrap).returns.toEqualTypeOf<Toolkit.WithHandler<typeof toolkit.tools>>()
  })

  it("what is no toolkit is refused", () => {
    // @ts-expect-error a record of tools has no handlers
    const wrong = () => ToolkitInstrumentation.instrument(toolkit.tools)
    expectTypeOf(wrong).toBeFunction()
  })
})

describe("an instrumented model gives answers of the types that they had", () => {
  const { model } = Effect.runSync(ScriptedModel.make([]))
  const instrumented = LanguageModelInstrumentation.instrument(model, { agentName: "clerk" })
  const schema = Schema.Struct({ done: Schema.Boolean })

  type Tools = typeof toolkit.tools
  type Response<Mode extends Part.ToolParametersMode> = LanguageModel.GenerateTextResponse<Tools, Mode>

  it("and is itself of the type that it had", () => {
    expectTypeOf(instrumented).toEqualTypeOf<LanguageModel.LanguageModel>()
  })

  it("without a toolkit", () => {
    const options = { prompt: "go" }
    const text = instrumented.generateText(options)
    const stream = instrumented.streamText(options)
    const object = instrumented.generateObject({ ...options, schema })
    expectTypeOf(text).toEqualTypeOf(model.generateText(options))
    expectTypeOf(stream).toEqualTypeOf(model.streamText(options))
    expectTypeOf(object).toEqualTypeOf(model.generateObject({ ...options, schema }))
    type None = typeof Toolkit.empty.tools
    expectTypeOf(text).toEqualTypeOf<
      Effect.Effect<LanguageModel.GenerateTextResponse<None>, AiError.AiError>
    >()
    expectTypeOf(stream).toEqualTypeOf<Stream.Stream<Part.StreamPart<None>, AiError.AiError>>()
    expectTypeOf<Effect.Success<typeof object>["value"]>().toEqualTypeOf<{ readonly done: boolean }>()
  })

  it("with a toolkit", () => {
    const options = { prompt: "go", toolkit }
    const text = instrumented.generateText(options)
    const stream = instrumented.streamText(options)
    const object = instrumented.generateObject({ ...options, schema })
    expectTypeOf(text).toEqualTypeOf(model.generateText(options))
    expectTypeOf(stream).toEqualTypeOf(model.streamText(options))
    expectTypeOf(object).toEqualTypeOf(model.generateObject({ ...options, schema }))
    expectTypeOf(text).toEqualTypeOf<
      Effect.Effect<Response<"opaque">, AiError.AiError | OutOfStock, Tool.HandlersFor<Tools>>
    >()
  })

  it("with one of two toolkits", () => {
    const asking = (either: typeof toolkit | typeof Payments.toolkit) => {
      const options = { prompt: "go", toolkit: either }
      const text = instrumented.generateText(options)
      expectTypeOf(text).toEqualTypeOf(model.generateText(options))
      expectTypeOf(instrumented.streamText(options)).toEqualTypeOf(model.streamText(options))
      return text
    }
    expectTypeOf<Effect.Success<ReturnType<typeof asking>>>().toEqualTypeOf<
      LanguageModel.GenerateTextResponse<Tools | typeof Payments.toolkit.tools, "opaque">
    >()
    asking(toolkit)
  })

  it("where the calls are left to a loop of one's own, their validation deferred", () => {
    const options = {
      prompt: "go",
      toolkit,
      disableToolCallResolution: true,
      toolCallValidation: "deferred"
    } as const
    const text = instrumented.generateText(options)
    const stream = instrumented.streamText(options)
    const object = instrumented.generateObject({ ...options, schema })
    expectTypeOf(text).toEqualTypeOf(model.generateText(options))
    expectTypeOf(stream).toEqualTypeOf(model.streamText(options))
    expectTypeOf(object).toEqualTypeOf(model.generateObject({ ...options, schema }))
    expectTypeOf(text).toEqualTypeOf<Effect.Effect<Response<"deferred">, AiError.AiError>>()
  })

  it("in a layer that keeps what else it provides", () => {
    const openai = Model.make("openai", "gpt-5", Layer.succeed(LanguageModel.LanguageModel, model))
    expectTypeOf(LanguageModelInstrumentation.layer(openai)).toEqualTypeOf<
      Layer.Layer<LanguageModel.LanguageModel | Model.ProviderName | Model.ModelName>
    >()
  })

  it("in a layer that fails and needs what it did", () => {
    const made = Layer.effect(
      LanguageModel.LanguageModel,
      Effect.gen(function* () {
        const name = yield* Model.ModelName
        return name === "" ? yield* Effect.fail("no name" as const) : model
      })
    )
    expectTypeOf(LanguageModelInstrumentation.layer(made)).toEqualTypeOf(made)
  })

  it("and what is no model, or provides none, is refused", () => {
    const named = Layer.succeed(Model.ModelName, "gpt-5")
    // @ts-expect-error there is no model in it
    const withoutModel = () => LanguageModelInstrumentation.layer(named)
    // @ts-expect-error a layer is no model
    const noModel = () => LanguageModelInstrumentation.instrument(named)
    expectTypeOf(withoutModel).toBeFunction()
    expectTypeOf(noModel).toBeFunction()
  })
})
