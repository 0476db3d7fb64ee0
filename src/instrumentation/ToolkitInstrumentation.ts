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
import { InstrumentedToolkit, TypeId, type WithHandler } from "./InstrumentedToolkit.ts"
import { type Options, validate } from "./Options.ts"

/** What can be instrumented: a `Toolkit.Toolkit`, or a `Toolkit.WithHandler` of any tools. */
export type Instrumentable =
  | Toolkit.Any
  | { readonly tools: Record<string, Tool.Any>; readonly handle: (...args: never) => unknown }

export { ToolType } from "../signals/InstrumentedTool.ts"
export type { Options, ToolCallInfo } from "./Options.ts"

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
  validate("ToolkitInstrumentation.instrument", options)
  if (Predicate.hasProperty(toolkit, TypeId)) return toolkit
  const instrumentation = new InstrumentedToolkit(toolkit.tools, options)
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
  instrumentation: InstrumentedToolkit
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
