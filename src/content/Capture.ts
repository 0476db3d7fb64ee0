/**
 * Makes the text of one piece of content, as far as the policy allows: the one way by which content gets into telemetry.
 *
 * In this order: is it allowed at all, the user's hook, redaction, the cap. Never throws.
 */
import * as BoundedJson from "./BoundedJson.ts"
import type { Content, ContentKind, Policy } from "./ContentPolicy.ts"
import type { Mask } from "./Mask.ts"
import { redactPrefix, redactText } from "./Redaction.ts"
import { beginning, byteLength, ELLIPSIS, ELLIPSIS_BYTES, unitsThatFit } from "./Utf8.ts"

export type Captured =
  | {
      readonly _tag: "Captured"
      readonly text: string
      /** Only if it was cut: the original size in UTF-8 bytes, at least. */
      readonly originalBytes: number | undefined
    }
  /** The policy or the hook says no. */
  | { readonly _tag: "Off" }
  /** It was allowed and could not be made. */
  | { readonly _tag: "Dropped"; readonly reason: "serialization" | "hook_failed" }

export interface CaptureOptions {
  /** Where the text goes: attributes and statuses of spans, or events and logs. */
  readonly signal: "span" | "event"
  /** Sensitive places of the value. They are masked under every policy. */
  readonly mask?: Mask | undefined
}

const off: Captured = { _tag: "Off" }
const hookFailed: Captured = { _tag: "Dropped", reason: "hook_failed" }
const serialization: Captured = { _tag: "Dropped", reason: "serialization" }

/** Arguments and results are attributes that hold a JSON object: any other value becomes this field of one. */
const fields: Partial<Record<ContentKind, string>> = { arguments: "value", results: "result" }

/**
 * The text of `content`. Arguments and results give the JSON text of an object, all other kinds plain text; at most `policy.maxBytes`
 * UTF-8 bytes.
 */
export const capture = (policy: Policy, content: Content, options: CaptureOptions): Captured => {
  if (policy[content.kind] === "off" || !(options.signal === "span" ? policy.spans : policy.events))
    return off
  let value = content.value
  if (policy.redact !== undefined) {
    try {
      value = policy.redact(content)
    } catch {
      return hookFailed
    }
    if (value === undefined) return off
  }
  try {
    return textOf(value, policy, content, options.mask) ?? serialization
  } catch {
    // A text beyond what the engine can hold, under a cap as large.
    return serialization
  }
}

const textOf = (
  value: unknown,
  policy: Policy,
  content: Content,
  mask: Mask | undefined
): Captured | undefined => {
  const redact = policy[content.kind] === "redacted"
  const field = fields[content.kind]
  if (field === undefined && typeof value === "string") return plainText(value, policy.maxBytes, redact)
  // A text that the hook wrote has no longer the shape that the mask speaks of.
  const isRewritten = typeof value === "string" && value !== content.value
  const written = BoundedJson.write(value, {
    maxBytes: policy.maxBytes,
    redact,
    mask: isRewritten ? undefined : mask,
    field
  })
  return written && { _tag: "Captured", ...written }
}

const plainText = (text: string, maxBytes: number, redact: boolean): Captured => {
  const whole = text.length <= maxBytes
  const start = redact ? (whole ? redactText(text) : redactPrefix(text, maxBytes)) : beginning(text, maxBytes)
  const bytes = byteLength(start)
  if (whole && bytes <= maxBytes) return { _tag: "Captured", text: start, originalBytes: undefined }
  const cut = start.slice(0, unitsThatFit(start, maxBytes - ELLIPSIS_BYTES)) + ELLIPSIS
  return {
    _tag: "Captured",
    // A copy: engines let a slice keep the whole text in memory, for as long as the span waits.
    text: JSON.parse(JSON.stringify(cut)),
    originalBytes: bytes + Math.max(text.length - start.length, 0)
  }
}
