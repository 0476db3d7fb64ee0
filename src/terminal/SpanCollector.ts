/**
 * Gathers spans into traces while they run, and gives out each trace when it is finished: when none of its spans is open, and it is more
 * than decisions that are about to be acted on.
 *
 * A span that starts after its trace was given out begins a continuation. What it holds is bounded: of a trace with very many spans the
 * first are kept and the rest counted; when very many traces are open the oldest is given out unfinished, and its spans one by one
 * as they end.
 */
import * as Option from "effect/Option"
import type * as Tracer from "effect/Tracer"
import * as SpanEvents from "./SpanEvents.ts"
import * as SpanListener from "./SpanListener.ts"
import * as SpanSnapshot from "./SpanSnapshot.ts"
import type { Trace, TraceNode } from "./Trace.ts"

/** How much is held at most. */
export interface Limits {
  readonly spansPerTrace: number
  readonly openTraces: number
  /** How many traces that were given out are remembered, to tell a continuation. */
  readonly knownTraces: number
}

export interface Options {
  /** The current time, in nanoseconds. */
  readonly now: () => bigint
  /** Takes a trace when it is finished, evicted or given up. */
  readonly onTrace: (trace: Trace) => void
  readonly limits?: Limits | undefined
}

interface CollectedSpan {
  /** The span while it is open; then only what is shown of it, so that what it holds can go. */
  span: Tracer.Span | SpanSnapshot.SpanSnapshot
  events: SpanEvents.SpanEvents
  readonly children: Array<CollectedSpan>
}

interface OpenTrace {
  readonly traceId: string
  readonly spans: Map<string, CollectedSpan>
  readonly roots: Array<CollectedSpan>
  openCount: number
  hiddenCount: number
}

const defaultLimits: Limits = { spansPerTrace: 1000, openTraces: 1000, knownTraces: 1000 }

export class SpanCollector {
  readonly #options: Options
  readonly #limits: Limits
  readonly #traces = new Map<string, OpenTrace>()
  readonly #known = new Set<string>()
  readonly #running = new Set<Tracer.Span>()
  #closed = false

  constructor(options: Options) {
    this.#options = options
    this.#limits = options.limits ?? defaultLimits
  }

  /** The tool calls that are running now, oldest first. */
  get running(): ReadonlySet<Tracer.Span> {
    return this.#running
  }

  /** Takes in a span that has just started. Spans that nobody records are passed over. */
  started(span: Tracer.Span): void {
    if (this.#closed || !span.sampled || span.status._tag === "Ended") return
    const present = this.#traces.get(span.traceId)
    if (present !== undefined && present.spans.size >= this.#limits.spansPerTrace) {
      present.hiddenCount++
      return
    }
    const collected: CollectedSpan = { span, events: SpanEvents.none, children: [] }
    const listening = SpanListener.listen(span, {
      onEvent: (name, attributes) => {
        collected.events = SpanEvents.add(collected.events, name, attributes)
      },
      onEnd: (exit) => {
        this.#running.delete(span)
        if (this.#closed) return
        collected.span = SpanSnapshot.of(span, exit, collected.events)
        this.#ended(trace, collected)
      }
    })
    if (!listening) return
    const trace = present ?? this.#open(span.traceId)
    const parent = Option.getOrUndefined(span.parent)
    const siblings = (parent && trace.spans.get(parent.spanId)?.children) ?? trace.roots
    siblings.push(collected)
    trace.spans.set(span.spanId, collected)
    trace.openCount++
    if (SpanSnapshot.isToolCall(span)) this.#running.add(span)
  }

  /** Gives out all open traces as they are. Nothing is taken in or given out after that. */
  close(): void {
    for (const trace of this.#traces.values()) this.#giveOut(trace)
    this.#running.clear()
    this.#closed = true
  }

  #open(traceId: string): OpenTrace {
    const [oldest] = this.#traces.values()
    if (oldest !== undefined && this.#traces.size >= this.#limits.openTraces) this.#giveOut(oldest)
    const trace: OpenTrace = { traceId, spans: new Map(), roots: [], openCount: 0, hiddenCount: 0 }
    this.#traces.set(traceId, trace)
    return trace
  }

  #ended(trace: OpenTrace, span: CollectedSpan): void {
    trace.openCount--
    if (this.#traces.get(trace.traceId) !== trace) {
      this.#show({ traceId: trace.traceId, roots: [{ ...span, children: [] }], hiddenCount: 0 })
    } else if (trace.openCount === 0 && !this.#waitsForCall(trace)) {
      this.#giveOut(trace)
    }
  }

  /**
   * Whether the trace has only decisions, and something else is running: most likely the turn that acts on them. It asked in a trace that
   * was given out, perhaps by another process; the calls that were approved come next in that trace, and are shown with their approvals.
   */
  #waitsForCall(trace: OpenTrace): boolean {
    for (const { span } of trace.spans.values()) {
      if ("_tag" in span || span.approval === undefined) return false
    }
    for (const { openCount } of this.#traces.values()) if (openCount > 0) return true
    return false
  }

  /** Gives out the trace, and before it those that waited for calls: none came. */
  #giveOut(trace: OpenTrace): void {
    this.#traces.delete(trace.traceId)
    for (const other of this.#traces.values()) {
      if (other.openCount > 0) continue
      this.#traces.delete(other.traceId)
      this.#show(other)
    }
    this.#show(trace)
  }

  #show({ hiddenCount, roots, traceId }: Pick<OpenTrace, "traceId" | "roots" | "hiddenCount">): void {
    const continued = this.#known.has(traceId)
    this.#known.add(traceId)
    const [oldest] = this.#known
    if (oldest !== undefined && this.#known.size > this.#limits.knownTraces) this.#known.delete(oldest)
    this.#options.onTrace({
      traceId,
      roots: roots.map(toNode).sort(byStart),
      continued,
      hiddenCount,
      shownAt: this.#options.now()
    })
  }
}

const toNode = ({ children, events, span }: CollectedSpan): TraceNode => ({
  span: "_tag" in span ? SpanSnapshot.of(span, undefined, events) : span,
  children: children.map(toNode).sort(byStart)
})

const byStart = (a: TraceNode, b: TraceNode): number =>
  a.span.startTime < b.span.startTime ? -1 : a.span.startTime > b.span.startTime ? 1 : 0
