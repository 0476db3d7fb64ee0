/**
 * The JSON text of what most arguments are, a small flat object of plain values, in one go.
 *
 * Gives exactly what `JsonWriter.ts` would, or leaves the value to it. It is there because it is on the way of every call.
 */
import { plainText, shortName } from "./JsonTokens.ts"
import { isValueName } from "./JsonWriter.ts"
import { isSecretKey, redactText } from "./Redaction.ts"

/** More fields than this are not small. */
const MOST_FIELDS = 16
/** Numbers from here on may be card numbers. */
const LONG_NUMBER = 1e12

/**
 * The text, at most `room` bytes; undefined if this is another kind of value, or if anything in it could be a secret and `redact` is
 * true. May throw what reading the value throws.
 */
export const write = (value: unknown, redact: boolean, room: number): string | undefined => {
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) {
    return undefined
  }
  const names = Object.keys(value)
  if (names.length > MOST_FIELDS) return undefined
  let text = "{"
  for (const name of names) {
    // What a field called `value` holds can depend on its neighbours.
    if (!shortName.test(name) || isValueName(name) || name === "toJSON") return undefined
    const field: unknown = Reflect.get(value, name)
    if (redact && isSecretKey(name, field)) return undefined
    const json = plain(field, redact)
    if (json === undefined) return undefined
    text += text.length > 1 ? `,"${name}":${json}` : `"${name}":${json}`
    if (text.length >= room) return undefined
  }
  return `${text}}`
}

const plain = (value: unknown, redact: boolean): string | undefined => {
  switch (typeof value) {
    case "string":
      return value.length <= 256 && plainText.test(value) && (!redact || redactText(value) === value)
        ? `"${value}"`
        : undefined
    case "number":
      return Number.isFinite(value) && value < LONG_NUMBER ? String(value) : undefined
    case "boolean":
      return value ? "true" : "false"
    default:
      return value === null ? "null" : undefined
  }
}
