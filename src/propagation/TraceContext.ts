/**
 * W3C trace context (`traceparent`, `tracestate`) of a span, as plain text and back.
 *
 * Pure, bounded, and never throws: what comes back may have been through any store and any hands. Where the text is carried is said
 * by the neighbours.
 */
import * as Context from "effect/Context"
import * as Headers from "effect/http/Headers"
import * as HttpTraceContext from "effect/http/HttpTraceContext"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"
import { TraceState } from "../semconv/TraceState.ts"

/** A place in a trace. */
export interface TraceContext {
  /** `00-{32 hex digits}-{16 hex digits}-{2 hex digits}` */
  readonly traceparent: string
  /** At most 512 printable ASCII characters; left out if there is none. */
  readonly tracestate?: string
}

const TRACEPARENT_LENGTH = 55
const traceState = /^[\x20-\x7e]{1,512}$/

/** The place of a span. Undefined for a span that takes part in no trace, as when tracing is off. */
export const fromSpan = (span: Tracer.AnySpan): TraceContext | undefined => {
  const traceparent = `00-${span.traceId}-${span.spanId}-${span.sampled ? "01" : "00"}`
  if (parse(traceparent) === undefined) return undefined
  const tracestate = stateOf(span)
  return tracestate === undefined ? { traceparent } : { traceparent, tracestate }
}

/** What may be a {@link TraceContext}. */
interface Carried {
  readonly traceparent: unknown
  readonly tracestate?: unknown
}

/**
 * The span at that place, as the parent or the target of a link of new ones. Undefined if `traceparent` is not valid; a `tracestate` that
 * is not is left out.
 */
export const toSpan = (context: Carried): Tracer.ExternalSpan | undefined => {
  const span = parse(field(context, "traceparent"))
  const tracestate = field(context, "tracestate")
  return span === undefined || !isState(tracestate)
    ? span
    : Tracer.externalSpan({ ...span, annotations: Context.make(TraceState, tracestate) })
}

const field = (context: Carried, name: keyof Carried): unknown => {
  try {
    return context[name]
  } catch {
    return undefined
  }
}

const parse = (traceparent: unknown): Tracer.ExternalSpan | undefined =>
  typeof traceparent === "string" && traceparent.length === TRACEPARENT_LENGTH
    ? Option.getOrUndefined(HttpTraceContext.w3c(Headers.fromRecordUnsafe({ traceparent })))
    : undefined

const isState = (value: unknown): value is string => typeof value === "string" && traceState.test(value)

/** What OpenTelemetry's spans tell of themselves, as far as it is read here. */
interface OtelSpan {
  readonly spanContext: () => { readonly traceState?: { readonly serialize: () => unknown } | undefined }
}

/** Spans of OpenTelemetry hold theirs in an object of their own, under `span`; those that were read here, in an annotation. */
const stateOf = (span: Tracer.AnySpan): string | undefined => {
  try {
    const text =
      Context.getOrUndefined(span.annotations, TraceState) ??
      ("span" in span ? (span.span as OtelSpan).spanContext().traceState?.serialize() : undefined)
    return isState(text) ? text : undefined
  } catch {
    return undefined
  }
}
