/**
 * What all telemetry of one call of a model, or of one stretch of an agent's run, shares: the scope that it was made in, and the settings.
 *
 * A tracer that throws costs the telemetry, never the call.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Exit from "effect/Exit"
import * as References from "effect/References"
import type * as Tracer from "effect/Tracer"
import * as ContentPolicy from "../content/ContentPolicy.ts"
import { CurrentAgent, CurrentConversation } from "../propagation/Origin.ts"
import type { DroppedReason } from "../semconv/Attributes.ts"
import * as ToolMetrics from "./ToolMetrics.ts"
import * as ToolSpan from "./ToolSpan.ts"

/** The settings, as far as they matter here; what they leave out is as the scope says. */
export interface Settings {
  readonly options: {
    readonly agentName?: string | undefined
    readonly conversationId?: string | undefined
    readonly metrics?: boolean | undefined
  }
  /** Undefined: the policy of the scope. */
  readonly policy: ContentPolicy.Policy | undefined
}

export class TurnScope {
  readonly tracer: Tracer.Tracer
  /** Of the caller. */
  readonly context: Context.Context<never>
  readonly policy: ContentPolicy.Policy
  readonly agentName: string | undefined
  readonly conversationId: string | undefined
  /** Whether to update metrics. */
  readonly metrics: boolean
  readonly #clock: Clock.Clock
  readonly #timed: boolean

  constructor(tracer: Tracer.Tracer, context: Context.Context<never>, { options, policy }: Settings) {
    this.tracer = tracer
    this.context = context
    this.policy = policy ?? Context.get(context, ContentPolicy.ContentPolicy)
    this.agentName = Context.get(context, CurrentAgent) ?? options.agentName
    this.conversationId = Context.get(context, CurrentConversation) ?? options.conversationId
    this.metrics = options.metrics !== false
    this.#clock = Context.get(context, Clock.Clock)
    this.#timed = Context.get(context, References.TracerTimingEnabled)
  }

  /** Nanoseconds since the epoch. */
  now(): bigint {
    return this.#clock.currentTimeNanosUnsafe()
  }

  /** Milliseconds since the epoch. */
  nowMillis(): number {
    return this.#clock.currentTimeMillisUnsafe()
  }

  /** Opens a span. Undefined when the tracer throws. */
  open(start: ToolSpan.Start): Tracer.Span | undefined {
    return ToolSpan.open(this.tracer, this.context, { ...start, startTime: this.#time(start.startTime) })
  }

  /** Ends a span that is no failure. */
  end(span: Tracer.Span | undefined, time: bigint): void {
    try {
      span?.end(this.#time(time), Exit.void)
    } catch {}
  }

  /** The time at which a span ends now, in nanoseconds. */
  endTime(): bigint {
    return this.#time(this.now())
  }

  /** Writes an event on a span that is recorded. */
  event(span: Tracer.Span, name: string, attributes: Record<string, unknown>): void {
    if (!span.sampled) return
    try {
      span.event(name, this.#time(this.now()), attributes)
    } catch {}
  }

  /** Counts telemetry that was not captured. */
  dropped(reason: DroppedReason): void {
    ToolMetrics.dropped(reason, this.context)
  }

  #time(time: bigint): bigint {
    return this.#timed ? time : 0n
  }
}
