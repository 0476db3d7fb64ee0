/**
 * Makes the span of a fiber the active OpenTelemetry span of the code that the fiber runs: of its synchronous code, and of the promises,
 * timers and callbacks started there.
 *
 * Effect calls `Tracer.context` around every primitive of a fiber, so this is the hot path of a traced program. A fiber runs in
 * stretches: from when it is resumed until it waits again. {@link entering} enters the context of the fiber's span once a stretch (and
 * again where the span changes), and puts back what was active before when the stretch ends; a stretch may start inside a primitive of
 * another fiber. {@link calling} gets by with any context manager: it runs each primitive of a fiber with a span in the span's context.
 */
import * as Otel from "@opentelemetry/api"
import type * as Fiber from "effect/Fiber"
import type * as Tracer from "effect/Tracer"
import { propagated } from "../semconv/PropagatedSpan.ts"
import type { EnterableContextManager, Entered } from "./ContextManager.ts"
import { OtelSpan } from "./OtelSpan.ts"
import * as SpanContext from "./SpanContext.ts"

type Hook = NonNullable<Tracer.Tracer["context"]>
type AnyFiber = Fiber.Fiber<unknown, unknown>

/** One stretch of a fiber. */
interface Stretch {
  readonly fiber: AnyFiber
  /** What was active when it began, as it must be put back. */
  readonly before: Entered
  readonly around: Otel.Context
  /** The stretch that it began in. */
  readonly outer: Stretch | undefined
  /** The fiber's cached services: another object whenever its span changes. */
  cache: Fiber.Fiber.Cache
  /** What is active now. */
  entered: Otel.Context
}

/** A hook that enters contexts in `manager`, which must be the global context manager. */
export const entering = (manager: EnterableContextManager): Hook => {
  let current: Stretch | undefined

  const arrive = (fiber: AnyFiber): Stretch | undefined => {
    const { cache } = fiber
    if (current?.fiber === fiber) {
      const context = contextOf(cache.span, current.around)
      if (context !== current.entered) manager.enter(context)
      current.cache = cache
      current.entered = context
      return current
    }
    if (cache.span === undefined) return undefined
    const before = manager.entered()
    const around = before ?? Otel.ROOT_CONTEXT
    const entered = contextOf(cache.span, around)
    if (entered !== around) manager.enter(entered)
    current = { fiber, before, around, outer: current, cache, entered }
    return current
  }

  const leave = (stretch: Stretch): void => {
    current = stretch.outer
    if (stretch.entered !== stretch.around) manager.enter(stretch.before)
  }

  const hook: Hook = (primitive, fiber) => {
    let stretch = current
    if (stretch === undefined || stretch.fiber !== fiber || stretch.cache !== fiber.cache) {
      stretch = arrive(fiber)
      if (stretch === undefined) return primitive["~effect/Effect/evaluate"](fiber)
    }
    try {
      const result = primitive["~effect/Effect/evaluate"](fiber)
      // A symbol means that the fiber waits or is done; another tracer means that this one may not be asked again.
      if (
        typeof result === "symbol" ||
        (fiber.cache !== stretch.cache && fiber.cache.tracerContext !== hook)
      ) {
        leave(stretch)
      }
      return result
    } catch (error) {
      leave(stretch)
      throw error
    }
  }
  return hook
}

/** A hook that works with whatever context manager is registered, or none. */
export const calling: Hook = (primitive, fiber) => {
  const { span } = fiber.cache
  if (span === undefined) return primitive["~effect/Effect/evaluate"](fiber)
  const active = Otel.context.active()
  const context = contextOf(span, active)
  return context === active
    ? primitive["~effect/Effect/evaluate"](fiber)
    : Otel.context.with(context, () => primitive["~effect/Effect/evaluate"](fiber))
}

/**
 * The context of a span inside another. A span keeps the one it was given last; a fiber that was forked inside it starts from that
 * very context, and has it already.
 */
const contextOf = (span: Tracer.AnySpan | undefined, around: Otel.Context): Otel.Context => {
  const inForce = propagated(span)
  if (inForce === undefined) return around
  if (!(inForce instanceof OtelSpan)) return SpanContext.entered(around, inForce)
  const { entered } = inForce
  if (entered !== undefined && (entered.around === around || entered.context === around))
    return entered.context
  const context = SpanContext.entered(around, inForce)
  inForce.entered = { around, context }
  return context
}
