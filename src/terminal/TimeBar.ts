/**
 * A stretch of time as a bar of block characters, on the time axis that a whole trace shares.
 *
 * Ends are drawn to an eighth of a cell. Beginnings are drawn to what the block characters offer: a whole, a half or an eighth of a cell.
 * Where time is cut out of the axis the bar is broken: `███┄┄┄██`.
 */
import * as TimeAxis from "./TimeAxis.ts"

const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"] as const
const CUT = "┄"

/** A bar from `start` to `end`, at most `width` cells wide with the spaces before it; at least one cell is drawn. */
export const draw = (axis: TimeAxis.TimeAxis, width: number, start: bigint, end: bigint): string => {
  const from = TimeAxis.position(axis, start) * width
  const to = Math.max(from, TimeAxis.position(axis, end) * width)
  const first = Math.min(Math.floor(from), width - 1)
  const last = Math.max(first, Math.ceil(to) - 1)
  const bar =
    first === last
      ? within(from - first, to - from)
      : beginning(from - first) + "█".repeat(last - first - 1) + (eighths[Math.round((to - last) * 8)] ?? "")
  return broken(" ".repeat(first) + bar, axis, width, { start, end })
}

/** The bar with a mark in each cell, whole or in part, where it lasts through a cut. */
const broken = (
  bar: string,
  { cuts }: TimeAxis.TimeAxis,
  width: number,
  { end, start }: TimeAxis.Stretch
): string => {
  const cells = Array.from(bar)
  for (const cut of cuts) {
    if (cut.start < start || end < cut.end) continue
    const from = Math.min(Math.floor(cut.from * width), cells.length - 1)
    cells.fill(CUT, from, Math.max(from + 1, Math.ceil(cut.to * width)))
  }
  return cells.join("")
}

const beginning = (offset: number): string => (offset < 0.25 ? "█" : offset < 0.75 ? "▐" : "▕")

/** A bar that lies within one cell. */
const within = (offset: number, length: number): string =>
  offset < 0.5 ? (eighths[Math.max(1, Math.round(length * 8))] ?? "█") : length < 0.25 ? "▕" : "▐"
