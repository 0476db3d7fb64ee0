/**
 * The values that a statement is given. `node:sqlite` takes some that it should not: an object in the first place, such as a `Date`, it
 * takes for named parameters and stores NULL; NaN it stores as NULL. So every value is looked at.
 */
import type { DatabaseSync, SQLInputValue } from "node:sqlite"

/**
 * What SQLite stores for each value: a string as text, a number as REAL (an INTEGER column makes it an integer if it is one), a bigint
 * as INTEGER, bytes as BLOB, null as NULL, a boolean as 1 or 0, a `Date` as its ISO 8601 text in UTC. Throws a `TypeError` on any other
 * value, on NaN, on an invalid `Date` and, if `cutsText`, on text with U+0000.
 */
export const toSqlite = (parameters: ReadonlyArray<unknown>, cutsText: boolean): Array<SQLInputValue> =>
  parameters.map((value, index) => {
    if (value === null || typeof value === "bigint" || value instanceof Uint8Array) return value
    if (typeof value === "string") {
      if (!cutsText || !value.includes("\0")) return value
      throw new TypeError(
        `parameter ${index + 1} is text with the character U+0000, at which this Node would cut it off when it is read; ` +
          "give it as a Uint8Array, or escaped"
      )
    }
    if (typeof value === "number" && !Number.isNaN(value)) return value
    if (typeof value === "boolean") return value ? 1 : 0
    if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString()
    throw new TypeError(
      `parameter ${index + 1} is ${describe(value)}; ` +
        "allowed: string, number, bigint, boolean, null, Uint8Array, Date"
    )
  })

/** Whether text ends for this Node at the first U+0000, as it does up to some 24.x. */
export const cutsText = (db: DatabaseSync): boolean =>
  db.prepare("SELECT ? AS text").get("a\0b")?.["text"] !== "a\0b"

const describe = (value: unknown): string => {
  if (value instanceof Date) return "an invalid Date"
  if (Array.isArray(value)) return "an array"
  if (typeof value === "object" || typeof value === "function") return `a value of type ${typeof value}`
  return String(value)
}
