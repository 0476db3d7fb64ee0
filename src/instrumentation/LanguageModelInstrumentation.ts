/**
 * Observes language models: the turns, and the calls of every toolkit that is handed to them. One layer traces a whole program whose tool
 * calls upstream resolves.
 *
 * The model stays the same model, with the same types, parts, order, timing and errors, but for a stamp among the metadata of tool calls. By
 * it a call that runs in a later turn, in whatever process, is traced where it was asked for; see `propagation/`. The span of a turn is
 * upstream's own; here it gets what the OpenTelemetry GenAI conventions say of it. Under a tracer that records for nobody, only toolkits are
 * instrumented.
 */
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as Response from "effect/ai/Response"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as ToolSpan from "../signals/ToolSpan.ts"
import { type CallOptions, type Method, ModelCall } from "./ModelCall.ts"
import { ObservedToolkits } from "./ObservedToolkits.ts"
import { type Options, validate } from "./Options.ts"
import * as ReadPrompt from "./ReadPrompt.ts"
import * as TurnTracer from "./TurnTracer.ts"
import * as View from "./View.ts"

export type { Options } from "./Options.ts"

/**
 * Instruments the model of a layer; whatever else the layer provides stays. The options are for all its calls, and for the toolkits that
 * are handed to it; a toolkit that was instrumented before keeps its own.
 *
 * Throws an `Error` that names the option, its value and what is allowed, if an option is wrong.
 */
export const layer = <A, E, R>(
  model: Layer.Layer<A | LanguageModel.LanguageModel, E, R>,
  options: Options = {}
): Layer.Layer<A | LanguageModel.LanguageModel, E, R> => {
  validate("LanguageModelInstrumentation.layer", options)
  return Layer.provideMerge(
    Layer.effect(
      LanguageModel.LanguageModel,
      Effect.map(LanguageModel.LanguageModel, (model) => instrument(model, options))
    ),
    model
  )
}

/** Instruments one model, as {@link layer} does. A model that is instrumented already is returned as it is. */
export const instrument = <M extends LanguageModel.LanguageModel>(model: M, options: Options = {}): M => {
  validate("LanguageModelInstrumentation.instrument", options)
  if (observed.has(model)) return model
  const toolkits = new ObservedToolkits(options)
  // The boundary where the types of prompts and tools end: each method takes and gives what it did.
  const original = model as unknown as Model
  const instrumented = View.withMembers(original, {
    generateText: generating(original, "generateText", toolkits),
    generateObject: generating(original, "generateObject", toolkits),
    streamText: streaming(original, toolkits)
  })
  // Not for whoever spreads it to replace a method: that is another model.
  observed.add(instrumented)
  return instrumented as unknown as M
}

/** A brand that nothing copies. */
const observed = new WeakSet<object>()

type Generate = (options: CallOptions) => Effect.Effect<unknown, unknown>

/** A model, seen from where the types of prompts and tools do not matter. */
interface Model {
  readonly generateText: Generate
  readonly generateObject: Generate
  readonly streamText: (options: CallOptions) => Stream.Stream<Response.AnyPart, unknown>
}

const generating =
  (model: Model, method: Exclude<Method, "streamText">, toolkits: ObservedToolkits): Generate =>
  (options) =>
    Effect.withFiber((fiber) => {
      const { call, given } = begin(method, options, toolkits, fiber)
      if (call === undefined) return model[method](given)
      // The fiber may be interrupted at any step from now on, also before the next one.
      const forget = fiber.addObserver((exit) => call.end(exit))
      const answer = Effect.provideContext(model[method](call.options), call.services)
      return Effect.onExitPrimitive(
        Effect.map(answer, (response) => call.answer(response)),
        (exit) => {
          forget()
          if (exit._tag === "Failure") call.failed(exit.cause)
          call.end(exit)
          return undefined
        }
      )
    })

const streaming =
  (model: Model, toolkits: ObservedToolkits): Model["streamText"] =>
  (options) =>
    Stream.unwrap(
      Effect.map(
        Effect.acquireRelease(
          Effect.withFiber((fiber) => Effect.succeed(begin("streamText", options, toolkits, fiber))),
          ({ call }, exit) => Effect.sync(() => call?.end(exit))
        ),
        ({ call, given }) =>
          call === undefined
            ? model.streamText(given)
            : Stream.mapArray(
                Stream.provideContext(model.streamText(call.options), call.services).pipe(
                  Stream.tapCause((cause) => Effect.sync(() => call.failed(cause)))
                ),
                // What comes out is as long as what goes in.
                (parts) => call.chunk(parts) as typeof parts
              )
      )
    )

/** The call, if somebody traces; else what the model is given in its place. */
const begin = (
  method: Method,
  options: CallOptions,
  toolkits: ObservedToolkits,
  fiber: Fiber.Fiber<unknown, unknown>
): { readonly call: ModelCall | undefined; readonly given: CallOptions } => {
  const tracer = ToolSpan.activeTracer(fiber)
  if (tracer === undefined) return { call: undefined, given: untraced(options, toolkits) }
  // Observed already, by somebody above who decorated an observed model.
  if (TurnTracer.isAwaited(tracer, `LanguageModel.${method}`, fiber.cache.span)) {
    return { call: undefined, given: options }
  }
  const given = { ...options, prompt: ReadPrompt.read(options.prompt) }
  const call = ModelCall.start(toolkits, method, given, tracer, fiber.context, fiber.cache.span)
  return { call, given: untraced(given, toolkits) }
}

/** The options where nobody traces: toolkits are instrumented all the same, for their metrics. */
const untraced = (options: CallOptions, toolkits: ObservedToolkits): CallOptions =>
  options.toolkit === undefined ? options : { ...options, toolkit: toolkits.observe(options.toolkit) }
