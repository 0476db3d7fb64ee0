/**
 * What the operator says about content, in `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT`.
 *
 * The variable and its values are those of the OpenTelemetry GenAI conventions, read without regard to case.
 */
import * as Context from "effect/Context"

/** A value of the variable; `unset` also where it is empty. */
export type EnvMode = (typeof MODES)[number] | "unset"

export const VARIABLE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"

const MODES = ["NO_CONTENT", "SPAN_ONLY", "EVENT_ONLY", "SPAN_AND_EVENT"] as const

/** The mode that `value` names. Any other word means no content, with a warning. */
export const parse = (value: string | undefined, warn: (message: string) => void): EnvMode => {
  const word = value?.trim().toUpperCase() ?? ""
  if (word === "") return "unset"
  const mode = MODES.find((mode) => mode === word)
  if (mode !== undefined) return mode
  warn(
    `${VARIABLE}=${JSON.stringify(value)} is not understood, so no content is captured; allowed: ${MODES.join(", ")}`
  )
  return "NO_CONTENT"
}

/** The mode of this process: read, and warned about, once. */
export const CaptureEnvironment = Context.Reference<EnvMode>("toolspan/content/CaptureEnvironment", {
  defaultValue: () =>
    parse(readVariable(), (message) => globalThis.process?.emitWarning?.(message, "ToolspanWarning"))
})

/** Undefined where there is no environment, or no right to read it. */
const readVariable = (): string | undefined => {
  try {
    return globalThis.process?.env?.[VARIABLE]
  } catch {
    return undefined
  }
}
