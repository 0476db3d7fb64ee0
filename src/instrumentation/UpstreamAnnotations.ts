/**
 * Keeps upstream's two writes off every span.
 *
 * `Toolkit.handle` annotates the current span with the raw call: `tool` (the name) and `parameters` (the very value it was given).
 * Unredacted, and with parallel calls the last one wins. The two writes are recognised by their values, once per call; the
 * same keys written by a handler are its own and stay.
 */
import type * as Tracer from "effect/Tracer"

type Write = (key: string, value: unknown) => void

/**
 * Makes `holder.attribute` pass writes on to the span, but for the first of `tool = name` and the first of `parameters = params`; when
 * both came, it becomes `after`.
 */
const install = (
  holder: { attribute: Write },
  span: Tracer.Span,
  name: string,
  params: unknown,
  after: Write
): void => {
  const { attribute } = span
  let tool = true
  let parameters = true
  holder.attribute = (key, value) => {
    if (tool && key === "tool" && value === name) tool = false
    else if (parameters && key === "parameters" && Object.is(value, params)) parameters = false
    else return attribute.call(span, key, value)
    if (!tool && !parameters) holder.attribute = after
  }
}

/**
 * For a span that belongs to this call alone: replaces its `attribute` method until both writes came. Returns the span to run the
 * call under: the same one, or a view of it where it cannot be changed (a frozen span).
 */
export const dropFromOwn = (span: Tracer.Span, name: string, params: unknown): Tracer.Span => {
  try {
    install(span, span, name, params, span.attribute)
    return span
  } catch {
    return dropFromShared(span, name, params)
  }
}

/**
 * For a span that others use, too: the same span, as this one call should see it. Everything but the two writes goes through to it,
 * and `instanceof` and ids stay what they were.
 */
export const dropFromShared = (span: Tracer.Span, name: string, params: unknown): Tracer.Span => {
  const after: Write = (key, value) => span.attribute(key, value)
  const holder = { attribute: after }
  install(holder, span, name, params, after)
  // Not the span itself is the target: a proxy has to show the properties of a frozen one as they are.
  return new Proxy(Object.create(span), {
    get(_, key) {
      if (key === "attribute") return holder.attribute
      const value: unknown = Reflect.get(span, key, span)
      return typeof value === "function" ? value.bind(span) : value
    }
  })
}
