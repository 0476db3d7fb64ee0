/**
 * The toolkits that are handed to one model, each instrumented once.
 */
import type * as Tool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as InstrumentedToolkit from "./InstrumentedToolkit.ts"
import type { Options } from "./Options.ts"
import type { Settings } from "./ToolCall.ts"

type Resolved = (
  withHandler: InstrumentedToolkit.WithHandler,
  instrumented: InstrumentedToolkit.InstrumentedToolkit
) => InstrumentedToolkit.WithHandler

export class ObservedToolkits {
  /** Stands for no toolkit at all. */
  readonly none: InstrumentedToolkit.InstrumentedToolkit
  readonly #options: Options
  readonly #toolkits = new WeakMap<Record<string, Tool.Any>, InstrumentedToolkit.InstrumentedToolkit>()

  /** Throws if an option is wrong. */
  constructor(options: Options) {
    this.#options = options
    this.none = new InstrumentedToolkit.InstrumentedToolkit({}, options)
  }

  get settings(): Settings {
    return this.none.settings
  }

  /**
   * The toolkit (a `Toolkit`, a `WithHandler`, or an effect of one) as an effect of an instrumented `WithHandler`, which `resolved` may change
   * further. One that is instrumented already keeps its own options.
   */
  observe(
    toolkit: unknown,
    resolved: Resolved = (withHandler) => withHandler
  ): Effect.Effect<InstrumentedToolkit.WithHandler, unknown, unknown> {
    // The boundary where the types of the user's tools end; upstream takes the same forms, by the same rule.
    const resolution = Effect.isEffect(toolkit)
      ? (toolkit as Effect.Effect<InstrumentedToolkit.WithHandler, unknown, unknown>)
      : Effect.succeed(toolkit as InstrumentedToolkit.WithHandler)
    const observed = Effect.flatMap(resolution, (withHandler) =>
      Effect.withFiber((fiber) => {
        const own = InstrumentedToolkit.of(withHandler)
        if (own !== undefined) return Effect.succeed(resolved(withHandler, own))
        try {
          const instrumented = this.#instrumented(withHandler.tools)
          instrumented.initialize(fiber.context)
          return Effect.succeed(resolved(instrumented.withHandler(withHandler), instrumented))
        } catch (error) {
          // An annotation of a tool that is not valid. Here, a program is running that works.
          return Effect.as(
            Effect.logWarning(`toolspan: a toolkit is not instrumented. ${error}`),
            resolved(withHandler, this.none)
          )
        }
      })
    )
    // Who stands between may look at the tools.
    return Predicate.hasProperty(toolkit, "tools")
      ? Object.assign(observed, { tools: toolkit.tools })
      : observed
  }

  #instrumented(tools: Record<string, Tool.Any>): InstrumentedToolkit.InstrumentedToolkit {
    let instrumented = this.#toolkits.get(tools)
    if (instrumented === undefined) {
      instrumented = new InstrumentedToolkit.InstrumentedToolkit(tools, this.#options)
      this.#toolkits.set(tools, instrumented)
    }
    return instrumented
  }
}
