/**
 * The tools of one toolkit, and how each call of `handle` is observed.
 *
 * Made once for a toolkit, by whoever instruments it: `ToolkitInstrumentation.ts`, or `LanguageModelInstrumentation.ts` for the toolkits
 * that are handed to a model.
 */
import type * as Tool from "effect/ai/Tool"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Predicate from "effect/Predicate"
import * as Tracer from "effect/Tracer"
import * as ContentPolicy from "../content/ContentPolicy.ts"
import { CurrentAgent, type Origin, ToolCallOrigin } from "../propagation/Origin.ts"
import { TOOL_TYPE_EXTENSION, type ToolOutcome } from "../semconv/Attributes.ts"
import * as Ending from "../signals/Ending.ts"
import { InstrumentedTool } from "../signals/InstrumentedTool.ts"
import * as ToolMetrics from "../signals/ToolMetrics.ts"
import * as ToolSpan from "../signals/ToolSpan.ts"
import * as CallingFiber from "./CallingFiber.ts"
import type { Options } from "./Options.ts"
import * as ResultStream from "./ResultStream.ts"
import { type Request, type Settings, ToolCall } from "./ToolCall.ts"
import * as UpstreamAnnotations from "./UpstreamAnnotations.ts"
import * as View from "./View.ts"

/** `Toolkit.WithHandler`, seen from where the types of its tools, and the services they need, do not matter. */
export interface WithHandler {
  readonly tools: Record<string, Tool.Any>
  readonly handle: (
    name: string,
    params: unknown,
    toolCallId?: string,
    options?: unknown
  ) => Effect.Effect<ResultStream.Results, unknown>
}

/** Under this key, an instrumented `WithHandler` holds its {@link InstrumentedToolkit}, and an instrumented toolkit anything. */
export const TypeId = "~toolspan/instrumentation/InstrumentedToolkit"

/** What observes the calls of this `WithHandler`, if it is instrumented. */
export const of = (withHandler: WithHandler): InstrumentedToolkit | undefined => {
  const found = Predicate.hasProperty(withHandler, TypeId) ? withHandler[TypeId] : undefined
  return found instanceof InstrumentedToolkit ? found : undefined
}

export class InstrumentedToolkit {
  readonly settings: Settings
  /** The very object that the toolkit holds. */
  readonly tools: Record<string, Tool.Any>
  readonly #tools: ReadonlyMap<string, InstrumentedTool>
  readonly #unknown = new InstrumentedTool(undefined)
  readonly #providerTools = new Map<string | undefined, InstrumentedTool>()

  constructor(tools: Record<string, Tool.Any>, options: Options) {
    this.settings = {
      options,
      policy: options.content === undefined ? undefined : ContentPolicy.make(options.content)
    }
    this.tools = tools
    this.#tools = new Map(Object.entries(tools).map(([name, tool]) => [name, new InstrumentedTool(tool)]))
  }

  /** Makes the counters of all tools appear, at zero, in the registry of the context. */
  initialize(context: Context.Context<never>): void {
    const { options } = this.settings
    if (options.metrics === false) return
    const agentName = Context.get(context, CurrentAgent) ?? options.agentName
    for (const tool of this.#tools.values()) tool.metrics.in(context, agentName)
  }

  /** The tool of this name, or what stands for every tool that the toolkit lacks. */
  tool(name: string): InstrumentedTool {
    return this.#tools.get(name) ?? this.#unknown
  }

  /** The same for a tool that the provider executes. */
  providerTool(name: string): InstrumentedTool {
    const { tool } = this.tool(name)
    let found = this.#providerTools.get(tool?.name)
    if (found === undefined) {
      found = new InstrumentedTool(tool, TOOL_TYPE_EXTENSION)
      this.#providerTools.set(tool?.name, found)
    }
    return found
  }

  /** Counts a call that never reached `handle`. */
  count(context: Context.Context<never>, tool: InstrumentedTool, outcome: ToolOutcome): void {
    const { agentName, metrics } = this.settings.options
    if (metrics !== false)
      tool.metrics.in(context, Context.get(context, CurrentAgent) ?? agentName).counted(outcome)
  }

  /** The same handlers, each call observed. One that is instrumented already is returned as it is. */
  withHandler(original: WithHandler): WithHandler {
    if (of(original) !== undefined) return original
    return View.withMembers(original, { handle: this.#handle(original), [TypeId]: this })
  }

  #handle(original: WithHandler): WithHandler["handle"] {
    const { generateCallId, metrics } = this.settings.options
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
        const tool = this.tool(name)
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
      const call = new ToolCall(request, this.settings, tracer, fiber.context, fiber.cache.span)
      call.started(request, this.settings)
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
