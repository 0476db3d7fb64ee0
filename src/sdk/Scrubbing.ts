/**
 * Masks secrets in failure texts on their way out: exception types, messages and stacks, status texts and event names of every span,
 * whoever made it; the exception attributes and the body of every log record.
 *
 * The patterns are those of `content/`. The processors stand before all others and change the ended span and the emitted record in
 * place. If masking fails, the text is dropped. A text of any length takes bounded time: of a very long one only the beginning is kept.
 */
import type { logs, tracing } from "@opentelemetry/sdk-node"
import { MASK, redactPrefix } from "../content/Redaction.ts"
import {
  ATTR_EXCEPTION_MESSAGE,
  ATTR_EXCEPTION_STACKTRACE,
  ATTR_EXCEPTION_TYPE
} from "../semconv/Attributes.ts"

/** OpenTelemetry's exception convention, and the cause that Effect puts on the event of a log line. */
const TEXTS = [
  ATTR_EXCEPTION_TYPE,
  ATTR_EXCEPTION_MESSAGE,
  ATTR_EXCEPTION_STACKTRACE,
  "effect.cause"
] as const

/** The longest text that leaves, in characters. */
const LONGEST = 64 * 1024

const nothing = async (): Promise<void> => undefined

/** For spans. */
export const spanProcessor: tracing.SpanProcessor = {
  onStart: () => undefined,
  onEnd: ({ events, status }) => {
    if (status.message !== undefined) status.message = mask(status.message)
    for (const event of events) {
      // The name of the event of a log line is the line.
      event.name = mask(event.name)
      const { attributes } = event
      if (attributes === undefined) continue
      for (const name of TEXTS) {
        const text = attributes[name]
        if (text !== undefined) attributes[name] = maskAll(text)
      }
    }
  },
  forceFlush: nothing,
  shutdown: nothing
}

/** For log records. */
export const logRecordProcessor: logs.LogRecordProcessor = {
  onEmit: (record) => {
    for (const name of TEXTS) {
      const text = record.attributes[name]
      if (text !== undefined) record.setAttribute(name, maskAll(text))
    }
    if (record.body !== undefined) record.setBody(maskAll(record.body))
  },
  forceFlush: nothing,
  shutdown: nothing
}

/** A text, or the texts of an array, masked; anything else as it is. */
const maskAll = <A>(value: A): A | string => {
  if (typeof value === "string") return mask(value)
  // An array of texts stays one.
  return Array.isArray(value) ? (value.map(maskAll) as A) : value
}

const mask = (text: string): string => {
  try {
    return redactPrefix(text, LONGEST)
  } catch {
    return MASK
  }
}
