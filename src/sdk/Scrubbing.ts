/**
 * Masks secrets in failure texts on their way out: exception messages, exception stacks and status texts of every span, whoever made
 * it, and the exception attributes of every log record.
 *
 * The patterns are those of `content/`. The processors stand before all others and change the ended span and the emitted record in
 * place. If masking fails, the text is dropped.
 */
import type { logs, tracing } from "@opentelemetry/sdk-node"
import { MASK, redactText } from "../content/Redaction.ts"

/** OpenTelemetry's exception convention, and the cause that Effect puts on the event of a log line. */
const TEXTS = ["exception.message", "exception.stacktrace", "effect.cause"] as const

const nothing = async (): Promise<void> => undefined

/** For spans. */
export const spanProcessor: tracing.SpanProcessor = {
  onStart: () => undefined,
  onEnd: ({ events, status }) => {
    if (status.message !== undefined) status.message = mask(status.message)
    for (const { attributes } of events) {
      for (const name of TEXTS) {
        const text = attributes?.[name]
        if (attributes && typeof text === "string") attributes[name] = mask(text)
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
      if (typeof text === "string") record.setAttribute(name, mask(text))
    }
  },
  forceFlush: nothing,
  shutdown: nothing
}

const mask = (text: string): string => {
  try {
    return redactText(text)
  } catch {
    return MASK
  }
}
