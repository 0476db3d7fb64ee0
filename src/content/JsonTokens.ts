/**
 * Appends names, texts, numbers and the frames of arrays and objects to a JSON text while there is room, masking what looks like a secret.
 *
 * Methods that write take the `room` in UTF-8 bytes, and return the bytes taken, or {@link UNFIT}.
 */
import { MASK, redactPrefix, redactText } from "./Redaction.ts"
import type { Looks } from "./SizeAtLeast.ts"
import { beginning, byteLength, ELLIPSIS, ELLIPSIS_BYTES, escapedUnitsThatFit } from "./Utf8.ts"

/** Instead of a size: there is no room, and nothing was written. */
export const UNFIT = -1

/** A secret, in JSON. */
export const MASKED = `"${MASK}"`

/** A text is left out rather than cut to less than this. */
const SHORTEST_CUT = 16
/** A name that needs no escape and is too short for a secret. */
export const shortName = /^[A-Za-z_$][\w$]{0,15}$/
/** A text that is one byte a character and needs no escape. */
export const plainText = /^[ !#-[\]-~]*$/

/** How many values that are left out are looked at to tell their size. */
const MAX_LOOKS = 1000

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

export class JsonTokens {
  text = ""
  /** Whether something was left out. */
  cut = false
  /** How many bytes the uncut text would have more, at least. */
  lost = 0
  protected readonly redact: boolean
  /** Whether to cut what has no room; else it does not fit. */
  protected readonly cutting: boolean
  readonly #looks: Looks = { left: MAX_LOOKS }

  constructor(redact: boolean, cutting: boolean) {
    this.redact = redact
    this.cutting = cutting
  }

  /** `token` is JSON and ASCII. */
  protected token(token: string, room: number): number {
    if (token.length > room) return UNFIT
    this.text += token
    return token.length
  }

  protected name(name: string, room: number): number {
    if (shortName.test(name)) return this.token(`"${name}"`, room)
    return this.string(name, this.cutting ? room >> 1 : room)
  }

  protected number(value: number, room: number): number {
    const digits = String(value)
    if (!Number.isFinite(value)) return this.token(`"${digits}"`, room)
    const isSecret = this.redact && value > 1e12 && redactText(digits) !== digits
    return this.token(isSecret ? MASKED : digits, room)
  }

  protected string(text: string, room: number): number {
    if (text.length + 2 > room) {
      if (!this.cutting) return UNFIT
      const start = this.redact ? redactPrefix(text, room) : beginning(text, room)
      return this.cutString(start, Math.max(text.length - start.length, 0), room)
    }
    const shown = this.redact ? redactText(text) : text
    const isPlain = plainText.test(shown)
    const json = isPlain ? `"${shown}"` : JSON.stringify(shown)
    const bytes = isPlain ? json.length : byteLength(json)
    if (bytes > room) return this.cutting ? this.cutString(shown, 0, room) : UNFIT
    this.text += json
    return bytes
  }

  /** Writes what fits of `start`, behind which there are `beyond` more units. */
  private cutString(start: string, beyond: number, room: number): number {
    if (room < SHORTEST_CUT) return UNFIT
    const kept = start.slice(0, escapedUnitsThatFit(start, room - 2 - ELLIPSIS_BYTES))
    const json = JSON.stringify(kept + ELLIPSIS)
    const bytes = byteLength(json)
    this.text += json
    this.cut = true
    this.lost += beyond + byteLength(JSON.stringify(start)) - bytes
    return bytes
  }

  /** While parts follow, room is kept for the mark that says how many are left out: it is never missing. */
  protected parts(parts: Parts, room: number): number {
    const { open, close, total } = parts
    if (total === 0) return this.token(open + close, room)
    // The mark's one "…" is two bytes more than its length tells, and a comma may stand before it.
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
        used += this.leaveOut(parts, index, comma)
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
  private leaveOut(parts: Parts, first: number, comma: string): number {
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

/** What `read` gives, or `otherwise` where it throws. */
export const attempt = <A, B>(read: () => A, otherwise: B): A | B => {
  try {
    return read()
  } catch {
    return otherwise
  }
}
