/**
 * What a command writes, in bounded memory: its beginning and its end are kept, what lies between is only counted.
 *
 * Whatever is written can be shown: bytes that are no UTF-8 become U+FFFD, a NUL becomes U+2400 (not every store and service takes a NUL
 * in a text). A cut falls between characters and leaves a mark with the number of bytes that are missing.
 */

export class CappedOutput {
  readonly #head: Buffer
  readonly #tail: Buffer
  #total = 0

  /** `maxBytes`: how much is kept, the mark not counted. */
  constructor(maxBytes: number) {
    this.#head = Buffer.alloc(Math.ceil(maxBytes / 2))
    this.#tail = Buffer.alloc(Math.floor(maxBytes / 2))
  }

  /** How many bytes were written, those not kept included. */
  get total(): number {
    return this.#total
  }

  push(chunk: Uint8Array): void {
    const toHead = Math.min(chunk.length, Math.max(0, this.#head.length - this.#total))
    if (toHead > 0) this.#head.set(chunk.subarray(0, toHead), this.#total)
    this.#total += toHead
    const size = this.#tail.length
    const rest = chunk.length - toHead
    if (rest === 0) return
    // Of a chunk larger than the ring, only its end will be there afterwards.
    const kept = chunk.subarray(Math.max(toHead, chunk.length - size))
    this.#total += rest
    const end = (this.#total - this.#head.length) % Math.max(size, 1)
    const start = (((end - kept.length) % Math.max(size, 1)) + size) % Math.max(size, 1)
    const beforeWrap = Math.min(kept.length, size - start)
    this.#tail.set(kept.subarray(0, beforeWrap), start)
    this.#tail.set(kept.subarray(beforeWrap), 0)
  }

  /** The text, with a mark where something is missing. */
  toText(): string {
    if (this.#total <= this.#head.length) return decode(this.#head.subarray(0, this.#total))
    const afterHead = this.#total - this.#head.length
    const size = this.#tail.length
    if (afterHead <= size) return decode(Buffer.concat([this.#head, this.#tail.subarray(0, afterHead)]))
    const at = size === 0 ? 0 : afterHead % size
    const head = withoutPartialEnd(this.#head)
    const tail = withoutPartialStart(Buffer.concat([this.#tail.subarray(at), this.#tail.subarray(0, at)]))
    const missing = this.#total - head.length - tail.length
    return `${decode(head)}\n[… ${missing} bytes of output are left out here …]\n${decode(tail)}`
  }
}

const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes).replaceAll("\0", "\u2400")

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80

/** Without the first bytes of a character whose last bytes are missing. */
const withoutPartialEnd = (bytes: Buffer): Buffer => {
  for (let back = 1; back <= Math.min(4, bytes.length); back++) {
    const byte = bytes[bytes.length - back]
    if (isContinuation(byte)) continue
    const needed = byte === undefined || byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
    return needed > back ? bytes.subarray(0, bytes.length - back) : bytes
  }
  return bytes
}

/** Without the last bytes of a character whose first bytes are missing. */
const withoutPartialStart = (bytes: Buffer): Buffer => {
  let start = 0
  while (start < 3 && isContinuation(bytes[start])) start++
  return bytes.subarray(start)
}
