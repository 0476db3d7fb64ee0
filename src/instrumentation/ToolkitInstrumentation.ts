/**
 * Wraps a toolkit: one OpenTelemetry span (`execute_tool {tool}`) and metrics for each call of `handle`, and the toolkit stays the same
 * toolkit, with the same tools, types, results, errors and timing.
 *
 * Implements the `execute_tool` span and the `gen_ai.execute_tool.duration` metric of the OpenTelemetry GenAI conventions.
 * Approvals and the model's turn are not seen from here. `Toolkit.merge` reads only the tools of what it merges: merge first,
 * instrument last.
 */

import type * as Tool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Predicate from "effect/Predicate"
import * as Tracer from "effect/Tracer"
import * as ContentPolicy from "../content/ContentPolicy.ts"
import { CurrentAgent, type Origin, ToolCallOrigin } from "../propagation/Origin.ts"
import * as CallingFiber from "./CallingFiber.ts"
import * as Ending from "./Ending.ts"
import { InstrumentedTool } from "./InstrumentedTool.ts"
import { type Options, validate } from "./Options.ts"
import * as ResultStream from "./ResultStream.ts"
import { type Request, type Settings, ToolCall } from "./ToolCall.ts"
import * as ToolMetrics from "./ToolMetrics.ts"
import * as ToolSpan from "./ToolSpan.ts"
import * as UpstreamAnnotations from "./UpstreamAnnotations.ts"

/** What can be instrumented: a `Toolkit.Toolkit`, or a `Toolkit.WithHandler` of any tools. */
export type Instrumentable =
  | Toolkit.Any
  | { readonly tools: Record<string, Tool.Any>; readonly handle: (...args: never) => unknown }

/** `Toolkit.WithHandler`, seen from where the types of its tools, and the services they need, do not matter. */
interface WithHandler {
  readonly tools: Record<string, Tool.Any>
  readonly handle: (
    name: string,
    params: unknown,
    toolCallId?: string,
    options?: unknown
  ) => Effect.Effect<ResultStream.Results, unknown>
}

export { ToolType } from "./InstrumentedTool.ts"
export type { Options, ToolCallInfo } from "./Options.ts"

const TypeId = "~toolspan/instrumentation/ToolkitInstrumentation"

/**
 * Instruments a toolkit. Returns the same type; the tools are the very same objects. A toolkit that is instrumented already is returned
 * as it is: one span a call, and the options given first stay.
 *
 * Agent and conversation come from the scope of the call (`CurrentAgent`, `CurrentConversation`), else from the options; the content
 * policy from the tool's annotation, else the options, else the scope (`ContentPolicy`).
 *
 * Throws an `Error` that names the option, its value and what is allowed, if an option is wrong.
 */
export const instrument = <T extends Instrumentable>(toolkit: T, options: Options = {}): T => {
  validate(options)
  if (Predicate.hasProperty(toolkit, TypeId)) return toolkit
  const instrumentation = new Instrumentation(toolkit.tools, options)
  // The boundary where the toolkit's own types end: what comes back is what was given, with one method replaced.
  if ("handle" in toolkit) {
    instrumentation.initialize(Context.empty())
    return instrumentation.withHandler(toolkit as unknown as WithHandler) as unknown as T
  }
  return instrumentToolkit(toolkit as unknown as Effect.Effect<WithHandler>, instrumentation) as unknown as T
}

/** The method by which a fiber evaluates an effect, as `Tracer.EffectPrimitive` has it. */
const evaluate = "~effect/Effect/evaluate"

/** A toolkit (which is an effect of its `WithHandler`) that evaluates to an instrumented one, and inherits all else. */
const instrumentToolkit = (
  toolkit: Effect.Effect<WithHandler>,
  instrumentation: Instrumentation
): Effect.Effect<WithHandler> =>
  Object.setPrototypeOf(
    // biome-ignore lint/complexity/useArrowFunction: a toolkit is a function that classes can extend.
    Object.assign(function () {}, toolkit, {
      [evaluate]: (fiber: Fiber.Fiber<unknown, unknown>) => {
        instrumentation.initialize(fiber.context)
        return Effect.map(toolkit, (withHandler) => instrumentation.withHandler(withHandler))
      },
      [TypeId]: TypeId
    }),
    toolkit
  )

/** The tools of one toolkit, and how each call of `handle` is observed. */
class Instrumentation {
  readonly #settings: Settings
  readonly #tools: ReadonlyMap<string, InstrumentedTool>
  readonly #unknown = new InstrumentedTool(undefined)

  constructor(tools: Record<string, Tool.Any>, options: Options) {
    this.#settings = {
      options,
      policy: options.content === undefined ? undefined : ContentPolicy.make(options.content)
    }
    this.#tools = new Map(Object.entries(tools).map(([name, tool]) => [name, new InstrumentedTool(tool)]))
  }

  /** Makes the counters of all tools appear, at zero, in the registry of the context. */
  initialize(context: Context.Context<never>): void {
    const { options } = this.#settings
    if (options.metrics === false) return
    const agentName = Context.get(context, CurrentAgent) ?? options.agentName
    for (const tool of this.#tools.values()) tool.metrics.in(context, agentName)
  }

  withHandler(original: WithHandler): WithHandler {
    if (Predicate.hasProperty(original, TypeId)) return original
    const members = { handle: this.#handle(original), [TypeId]: TypeId }
    // Of an object of a class only a view is safe: its methods and getters may need the object itself.
    return Object.getPrototypeOf(original) === Object.prototype
      ? { ...original, ...members }
      : new Proxy(original, {
          get: (target, key) => Reflect.get(Object.hasOwn(members, key) ? members : target, key),
          has: (target, key) => Object.hasOwn(members, key) || Reflect.has(target, key)
        })
  }

  #handle(original: WithHandler): WithHandler["handle"] {
    const { generateCallId, metrics } = this.#settings.options
    return (name, params, toolCallId, options) =>
      Effect.withFiber((fiber) => {
        const run = original.handle(
          name,
          params,
          toolCallId ?? (generateCallId && generated(generateCallId, fiber)),
          options
        )
        const origin = fiber.getRef(ToolCallOrigin)
        const tracer = ToolSpan.activeTracer(fiber)
        const tool = this.#tools.get(name) ?? this.#unknown
        const call =
          tracer === undefined && metrics === false
            ? undefined
            : this.#start({ tool, toolName: name, toolCallId, params, origin }, tracer, fiber)
        const span = call?.span ?? fiber.cache.span
        const release = span?._tag === "Span" ? UpstreamAnnotations.guard(span, name) : undefined
        const isHidden = span?._tag === "Span" && release === undefined
        const scope = scopeOf(fiber.context, isHidden ? Tracer.externalSpan(span) : call?.span, origin)
        const scoped = scope === fiber.context ? run : Effect.setContext(run, scope)
        return call === undefined
          ? released(scoped, release, fiber)
          : observed(scoped, call, tool.encodes, release, fiber)
      })
  }

  #start(
    request: Request,
    tracer: Tracer.Tracer | undefined,
    fiber: Fiber.Fiber<unknown, unknown>
  ): ToolCall | undefined {
    try {
      const call = new ToolCall(request, this.#settings, tracer, fiber)
      call.started(request, this.#settings)
      return call
    } catch {
      return undefined
    }
  }
}

/**
 * Runs `handle` so that the call learns its end: here if it fails, else from its stream; with the calling fiber at the latest.
 * `encodes`: reading the stream runs code of the tool's own.
 */
const observed = (
  handle: ReturnType<WithHandler["handle"]>,
  call: ToolCall,
  encodes: boolean,
  release: (() => void) | undefined,
  fiber: Fiber.Fiber<unknown, unknown>
): ReturnType<WithHandler["handle"]> => {
  const before = CallingFiber.childrenOf(fiber)
  const handled = CallingFiber.endWith(fiber, call, release)
  return Effect.map(
    Effect.onExitPrimitive(handle, (exit) => {
      release?.()
      if (exit._tag === "Failure") {
        call.end(Ending.fromCause(exit.cause))
      } else {
        handled.isFinished = CallingFiber.handlerOf(before, CallingFiber.childrenOf(fiber))
      }
      return undefined
    }),
    (stream) => ResultStream.watch(stream, call, encodes ? call.span : undefined)
  )
}

/** Runs `handle` and releases the span after it; with the fiber at the latest, which may be interrupted before `handle` begins. */
const released = (
  handle: ReturnType<WithHandler["handle"]>,
  release: (() => void) | undefined,
  fiber: Fiber.Fiber<unknown, unknown>
): ReturnType<WithHandler["handle"]> => {
  if (release === undefined) return handle
  const forget = fiber.addObserver(release)
  return Effect.onExitPrimitive(handle, () => {
    forget()
    release()
    return undefined
  })
}

/** The context that upstream and the handler run in. The origin is the call's, not the handler's. */
const scopeOf = (
  context: Context.Context<never>,
  span: Tracer.AnySpan | undefined,
  origin: Origin | undefined
): Context.Context<never> => {
  let scope = context
  if (span !== undefined) scope = Context.add(scope, Tracer.ParentSpan, span)
  if (origin !== undefined) scope = Context.add(scope, ToolCallOrigin, undefined)
  return scope
}

const generated = (
  generateCallId: () => string,
  fiber: Fiber.Fiber<unknown, unknown>
): string | undefined => {
  try {
    return generateCallId()
  } catch {
    ToolMetrics.dropped("hook_failed", fiber.context)
    return undefined
  }
}
