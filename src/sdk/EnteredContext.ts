/**
 * An OpenTelemetry context as Effect enters it for the code of a span.
 *
 * Says what the same context made with `trace.setSpan` would say, without copying all that is in it twice for each span.
 */
import * as Otel from "@opentelemetry/api"

/**
 * Context key whose value is the span of a context that Effect entered. Where the active span is that one, a fiber without a parent
 * starts a new trace; where it is another, somebody else made it active, and it is the parent.
 */
export const EffectSpanKey = Otel.createContextKey("@effect/opentelemetry/OtelTracer/EffectSpan")

/** The key under which OpenTelemetry itself keeps the span of a context. It does not tell, but it can be watched using it. */
const spanKey = (() => {
  let used = EffectSpanKey
  const watching: Otel.Context = {
    getValue: () => undefined,
    setValue: (key) => {
      used = key
      return watching
    },
    deleteValue: () => watching
  }
  Otel.trace.setSpan(watching, Otel.trace.wrapSpanContext(Otel.INVALID_SPAN_CONTEXT))
  return used
})()

export class EnteredContext implements Otel.Context {
  readonly #around: Otel.Context
  readonly #span: Otel.Span

  /** What an outer entered context says of spans is hidden anyway: contexts of nested or successive spans do not pile up. */
  constructor(around: Otel.Context, span: Otel.Span) {
    this.#around = around instanceof EnteredContext ? around.#around : around
    this.#span = span
  }

  getValue(key: symbol): unknown {
    return key === spanKey || key === EffectSpanKey ? this.#span : this.#around.getValue(key)
  }

  setValue(key: symbol, value: unknown): Otel.Context {
    return this.#copy().setValue(key, value)
  }

  deleteValue(key: symbol): Otel.Context {
    return this.#copy().deleteValue(key)
  }

  #copy(): Otel.Context {
    return Otel.trace.setSpan(this.#around, this.#span).setValue(EffectSpanKey, this.#span)
  }
}
