/**
 * One thing with all that is known of it, a field on each line.
 */
import * as HumanDuration from "../../terminal/HumanDuration.ts"
import * as Shown from "../Shown.ts"

/** A name with a text, or a value that is shown as JSON. Undefined: not shown. */
export type Field = readonly [name: string, value: string | { readonly json: unknown } | undefined]

export const render = (fields: ReadonlyArray<Field>): string => {
  const width = Math.max(...fields.map(([name]) => name.length)) + 2
  return fields
    .flatMap(([name, value]) => {
      if (value === undefined) return []
      const text = typeof value === "string" ? Shown.text(value) : Shown.indented(value.json)
      return [name.padEnd(width) + text.replaceAll("\n", `\n${" ".repeat(width)}`)]
    })
    .join("\n")
}

/** How long ago that was, in words. Milliseconds since the epoch. */
export const age = (at: number, now: number): string =>
  HumanDuration.format(BigInt(Math.max(0, Math.trunc(now - at))) * 1_000_000n)

/** When that was. */
export const time = (at: number, now: number): string => `${new Date(at).toISOString()} (${age(at, now)} ago)`
