/**
 * Durations as people say them: `840 µs`, `12.3 ms`, `4.2 s`, `2 h 10 min`.
 */

const MICRO = 1_000
const MILLI = 1_000_000
const SECOND = 1_000_000_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/**
 * A duration in nanoseconds as text: two or three significant digits below a minute, the two largest units above. A negative one (a clock
 * was set back) counts as none.
 */
export const format = (nanos: bigint): string => {
  const duration = Math.max(0, Number(nanos))
  if (duration < MICRO) return `${duration} ns`
  const micros = rounded(duration / MICRO)
  if (micros < 1000) return `${digits(micros)} µs`
  const millis = rounded(duration / MILLI)
  if (millis < 1000) return `${digits(millis)} ms`
  const seconds = rounded(duration / SECOND)
  if (seconds < 60) return `${digits(seconds)} s`
  return composed(duration)
}

/** To one decimal below 100, else to a whole number. */
const rounded = (value: number): number => (value < 99.95 ? Math.round(value * 10) / 10 : Math.round(value))

const digits = (value: number): string => (value < 100 ? value.toFixed(1) : String(value))

/** Rounded to the smaller unit first, so that 59 min 59.9 s is an hour. */
const composed = (duration: number): string => {
  const seconds = Math.round(duration / SECOND)
  if (seconds < 3600) return pair(seconds, 60, "min", "s")
  const minutes = Math.round(duration / MINUTE)
  if (minutes < 24 * 60) return pair(minutes, 60, "h", "min")
  return pair(Math.round(duration / HOUR), 24, "d", "h")
}

const pair = (count: number, size: number, major: string, minor: string): string => {
  const rest = count % size
  return `${Math.floor(count / size)} ${major}${rest === 0 ? "" : ` ${rest} ${minor}`}`
}
