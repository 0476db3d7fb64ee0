/**
 * The panels that both dashboards have, about the series that each of them chooses.
 */
import type { PanelBuilder as Stat } from "@grafana/grafana-foundation-sdk/stat"
import type { PanelBuilder as TimeSeries } from "@grafana/grafana-foundation-sdk/timeseries"
import { PercentUnit, Seconds, Short } from "@grafana/grafana-foundation-sdk/units"
import * as Builders from "./builders.ts"
import * as Queries from "./queries.ts"

/** Selects from a metric the series that a dashboard is about. */
export type Of = (metric: string, ...matchers: ReadonlyArray<string>) => string

export const calls = (of: Of): string => of("toolspan_tool_calls_total")
export const withOutcome = (of: Of, outcomes: string): string =>
  of("toolspan_tool_calls_total", `toolspan_tool_outcome=~"${outcomes}"`)
export const attempts = (of: Of): string => withOutcome(of, Queries.ATTEMPTS)
export const failures = (of: Of): string => withOutcome(of, Queries.FAILURES)
export const durations = (of: Of): string => of("gen_ai_execute_tool_duration_seconds_bucket")
export const waits = (of: Of): string => of("toolspan_approval_wait_seconds_bucket")
export const streaks = (of: Of): string => of("toolspan_tool_streak_bucket")
export const replays = (of: Of): string => of("toolspan_tool_replays_total")
export const decisions = (of: Of): string => of("toolspan_approval_decisions_total")

export const callsNumber = (of: Of): Stat =>
  Builders.number(
    { title: "Calls", description: "Tool calls that ended in this time, however.", unit: Short },
    Queries.rise(calls(of), Queries.WHOLE),
    "none"
  )

export const failedNumber = (of: Of): Stat =>
  Builders.number(
    {
      title: "Failed",
      description:
        "Share of failures among the calls that ran to an end of their own: without those that were denied, cancelled or had invalid arguments. Red from the 5 % that the alerts allow by default.",
      unit: PercentUnit
    },
    Queries.share(Queries.rise(failures(of), Queries.WHOLE), Queries.rise(attempts(of), Queries.WHOLE)),
    "no calls",
    0.05
  )

export const p95Number = (of: Of): Stat =>
  Builders.number(
    {
      title: "Duration, p95",
      description: "95 of 100 calls were at most this long. Waiting for a human is no part of it.",
      unit: Seconds
    },
    Queries.quantile(0.95, durations(of), Queries.WHOLE),
    "no calls"
  )

export const duration = (of: Of): TimeSeries =>
  Builders.lines(
    {
      title: "Duration",
      description:
        "Half of the calls, 95 and 99 of 100 were at most this long. Cancelled and abandoned calls are left out.",
      unit: Seconds
    },
    { expr: Queries.quantile(0.5, durations(of), Queries.SMOOTH), legend: "p50" },
    { expr: Queries.quantile(0.95, durations(of), Queries.SMOOTH), legend: "p95" },
    { expr: Queries.quantile(0.99, durations(of), Queries.SMOOTH), legend: "p99" }
  )

/** Green did what was asked, red failed, orange is the model's fault, blue a human's choice, and gray came to no end. */
export const coloredByOutcome = (panel: TimeSeries): TimeSeries =>
  Builders.colored(panel, {
    success: "green",
    failure: "red",
    defect: "dark-red",
    invalid_result: "light-red",
    outcome_unknown: "purple",
    invalid_arguments: "orange",
    unknown_tool: "dark-orange",
    denied: "blue",
    cancelled: "#8e8e8e",
    abandoned: "#6e6e6e",
    not_started: "#b0b0b0"
  })

export const coloredByDecision = (panel: TimeSeries): TimeSeries =>
  Builders.colored(panel, { approved: "green", denied: "blue", expired: "orange" })
