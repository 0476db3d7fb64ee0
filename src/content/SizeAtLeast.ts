/**
 * How large the JSON text of a value that is left out would be, told from a few looks at it.
 */

/** How many more values may be looked at. */
export interface Looks {
  left: number
}

/** Bytes that the JSON text of `value` takes, at least. Throws what reading the value throws. */
export const sizeAtLeast = (value: unknown, looks: Looks): number => {
  looks.left--
  if (typeof value === "string") return value.length + 2
  if (typeof value !== "object" || value === null) return 1
  if (Array.isArray(value)) {
    let size = 1 + 2 * value.length
    for (let i = 0; i < value.length && looks.left > 0; i++) size += sizeAtLeast(value[i], looks) - 1
    return size
  }
  let size = 2
  if (Object.getPrototypeOf(value) !== Object.prototype) return size
  for (const name of Object.keys(value)) {
    if (looks.left <= 0) break
    const field: unknown = Reflect.get(value, name)
    if (field !== undefined) size += name.length + 4 + sizeAtLeast(field, looks)
  }
  return size
}
