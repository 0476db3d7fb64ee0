/**
 * An Effect span that is an OpenTelemetry span.
 *
 * Takes its first attributes from the annotation `InitialAttributes`, so that a sampler sees them; success leaves the status Unset;
 * interruption alone does too, and says `effect.fiber.interrupted`; failure is status Error with one exception event for each error of
 * the cause. A span that is not recorded converts and keeps nothing. An OpenTelemetry SDK that throws (a sampler, a span processor)
 * costs the telemetry, never the program.
 */
import * as Otel from "@opentelemetry/api"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import type * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type * as Tracer from "effect/Tracer"
import { InitialAttributes, type StartAttributes } from "../semconv/SpanStart.ts"
import * as AttributeValue from "./AttributeValue.ts"
import * as SpanContext from "./SpanContext.ts"

/** Attribute of a span whose fiber was interrupted, named as in `@effect/opentelemetry`. */
const ATTR_INTERRUPTED = "effect.fiber.interrupted"

type Options = Parameters<Tracer.Tracer["span"]>[0]

/** Where spans come from. */
export interface Source {
  readonly tracer: Otel.Tracer
  /** Hears that an attribute, event, link or failure could not be recorded. */
  readonly dropped: () => void
}

/** An Effect span over the OpenTelemetry API. */
export class OtelSpan implements Tracer.Span {
  readonly [SpanContext.OtelSpanTypeId] = SpanContext.OtelSpanTypeId
  readonly _tag = "Span"
  readonly name: string
  readonly kind: Tracer.SpanKind
  readonly annotations: Context.Context<never>
  readonly links: Array<Tracer.SpanLink>
  readonly parent: Option.Option<Tracer.AnySpan>
  readonly span: Otel.Span
  readonly traceId: string
  readonly spanId: string
  readonly sampled: boolean
  readonly recording: boolean
  readonly initial: StartAttributes["attributes"] | undefined
  status: Tracer.SpanStatus
  readonly source: Source
  /** Names and values in turn, as written, until somebody asks for the map: of most spans, nobody does. */
  readonly written: Array<unknown> = []
  map: Map<string, unknown> | undefined
  /** The context in which code under this span runs, and the one that it was made from. Kept here by `ActiveContext.ts`. */
  entered: { readonly around: Otel.Context; readonly context: Otel.Context } | undefined

  constructor(source: Source, options: Options) {
    this.source = source
    this.name = options.name
    this.kind = options.kind
    this.annotations = options.annotations
    this.links = options.links
    this.status = { _tag: "Started", startTime: options.startTime }
    this.entered = undefined

    const active = Otel.context.active()
    const [parent, context] = placeOf(active, options)
    this.parent = parent
    const initial = Context.getOrUndefined(options.annotations, InitialAttributes)
    this.span = start(source.tracer, options, initial?.attributes, context)
    this.recording = isRecording(this.span)
    this.initial = this.recording ? initial?.attributes : undefined
    this.map = undefined
    if (initial) initial.taken = true

    const { spanId, traceFlags, traceId } = this.span.spanContext()
    this.traceId = traceId
    this.spanId = spanId
    this.sampled = (traceFlags & Otel.TraceFlags.SAMPLED) !== 0
  }

  get attributes(): ReadonlyMap<string, unknown> {
    if (this.map === undefined) {
      this.map = new Map(Object.entries(this.initial ?? {}))
      for (let n = 0; n < this.written.length; n += 2)
        this.map.set(String(this.written[n]), this.written[n + 1])
    }
    return this.map
  }

  attribute(key: string, value: unknown): void {
    if (!this.recording || this.status._tag === "Ended") return
    if (this.map === undefined) this.written.push(key, value)
    else this.map.set(key, value)
    try {
      this.span.setAttribute(key, AttributeValue.fromUnknown(value))
    } catch {
      this.source.dropped()
    }
  }

  event(name: string, startTime: bigint, attributes?: Record<string, unknown>): void {
    if (!this.recording || this.status._tag === "Ended") return
    record(this, () =>
      this.span.addEvent(
        name,
        attributes && AttributeValue.fromRecord(attributes),
        AttributeValue.toHrTime(startTime)
      )
    )
  }

  addLinks(links: ReadonlyArray<Tracer.SpanLink>): void {
    if (this.status._tag === "Ended") return
    for (const link of links) this.links.push(link)
    if (this.recording) record(this, () => this.span.addLinks(links.map(toOtelLink)))
  }

  end(endTime: bigint, exit: Exit.Exit<unknown, unknown>): void {
    if (this.status._tag === "Ended") return
    this.status = { _tag: "Ended", startTime: this.status.startTime, endTime, exit }
    if (!this.recording) return
    const time = AttributeValue.toHrTime(endTime)
    if (exit._tag === "Failure") record(this, () => recordCause(this.span, exit.cause, time))
    try {
      this.span.end(time)
    } catch (error) {
      report(error)
    }
  }
}

/** The parent of a span as Effect shows it, and the OpenTelemetry context to start it in. */
const placeOf = (
  active: Otel.Context,
  { annotations, parent, root }: Options
): readonly [Option.Option<Tracer.AnySpan>, Otel.Context] => {
  if (Option.isSome(parent)) return [parent, SpanContext.withSpan(active, parent.value, annotations)]
  const found = root ? undefined : SpanContext.activeParent(active, annotations)
  if (found === undefined) {
    return [parent, Otel.trace.getSpan(active) ? Otel.trace.deleteSpan(active) : active]
  }
  // The active context itself where possible: some SDKs find more than the span context in it.
  return [
    Option.some(found),
    SpanContext.overridesParent(annotations) ? SpanContext.withSpan(active, found, annotations) : active
  ]
}

const start = (
  tracer: Otel.Tracer,
  { kind, links, name, startTime }: Options,
  attributes: Otel.Attributes | undefined,
  context: Otel.Context
): Otel.Span => {
  try {
    return tracer.startSpan(
      name,
      {
        kind: kinds[kind],
        startTime: AttributeValue.toHrTime(startTime),
        attributes: attributes ?? {},
        links: links.map(toOtelLink)
      },
      context
    )
  } catch (error) {
    report(error)
    return Otel.trace.wrapSpanContext(Otel.INVALID_SPAN_CONTEXT)
  }
}

const kinds: Readonly<Record<Tracer.SpanKind, Otel.SpanKind>> = {
  internal: Otel.SpanKind.INTERNAL,
  client: Otel.SpanKind.CLIENT,
  server: Otel.SpanKind.SERVER,
  producer: Otel.SpanKind.PRODUCER,
  consumer: Otel.SpanKind.CONSUMER
}

const toOtelLink = ({ attributes, span }: Tracer.SpanLink): Otel.Link => ({
  context: SpanContext.make(span),
  attributes: AttributeValue.fromRecord(attributes)
})

const recordCause = (span: Otel.Span, cause: Cause.Cause<unknown>, time: Otel.HrTime): void => {
  if (Cause.hasInterruptsOnly(cause)) {
    span.setAttribute(ATTR_INTERRUPTED, true)
    return
  }
  // Before anything of the errors is read: they may throw.
  span.setStatus({ code: Otel.SpanStatusCode.ERROR })
  const errors = Cause.prettyErrors(cause, { includeCauseInStack: true })
  if (errors[0]) span.setStatus({ code: Otel.SpanStatusCode.ERROR, message: errors[0].message })
  for (const error of errors) span.recordException(error, time)
}

const isRecording = (span: Otel.Span): boolean => {
  try {
    return span.isRecording()
  } catch {
    return false
  }
}

/** A plain function on public parts: spans get wrapped, and a wrapper has no private ones. */
const record = ({ source }: OtelSpan, telemetry: () => void): void => {
  try {
    telemetry()
  } catch {
    source.dropped()
  }
}

const report = (error: unknown): void => Otel.diag.error("toolspan: the OpenTelemetry SDK threw", error)
