/**
 * A stretch of time as a bar of block characters, on the time axis that a whole trace shares.
 *
 * Ends are drawn to an eighth of a cell. Beginnings are drawn to what the block characters offer: a whole, a half or an eighth of a cell.
 */

/** The stretch of time that the full width stands for, in nanoseconds. */
export interface Axis {
  readonly start: bigint
  readonly end: bigint
}

const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"] as const

/** A bar from `start` to `end`, at most `width` cells wide with the spaces before it; at least one cell is drawn. */
export const draw = (axis: Axis, width: number, start: bigint, end: bigint): string => {
  const from = position(axis, width, start)
  const to = Math.max(from, position(axis, width, end))
  const first = Math.min(Math.floor(from), width - 1)
  const last = Math.max(first, Math.ceil(to) - 1)
  const bar =
    first === last
      ? within(from - first, to - from)
      : beginning(from - first) + "█".repeat(last - first - 1) + (eighths[Math.round((to - last) * 8)] ?? "")
  return " ".repeat(first) + bar
}

/** Where a time lies on the axis, in cells. */
const position = (axis: Axis, width: number, time: bigint): number => {
  const length = Number(axis.end - axis.start)
  const fraction = length > 0 ? Number(time - axis.start) / length : 0
  return Math.min(1, Math.max(0, fraction)) * width
}

const beginning = (offset: number): string => (offset < 0.25 ? "█" : offset < 0.75 ? "▐" : "▕")

/** A bar that lies within one cell. */
const within = (offset: number, length: number): string =>
  offset < 0.5 ? (eighths[Math.max(1, Math.round(length * 8))] ?? "█") : length < 0.25 ? "▕" : "▐"
