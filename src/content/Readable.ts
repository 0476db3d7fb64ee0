/**
 * A readable form for every object that is not a plain object or an array.
 *
 * Looking at a value may run its code (`toJSON`, getters, proxies), and may throw: `BoundedJson.ts` is ready for that, and writes what is
 * given here.
 */
import * as Redacted from "effect/Redacted"

/** What to write in place of an object. */
export type Readable =
  /** Says itself that it must not be seen. */
  | { readonly _tag: "Secret" }
  /** A text that stands for the object. */
  | { readonly _tag: "Text"; readonly text: string }
  /** Another value in its place. */
  | { readonly _tag: "Value"; readonly value: unknown }
  /** `total` items, of which the first ones are given. */
  | { readonly _tag: "Items"; readonly items: ReadonlyArray<unknown>; readonly total: number }
  /** `total` fields, of which the first ones are given; `read` may throw. */
  | {
      readonly _tag: "Fields"
      readonly names: ReadonlyArray<string>
      readonly total: number
      readonly read: (index: number) => unknown
    }

/** The readable form of an object or function, with at most `most` items of a collection. May throw. */
export const readable = (value: object, most: number): Readable => {
  if (Redacted.isRedacted(value)) return { _tag: "Secret" }
  if (typeof value === "function") return text(`[Function ${String(value.name) || "anonymous"}]`)
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) {
    return text(`[${className(value)} ${value.byteLength} bytes]`)
  }
  if (value instanceof Date && Number.isNaN(value.getTime())) return text("Invalid Date")
  const toJson: unknown = Reflect.get(value, "toJSON")
  if (typeof toJson === "function") return fromJson(() => toJson.call(value, ""))
  if (value instanceof Map) {
    const entries = take<readonly [unknown, unknown]>(value.entries(), most)
    const names = entries.map(([key]) => keyName(key))
    return { _tag: "Fields", names, total: value.size, read: (index) => entries[index]?.[1] }
  }
  if (value instanceof Set) return { _tag: "Items", items: take(value.values(), most), total: value.size }
  if (value instanceof RegExp) return text(String(value))
  if (isBoxed(value)) return { _tag: "Value", value: value.valueOf() }
  const keys = Object.keys(value)
  if (value instanceof Error) {
    return fields(value, ["name", "message", ...keys.filter((key) => key !== "name" && key !== "message")])
  }
  return keys.length === 0 ? text(`[${className(value)}]`) : fields(value, keys)
}

/** An object that fails to show itself may have reason to: its fields are not shown in place of what it would have said. */
const fromJson = (toJson: () => unknown): Readable => {
  try {
    return { _tag: "Value", value: toJson() }
  } catch {
    return text("[unreadable]")
  }
}

const text = (text: string): Readable => ({ _tag: "Text", text })

const fields = (value: object, names: ReadonlyArray<string>): Readable => ({
  _tag: "Fields",
  names,
  total: names.length,
  read: (index) => Reflect.get(value, names[index] ?? "")
})

const isBoxed = (value: object): boolean =>
  [String, Number, Boolean, BigInt, Symbol].some((boxed) => value instanceof boxed)

/** A key of a map; a map's key that is an object has no short form. */
const keyName = (key: unknown): string =>
  typeof key === "object" && key !== null
    ? `[${className(key)}]`
    : typeof key === "function"
      ? "[Function]"
      : String(key)

const className = (value: object): string => {
  const tag = Object.prototype.toString.call(value).slice(8, -1)
  const constructed: unknown = value.constructor?.name
  return typeof constructed === "string" && constructed !== "" ? constructed : tag
}

const take = <A>(values: Iterable<A>, most: number): ReadonlyArray<A> => {
  const taken: Array<A> = []
  for (const value of values) {
    if (taken.length >= most) break
    taken.push(value)
  }
  return taken
}
