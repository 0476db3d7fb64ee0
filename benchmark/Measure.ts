/**
 * Compares variants of the same work inside one run: machines are noisy, so only ratios to the first variant mean anything.
 *
 * Each round measures every variant, one after the other, so that a slow minute slows them all, and keeps the batch that was least
 * disturbed; the figure of a variant is the median of its rounds.
 */
import { measure } from "mitata"

/** Does the work `batch` times and resolves when it is done. */
export type Variant = () => Promise<unknown>

export interface Row {
  readonly name: string
  /** Microseconds for one piece of work. */
  readonly microseconds: number
  /** To the first variant. */
  readonly ratio: number
}

/** Nanoseconds of work before anything counts: the compiler has seen every variant. */
const WARM_UP = 2e9
/** Nanoseconds of work a round. */
const SAMPLING = 300e6

/** Measures the variants, `batch` pieces of work a call. */
export const compare = async (
  variants: ReadonlyArray<readonly [name: string, variant: Variant]>,
  { batch, rounds }: { readonly batch: number; readonly rounds: number }
): Promise<ReadonlyArray<Row>> => {
  const samples = variants.map((): Array<number> => [])
  for (const [, variant] of variants)
    await measure(variant, { min_cpu_time: WARM_UP, gc: false, inner_gc: false })
  for (let round = 0; round < rounds; round++) {
    for (const [index, [, variant]] of variants.entries()) {
      const { min } = await measure(variant, { min_cpu_time: SAMPLING, gc: false, inner_gc: false })
      samples[index]?.push(min / 1000 / batch)
    }
  }
  const figures = samples.map(median)
  const [first = 1] = figures
  return variants.map(([name], index) => {
    const microseconds = figures[index] ?? Number.NaN
    return { name, microseconds, ratio: microseconds / first }
  })
}

const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

/** A table with the limit that each row should keep. */
export const print = (
  title: string,
  rows: ReadonlyArray<Row>,
  limits: Readonly<Record<string, number>>
): void => {
  console.log(`\n${title}`)
  const width = Math.max(...rows.map((row) => row.name.length))
  for (const { microseconds, name, ratio } of rows) {
    const limit = limits[name]
    const verdict =
      limit === undefined ? "" : `   ${ratio <= limit ? "within" : "ABOVE"} ${limit.toFixed(2)}×`
    console.log(
      `  ${name.padEnd(width)}  ${microseconds.toFixed(1).padStart(8)} µs  ${ratio.toFixed(2).padStart(6)}×${verdict}`
    )
  }
}
