/**
 * The metrics of tool calls, as series made once and updated in place.
 *
 * Names, units and buckets are those of `semconv/Instruments.ts`. A series carries the tool's name, which is one of the toolkit's or
 * `_OTHER`, so that a name made up by a model never becomes a series; never a call id, conversation id or argument.
 */
import * as Context from "effect/Context"
import * as Metric from "effect/Metric"
import {
  ATTR_ERROR_TYPE,
  ATTR_GEN_AI_AGENT_NAME,
  ATTR_GEN_AI_TOOL_NAME,
  ATTR_GEN_AI_TOOL_TYPE,
  ATTR_TOOLSPAN_TOOL_OUTCOME,
  type DroppedReason,
  OTHER,
  type ToolOutcome
} from "../semconv/Attributes.ts"
import * as Instruments from "../semconv/Instruments.ts"
import type { Ending } from "./Ending.ts"

/** How many different `error.type` one tool may have on its metrics; further ones are `_OTHER`. */
export const ERROR_TYPE_LIMIT = 32

/** Outcomes whose counters exist, at zero, before the first call: a rate needs a start. */
const initialOutcomes: ReadonlyArray<ToolOutcome> = [
  "success",
  "failure",
  "invalid_arguments",
  "invalid_result",
  "defect",
  "cancelled"
]

/** Outcomes of calls that did not run to their end. */
const untimed: ReadonlySet<ToolOutcome> = new Set(["cancelled", "abandoned", "not_started"])

/** The series of one tool, as called by one agent, in the registry of one context. */
export interface ToolSeries {
  /** A call began. */
  readonly started: () => void
  /** A call ended after `seconds`. */
  readonly ended: (ending: Ending, seconds: number) => void
  /** A call ended that never began here. */
  readonly counted: (outcome: ToolOutcome) => void
}

/**
 * Finds the series for a call. All that a series depends on is looked up here, once a call, and not at each update: the registry and the
 * contextual attributes of the context, and the agent's name.
 */
export class SeriesOfTool {
  readonly #toolName: string
  readonly #toolType: string | undefined
  readonly #errorTypes = new Set<string>()
  readonly #series = new Map<string | undefined, SeriesOfAgent>()
  #streak: Metric.Histogram<number> | undefined

  /** Without a name: a tool that the toolkit lacks, which has no series before it is called. */
  constructor(toolName: string | undefined, toolType: string | undefined) {
    this.#toolName = toolName ?? OTHER
    this.#toolType = toolType
  }

  /** The tool was called this often since the user last said something. */
  streak(context: Context.Context<never>, calls: number): void {
    this.#streak ??= Instruments.toolStreak(this.#toolName)
    this.#streak.updateUnsafe(calls, context)
  }

  /** The series for this agent. From now on, the counters of a known tool exist there, at zero. */
  in(context: Context.Context<never>, agentName: string | undefined): ToolSeries {
    const registry = Context.get(context, Metric.MetricRegistry)
    const attributes = Context.get(context, Metric.CurrentMetricAttributes)
    let series = this.#series.get(agentName)
    if (series?.registry !== registry || series.attributes !== attributes) {
      series = makeSeries(this.#toolName, this.#toolType, agentName, this.#errorTypes, registry, attributes)
      if (this.#toolName !== OTHER) series.initialize()
      this.#series.set(agentName, series)
    }
    return series
  }
}

interface SeriesOfAgent extends ToolSeries {
  readonly registry: Metric.MetricRegistry
  readonly attributes: Metric.Metric.AttributeSet
  readonly initialize: () => void
}

const makeSeries = (
  toolName: string,
  toolType: string | undefined,
  agentName: string | undefined,
  errorTypes: Set<string>,
  registry: Metric.MetricRegistry,
  contextual: Metric.Metric.AttributeSet
): SeriesOfAgent => {
  const context = Context.make(Metric.MetricRegistry, registry).pipe(
    Context.add(Metric.CurrentMetricAttributes, contextual)
  )
  const tool = {
    [ATTR_GEN_AI_TOOL_NAME]: toolName,
    ...(agentName === undefined ? {} : { [ATTR_GEN_AI_AGENT_NAME]: agentName })
  }
  const typed = toolType === undefined ? tool : { ...tool, [ATTR_GEN_AI_TOOL_TYPE]: toolType }
  const active = Instruments.toolActive(toolName)
  const calls = new Map<ToolOutcome, Metric.Counter<number>>()
  const durations = new Map<string | undefined, Metric.Histogram<number>>()
  const callsOf = (outcome: ToolOutcome) =>
    memo(calls, outcome, () => Instruments.toolCalls({ ...tool, [ATTR_TOOLSPAN_TOOL_OUTCOME]: outcome }))
  const durationOf = (errorType: string | undefined) =>
    memo(durations, errorType, () =>
      Instruments.executeToolDuration(
        errorType === undefined ? typed : { ...typed, [ATTR_ERROR_TYPE]: errorType }
      )
    )
  return {
    registry,
    attributes: contextual,
    started: () => active.updateUnsafe(1, context),
    ended: ({ failure, outcome }, seconds) => {
      active.updateUnsafe(-1, context)
      callsOf(outcome).updateUnsafe(1, context)
      if (!untimed.has(outcome)) {
        durationOf(failure && bounded(failure.errorType, errorTypes)).updateUnsafe(seconds, context)
      }
    },
    counted: (outcome) => callsOf(outcome).updateUnsafe(1, context),
    initialize: () => {
      for (const outcome of initialOutcomes) callsOf(outcome).valueUnsafe(context)
    }
  }
}

const bounded = (errorType: string, seen: Set<string>): string => {
  if (seen.has(errorType)) return errorType
  if (seen.size >= ERROR_TYPE_LIMIT) return OTHER
  seen.add(errorType)
  return errorType
}

const memo = <K, V>(map: Map<K, V>, key: K, make: () => V): V => {
  let value = map.get(key)
  if (value === undefined) {
    value = make()
    map.set(key, value)
  }
  return value
}

/** Counts telemetry that was not captured. Never throws. */
export const dropped = (reason: DroppedReason, context: Context.Context<never>): void =>
  Instruments.telemetryDropped(reason).updateUnsafe(1, context)
