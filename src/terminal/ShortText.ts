/**
 * Short strings out of the values that a program puts on its spans: nothing else of them is kept.
 */
import * as PlainText from "./PlainText.ts"

/** The beginning of a text, as long as any line has room for. */
export const short = (value: string): string => value.slice(0, PlainText.LIMIT)

export const nonEmpty = (value: string): string | undefined => (value === "" ? undefined : value)

/** The value of an attribute, if it is a text that says something. */
export const of = (value: unknown): string | undefined =>
  typeof value === "string" ? nonEmpty(short(value)) : undefined
