/**
 * Appends values to a JSON text while there is room.
 *
 * One writer makes one attempt: without cutting it gives up where the room ends, with cutting it fits everything in. Values that JSON does
 * not know take the form that `Readable.ts` gives; code of the value that throws while it is read makes one place unreadable.
 */

import { JsonTokens, MASKED, UNFIT } from "./JsonTokens.ts"
import type { Mask } from "./Mask.ts"
import { readable } from "./Readable.ts"
import { isSecretKey } from "./SecretKey.ts"
import { type Looks, sizeAtLeast } from "./SizeAtLeast.ts"
import { ELLIPSIS, ELLIPSIS_BYTES } from "./Utf8.ts"

/** Deeper nesting is not shown: it tells little, and the stack has an end. */
const MAX_DEPTH = 128
/** A larger one takes long to print. */
const LARGEST_BIGINT = 2n ** 256n
/** How many values that are left out are looked at to tell their size. */
const MAX_LOOKS = 1000

const UNREADABLE = Symbol("unreadable")

/** The parts of an array or object. */
interface Parts {
  readonly open: string
  readonly close: string
  readonly total: number
  /** Says that `left` parts are missing. */
  readonly mark: (left: number) => string
  /** Writes one part: returns its bytes, 0 if there is nothing to write, or {@link UNFIT}. */
  readonly write: (index: number, room: number) => number
  /** The size of one part, at least; may throw. */
  readonly size: (index: number, looks: Looks) => number
}

export class JsonWriter extends JsonTokens {
  /** UTF-8 bytes of the text. */
  bytes = 0
  /** Whether the root could not be read. */
  failed = false
  /** The objects around the place that is written. */
  readonly #path: Array<object> = []
  readonly #looks: Looks = { left: MAX_LOOKS }

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
    const secondIsSecret = this.redact && total === 2 && typeof items[0] === "string" && isSecretKey(items[0])
    return this.#parts(
      {
        open: "[",
        close: "]",
        total,
        mark: (left) => `"${ELLIPSIS} ${left} more"`,
        write: (index, free) =>
          secondIsSecret && index === 1
            ? this.token(MASKED, free)
            : this.#value(
                attempt(() => items[index], UNREADABLE),
                mask?.item(index),
                free
              ),
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
        this.redact && (isSecretKey(name, value) || (name === "value" && isLabelled(names, read)))
      const bytes = isSecret
        ? this.token(MASKED, left)
        : this.#fieldValue(value, mask?.field(name), left, index === total - 1)
      return bytes === UNFIT ? UNFIT : nameBytes + 1 + bytes
    }
    return this.#parts(
      {
        open: "{",
        close: "}",
        total,
        mark: (left) => `"${ELLIPSIS}":"${left} more"`,
        write,
        size: (index, looks) => (names[index]?.length ?? 0) + 3 + sizeAtLeast(read(index), looks)
      },
      room
    )
  }

  /** Where fields must be cut, one leaves half of the room to those that follow, so that a long one does not hide the short ones. */
  #fieldValue(value: unknown, mask: Mask | undefined, room: number, isLast: boolean): number {
    const bytes = this.cutting && !isLast ? this.#value(value, mask, room >> 1) : UNFIT
    return bytes === UNFIT ? this.#value(value, mask, room) : bytes
  }

  /** While parts follow, room is kept for the mark that says how many are left out: it is never missing. */
  #parts(parts: Parts, room: number): number {
    const { open, close, total } = parts
    if (total === 0) return this.token(open + close, room)
    const markRoom = this.cutting ? parts.mark(total).length + ELLIPSIS_BYTES : 0
    let used = open.length + close.length
    if (used + markRoom > room) return UNFIT
    this.text += open
    let comma = ""
    for (let index = 0; index < total; index++) {
      const before = this.text
      const lostBefore = this.lost
      this.text += comma
      const kept = index < total - 1 ? markRoom : 0
      const bytes = parts.write(index, room - used - comma.length - kept)
      if (bytes === UNFIT && !this.cutting) return UNFIT
      if (bytes <= 0) this.text = before
      if (bytes === UNFIT) {
        this.lost = lostBefore
        used += this.#leaveOut(parts, index, comma)
        break
      }
      if (bytes === 0) continue
      used += comma.length + bytes
      comma = ","
    }
    this.text += close
    return used
  }

  /** Says that the parts from `first` on are missing. */
  #leaveOut(parts: Parts, first: number, comma: string): number {
    const mark = comma + parts.mark(parts.total - first)
    const bytes = mark.length + ELLIPSIS_BYTES - 1
    this.text += mark
    this.cut = true
    this.lost += 2 * (parts.total - first) - bytes
    for (let index = first; index < parts.total && this.#looks.left > 0; index++) {
      this.lost += attempt(() => parts.size(index, this.#looks), 1) - 1
    }
    return bytes
  }
}

/** Whether a field named "value" stands beside the name of a secret, as in `{ "name": "Cookie", "value": … }`. */
const isLabelled = (names: ReadonlyArray<string>, read: (index: number) => unknown): boolean =>
  names.some((name, index) => {
    if (name !== "name" && name !== "key") return false
    const label = attempt(() => read(index), undefined)
    return typeof label === "string" && isSecretKey(label)
  })

const attempt = <A, B>(read: () => A, otherwise: B): A | B => {
  try {
    return read()
  } catch {
    return otherwise
  }
}
