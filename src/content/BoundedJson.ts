/**
 * Writes any value as JSON text of a bounded size, masking secrets on the way.
 *
 * The text is always valid JSON and never longer than the cap. What has no room is cut *inside* the value: a long text ends in `…`, an array
 * or object says how many of its parts were left out. The work is bounded by the cap too: of a value of any size only so much is looked at
 * as can be kept (save for the names of an object, which the language gives only all at once). Deeper than 128 levels nothing is shown. Masks
 * are set before anything is cut, on more of the value than is kept. How values are written is `JsonWriter.ts`.
 */
import * as FlatObject from "./FlatObject.ts"
import { attempt } from "./JsonTokens.ts"
import { JsonWriter } from "./JsonWriter.ts"
import type { Mask } from "./Mask.ts"

export interface WriteOptions {
  /** The longest text allowed, in UTF-8 bytes, with all marks; at least 64. */
  readonly maxBytes: number
  /** Whether to mask what looks like a secret, by its name and by its value. */
  readonly redact: boolean
  /** Places that are masked in any case. */
  readonly mask?: Mask | undefined
  /** Makes every text that of an object: a value that is none becomes the value of this field. */
  readonly field?: string | undefined
}

export interface Written {
  readonly text: string
  /** Only if something was cut: the size of the uncut text in UTF-8 bytes, at least; not all that is left out is looked at. */
  readonly originalBytes: number | undefined
}

/** The JSON text of `value`; undefined if the value itself cannot be read at all. What reading it throws stays inside. */
export const write = (value: unknown, options: WriteOptions): Written | undefined => {
  const { field, maxBytes } = options
  const flat =
    options.mask === undefined
      ? attempt(() => FlatObject.write(value, options.redact, maxBytes), undefined)
      : undefined
  if (flat !== undefined) return { text: flat, originalBytes: undefined }
  const first = writeInto(value, options, maxBytes)
  if (first === undefined) return undefined
  if (field === undefined || first.text.startsWith("{")) return written(first.text, first, 0)
  const around = field.length + `{"":}`.length
  const inner = first.bytes + around <= maxBytes ? first : writeInto(value, options, maxBytes - around)
  return inner && written(`{"${field}":${inner.text}}`, inner, around)
}

const written = (text: string, writer: JsonWriter, around: number): Written => ({
  text,
  originalBytes: writer.cut ? writer.bytes + around + Math.max(writer.lost, 1) : undefined
})

/** Most values fit, so the first attempt is made without a thought for what to leave out. */
const writeInto = (value: unknown, options: WriteOptions, room: number): JsonWriter | undefined => {
  for (const cutting of [false, true]) {
    const writer = new JsonWriter(options.redact, cutting)
    if (writer.writeRoot(value, options.mask, room)) return writer
    if (writer.failed) return undefined
  }
  return undefined
}
