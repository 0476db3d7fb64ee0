/**
 * What an Effect span is in OpenTelemetry's terms, whoever made it: its span object, its span context, and the
 * OpenTelemetry contexts that hold it.
 *
 * Speaks the vocabulary of `@effect/opentelemetry` (the key under which a span holds its OpenTelemetry span, the annotations with
 * trace flags and trace state, the mark of a context that Effect entered), so that its tracer, its `currentOtelSpan` and
 * `makeExternalSpan` and ours understand each other's spans.
 */
import { OtelTraceFlags, OtelTraceState } from "@effect/opentelemetry/OtelTracer"
import * as Otel from "@opentelemetry/api"
import * as Context from "effect/Context"
import * as Tracer from "effect/Tracer"
import { TraceState } from "../semconv/TraceState.ts"
import { EffectSpanKey, EnteredContext } from "./EnteredContext.ts"

/** The property by which `OtelTracer.currentOtelSpan` knows a span that has an OpenTelemetry span in `span`. */
export const OtelSpanTypeId = "~@effect/opentelemetry/OtelTracer/OtelSpan"

/** The whole span context of a parent that was found active, kept on the external span that stands for it. */
class ActiveSpanContext extends Context.Service<ActiveSpanContext, Otel.SpanContext>()(
  "@effect/opentelemetry/Tracer/OtelParentSpanContext"
) {}

type Annotations = Context.Context<never>

/** The OpenTelemetry span inside an Effect span, if our tracer or upstream's made it. */
export const otelSpan = (span: Tracer.AnySpan): Otel.Span | undefined =>
  OtelSpanTypeId in span && "span" in span
    ? // The key says that `span` is an OpenTelemetry span; upstream exports no type for it.
      (span.span as Otel.Span)
    : undefined

/**
 * The span context of any Effect span. Trace flags and trace state come from `child` (the annotations of a span about to be made under
 * it) if it has them, else from the span's own annotations, else from what the span says.
 */
export const make = (span: Tracer.AnySpan, child: Annotations = Context.empty()): Otel.SpanContext => {
  const known = Context.getOrUndefined(span.annotations, ActiveSpanContext) ?? otelSpan(span)?.spanContext()
  const flags =
    Context.getOrUndefined(child, OtelTraceFlags) ??
    Context.getOrUndefined(span.annotations, OtelTraceFlags) ??
    known?.traceFlags ??
    (span.sampled ? Otel.TraceFlags.SAMPLED : Otel.TraceFlags.NONE)
  const state =
    Context.getOrUndefined(child, OtelTraceState) ??
    Context.getOrUndefined(span.annotations, OtelTraceState) ??
    known?.traceState ??
    carriedState(span)
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    traceFlags: flags,
    isRemote: known?.isRemote ?? span._tag === "ExternalSpan",
    ...(state && { traceState: state })
  }
}

/** The trace state that came with a span of another process. */
const carriedState = (span: Tracer.AnySpan): Otel.TraceState | undefined => {
  const text = Context.getOrUndefined(span.annotations, TraceState)
  return text === undefined ? undefined : Otel.createTraceState(text)
}

/** `context` with `span` as its span. The same context if it has that very span already. */
export const withSpan = (context: Otel.Context, span: Tracer.AnySpan, child?: Annotations): Otel.Context => {
  const own = otelSpan(span)
  if (own === undefined) return Otel.trace.setSpanContext(context, make(span, child))
  return Otel.trace.getSpan(context) === own ? context : Otel.trace.setSpan(context, own)
}

/** `context` as Effect enters it for code under `span`. The same context if it was entered for that span already. */
export const entered = (context: Otel.Context, span: Tracer.AnySpan): Otel.Context => {
  const active = otelSpan(span) ?? Otel.trace.getSpan(withSpan(context, span))
  if (active === undefined || context.getValue(EffectSpanKey) === active) return context
  return new EnteredContext(context, active)
}

/** The span that is active in `context`, as the parent of a span that has none in Effect. None if Effect itself entered it. */
export const activeParent = (context: Otel.Context, child: Annotations): Tracer.ExternalSpan | undefined => {
  const active = Otel.trace.getSpan(context)
  if (active === undefined || active === context.getValue(EffectSpanKey)) return undefined
  const spanContext = active.spanContext()
  if (!Otel.trace.isSpanContextValid(spanContext)) return undefined
  return Tracer.externalSpan({
    traceId: spanContext.traceId,
    spanId: spanContext.spanId,
    sampled: (spanContext.traceFlags & Otel.TraceFlags.SAMPLED) !== 0,
    annotations: Context.add(child, ActiveSpanContext, spanContext)
  })
}

/** Whether a span with these annotations gives its parent other trace flags or state than the parent has. */
export const overridesParent = (child: Annotations): boolean =>
  Context.getOrUndefined(child, OtelTraceFlags) !== undefined ||
  Context.getOrUndefined(child, OtelTraceState) !== undefined
