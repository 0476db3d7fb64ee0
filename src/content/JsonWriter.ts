/**
 * Appends values to a JSON text while there is room.
 *
 * One writer makes one attempt: without cutting it gives up where the room ends, with cutting it fits everything in. Values that JSON does
 * not know take the form that `Readable.ts` gives; code of the value that throws while it is read makes one place unreadable.
 */
import { attempt, JsonTokens, MASKED, UNFIT } from "./JsonTokens.ts"
import type { Mask } from "./Mask.ts"
import { readable } from "./Readable.ts"
import { isSecretKey } from "./Redaction.ts"
import { sizeAtLeast } from "./SizeAtLeast.ts"
import { ELLIPSIS } from "./Utf8.ts"

/** Deeper nesting is not shown: it tells little, and the stack has an end. */
const MAX_DEPTH = 128
/** A larger one takes long to print. */
const LARGEST_BIGINT = 2n ** 256n

const UNREADABLE = Symbol("unreadable")

export class JsonWriter extends JsonTokens {
  /** UTF-8 bytes of the text. */
  bytes = 0
  /** Whether the root could not be read. */
  failed = false
  /** The objects around the place that is written. */
  readonly #path: Array<object> = []

  /** Whether the value could be written within `room`. */
  writeRoot(value: unknown, mask: Mask | undefined, room: number): boolean {
    this.bytes = this.#value(value, mask, room)
    return this.bytes !== UNFIT
  }

  #value(value: unknown, mask: Mask | undefined, room: number): number {
    if (
      mask !== undefined &&
      value !== null &&
      value !== undefined &&
      (mask.whole || typeof value === "string")
    ) {
      return this.token(MASKED, room)
    }
    switch (typeof value) {
      case "string":
        return this.string(value, room)
      case "number":
        return this.number(value, room)
      case "boolean":
        return this.token(value ? "true" : "false", room)
      case "undefined":
        return this.token("null", room)
      case "bigint":
        return this.string(value < LARGEST_BIGINT && value > -LARGEST_BIGINT ? `${value}n` : "[BigInt]", room)
      case "symbol":
        return this.string(value === UNREADABLE ? "[unreadable]" : String(value), room)
      case "object":
      case "function":
        return value === null ? this.token("null", room) : this.#object(value, mask, room)
    }
  }

  #object(value: object, mask: Mask | undefined, room: number): number {
    const { text, lost } = this
    const depth = this.#path.length
    try {
      return this.#readObject(value, mask, room)
    } catch {
      this.text = text
      this.lost = lost
      this.failed = depth === 0
      return depth === 0 ? UNFIT : this.token('"[unreadable]"', room)
    } finally {
      this.#path.length = depth
    }
  }

  #readObject(value: object, mask: Mask | undefined, room: number): number {
    if (this.#path.length >= MAX_DEPTH) {
      this.cut = true
      return this.token('"[too deep]"', room)
    }
    if (this.#path.includes(value)) return this.token('"[circular]"', room)
    this.#path.push(value)
    if (typeof Reflect.get(value, "toJSON") !== "function") {
      if (Array.isArray(value)) return this.#items(value, value.length, mask, room)
      const prototype: unknown = Object.getPrototypeOf(value)
      if (prototype === Object.prototype || prototype === null) {
        const names = Object.keys(value)
        return this.#fields(
          names,
          names.length,
          (index) => Reflect.get(value, names[index] ?? ""),
          mask,
          room
        )
      }
    }
    const form = readable(value, room)
    switch (form._tag) {
      case "Secret":
        return this.token(MASKED, room)
      case "Text":
        return this.string(form.text, room)
      case "Value":
        return this.#value(form.value, mask, room)
      case "Items":
        return this.#items(form.items, form.total, mask, room)
      case "Fields":
        return this.#fields(form.names, form.total, form.read, mask, room)
    }
  }

  #items(items: ReadonlyArray<unknown>, total: number, mask: Mask | undefined, room: number): number {
    let isAnnounced = false
    return this.parts(
      {
        open: "[",
        close: "]",
        total,
        mark: (left) => `"${ELLIPSIS} ${left} more"`,
        write: (index, free) => {
          const item = attempt(() => items[index], UNREADABLE)
          const isSecret = isAnnounced && typeof item === "string"
          isAnnounced = this.redact && typeof item === "string" && announcesSecret(item, total)
          return isSecret ? this.token(MASKED, free) : this.#value(item, mask?.item(index), free)
        },
        size: (index, looks) => sizeAtLeast(items[index], looks)
      },
      room
    )
  }

  #fields(
    names: ReadonlyArray<string>,
    total: number,
    read: (index: number) => unknown,
    mask: Mask | undefined,
    room: number
  ): number {
    const write = (index: number, free: number): number => {
      const name = names[index]
      if (name === undefined) return UNFIT
      const value = attempt(() => read(index), UNREADABLE)
      if (value === undefined) return 0
      const nameBytes = this.name(name, free)
      if (nameBytes === UNFIT) return UNFIT
      this.text += ":"
      const left = free - nameBytes - 1
      const isSecret =
        this.redact && (isSecretKey(name, value) || (isValueName(name) && isLabelled(names, read)))
      const bytes = isSecret
        ? this.token(MASKED, left)
        : this.#fieldValue(value, mask?.field(name), left, index === total - 1)
      return bytes === UNFIT ? UNFIT : nameBytes + 1 + bytes
    }
    return this.parts(
      {
        open: "{",
        close: "}",
        total,
        mark: (left) => `"${ELLIPSIS}":"${left} more"`,
        write,
        size: (index, looks) => {
          const value = read(index)
          return value === undefined ? -1 : (names[index]?.length ?? 0) + 3 + sizeAtLeast(value, looks)
        }
      },
      room
    )
  }

  /** Where fields must be cut, one leaves half of the room to those that follow, so that a long one does not hide the short ones. */
  #fieldValue(value: unknown, mask: Mask | undefined, room: number, isLast: boolean): number {
    const bytes = this.cutting && !isLast ? this.#value(value, mask, room >> 1) : UNFIT
    return bytes === UNFIT ? this.#value(value, mask, room) : bytes
  }
}

/** Options of a command, and names of headers, that are followed by a secret. */
const secretOption = /^--?[a-z]/i
const secretHeader = /^(?:(?:proxy-)?authorization|(?:set-)?cookie|x-[\w-]*(?:key|token|secret)):?$/i

/** Whether the next item of an array is a secret: after `--password`, after the name of a header, and in a pair. */
const announcesSecret = (item: string, total: number): boolean =>
  secretOption.test(item)
    ? !item.includes("=") && isSecretKey(item)
    : secretHeader.test(item) || (total === 2 && isSecretKey(item))

/** Names of a field that holds what another field of the object names. */
export const isValueName = (name: string): boolean => /^val(?:ue)?$/i.test(name)

const labels = /^(?:name|key|field|id|label|parameter|header)$/i

/** Whether such a field stands beside the name of a secret, as in `{ "Name": "Cookie", "Value": … }`. */
const isLabelled = (names: ReadonlyArray<string>, read: (index: number) => unknown): boolean =>
  names.some((name, index) => {
    if (!labels.test(name)) return false
    const label = attempt(() => read(index), undefined)
    return typeof label === "string" && isSecretKey(label)
  })
