/**
 * The time that a whole trace takes, as one axis for all its bars, without the long waits for people.
 */
import type { SpanSnapshot } from "./SpanSnapshot.ts"

/** From one time to another, in nanoseconds. */
export interface Stretch {
  readonly start: bigint
  readonly end: bigint
}

/** A stretch that is not drawn to scale, and where on the axis it stands. */
interface Cut extends Stretch {
  readonly from: number
  readonly to: number
}

/** The true beginning and end of the trace, and what is cut out between them. */
export interface TimeAxis extends Stretch {
  readonly cuts: ReadonlyArray<Cut>
  /** How many nanoseconds, drawn to scale, the whole axis would have room for. */
  readonly length: number
}

/** All cuts of an axis have this part of it, in equal shares: enough to be seen, and no more. */
const CUT_PART = 1 / 8

/** The axis of these spans; `shownAt` is the end of those that are unfinished. */
export const of = (spans: ReadonlyArray<SpanSnapshot>, shownAt: bigint): TimeAxis => {
  let start = spans[0]?.startTime ?? shownAt
  let end = start
  for (const span of spans) {
    const spanEnd = span.endTime ?? shownAt
    if (span.startTime < start) start = span.startTime
    if (spanEnd > end) end = spanEnd
  }
  return make({ start, end }, longWaits(spans, shownAt, end - start))
}

/** An axis with these stretches cut out, which are in order and apart. */
export const make = ({ end, start }: Stretch, stretches: ReadonlyArray<Stretch>): TimeAxis => {
  const drawn = Number(end - start - total(stretches))
  const length = stretches.length === 0 ? drawn : drawn / (1 - CUT_PART)
  const cuts: Array<Cut> = []
  for (const stretch of stretches) {
    const from = position({ start, end, cuts, length }, stretch.start)
    cuts.push({ ...stretch, from, to: from + CUT_PART / stretches.length })
  }
  return { start, end, cuts, length }
}

/** Where a time lies on the axis: 0 at its beginning, 1 at its end. */
export const position = ({ cuts, length, start }: TimeAxis, time: bigint): number => {
  const cut = cuts.findLast(({ end }) => end <= time)
  const fraction = length > 0 ? Number(time - (cut?.end ?? start)) / length : 0
  return Math.min(1, Math.max(0, (cut?.to ?? 0) + fraction))
}

/**
 * An agent works for seconds and waits for a person for hours: on an axis to scale all its work would be one cell. So a stretch of a wait
 * in which no span starts or ends is cut out if it is longer than all time without waits together. The rest stays to scale, and all
 * starts and ends in their order. Whatever lasts through a cut, the approval or a span around it, is drawn broken there (`TimeBar`), so
 * that nobody compares its length. Durations in figures are never cut.
 */
const longWaits = (
  spans: ReadonlyArray<SpanSnapshot>,
  shownAt: bigint,
  length: bigint
): ReadonlyArray<Stretch> => {
  const stretchOf = ({ endTime, startTime }: SpanSnapshot) => ({ start: startTime, end: endTime ?? shownAt })
  const waits = spans.filter((span) => span.approval !== undefined).map(stretchOf)
  if (waits.length === 0) return []
  const times = new Set(spans.map(stretchOf).flatMap(({ end, start }) => [start, end]))
  const stretches = between(Array.from(times).sort((a, b) => (a < b ? -1 : 1))).filter(({ end, start }) =>
    waits.some((wait) => wait.start <= start && end <= wait.end)
  )
  const rest = length - total(stretches)
  return rest === 0n ? [] : stretches.filter(({ end, start }) => end - start > rest)
}

/** The stretches between neighbours. */
const between = (times: ReadonlyArray<bigint>): ReadonlyArray<Stretch> =>
  times.slice(1).map((end, index) => ({ start: times[index] ?? end, end }))

const total = (stretches: ReadonlyArray<Stretch>): bigint =>
  stretches.reduce((sum, { end, start }) => sum + (end - start), 0n)
