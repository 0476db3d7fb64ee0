/**
 * The PromQL of the dashboards. Only what is common to them: which metric a panel shows, the panel says.
 */

/** One bar of a graph. Bars stand side by side, so that they add up to the total. */
export const BAR = "$__interval"
/** Some bars together, for what a single bar has too few calls for. */
export const SMOOTH = "$__rate_interval"
/** All of the time that the dashboard shows. */
export const WHOLE = "$__range"

/** Calls that ran to an end of their own, and those of them that failed: what the alerts count, too. */
export const ATTEMPTS = "success|failure|defect|invalid_result|outcome_unknown"
export const FAILURES = "failure|defect|invalid_result|outcome_unknown"

/** Series of a metric, with the matchers of all arguments. */
export const series = (metric: string, ...matchers: ReadonlyArray<string>): string =>
  `${metric}{${matchers.join(", ")}}`

/**
 * How much counters rose, summed. Each process has series of its own, so it is taken for each of them before it is summed.
 *
 * Not by `increase` alone: that is 0 for a counter whose first value is already 1, and hence for a program that calls a tool once and
 * ends. A series that is new rose from zero. Where a counter started anew within the window, `increase` knows best. The rules for alerts
 * count in the same way.
 */
export const rise = (counters: string, window: string, by: ReadonlyArray<string> = []): string =>
  `sum${by.length === 0 ? "" : ` by (${by.join(", ")})`} (
  (
    last_over_time(${counters}[${window}])
      - (last_over_time(${counters}[1h] offset ${window}) <= min_over_time(${counters}[${window}]))
    or last_over_time(${counters}[${window}])
  )
  unless resets(${counters}[${window}]) > 0
  or increase(${counters}[${window}])
)`

/** A part of a whole, from 0 to 1. 0 where there is a whole and no series of the part, and nothing where there is no whole. */
export const share = (part: string, whole: string): string => `(
  ${part}
  or 0 * ${whole}
)
/
(${whole} > 0)`

/** A quantile of a histogram, from the series of its buckets. Nothing where nothing fell into them: it would not be a number. */
export const quantile = (
  q: number,
  buckets: string,
  window: string,
  by: ReadonlyArray<string> = []
): string => `histogram_quantile(${q}, ${rise(buckets, window, ["le", ...by])}) >= 0`
