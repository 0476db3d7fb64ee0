/**
 * An in-memory tracer: every span of a program, from its start on, for tests.
 *
 * Spans are listed when they start, so that one that never ends is seen. Whether a trace is the expected one, and
 * nothing else, is `expectTrees`; the comparison itself is in `TraceMatch`.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Tracer from "effect/Tracer"
import type * as ExpectedTree from "./ExpectedTree.ts"
import * as RecordedSpan from "./RecordedSpan.ts"
import * as TraceMatch from "./TraceMatch.ts"
import * as TraceTree from "./TraceTree.ts"

export { TraceMismatch } from "./TraceMatch.ts"

/** A recording tracer and what it has recorded so far. */
export class RecordedSpans extends Context.Service<
  RecordedSpans,
  {
    /** The tracer to provide as `Tracer.Tracer`. */
    readonly tracer: Tracer.Tracer
    /** All spans in the order of their start, those still open included. Grows while the program runs. */
    readonly spans: ReadonlyArray<RecordedSpan.RecordedSpan>
    /** The spans whose parent was not recorded here, in the order of their start. */
    readonly roots: ReadonlyArray<RecordedSpan.RecordedSpan>
    /** The spans that never ended so far, in the order of their start. */
    readonly open: ReadonlyArray<RecordedSpan.RecordedSpan>
    /** The spans of this name, in the order of their start. */
    readonly byName: (name: string) => ReadonlyArray<RecordedSpan.RecordedSpan>
  }
>()("toolspan/testing/RecordedSpans") {}

/** Makes a recording tracer with no spans yet. */
export const make: Effect.Effect<RecordedSpans["Service"]> = Effect.sync(() => {
  const spans: Array<RecordedSpan.RecordedSpan> = []
  return {
    tracer: Tracer.make({
      span(options) {
        const span = new RecordedSpan.RecordedSpan(options)
        spans.push(span)
        return span
      }
    }),
    spans,
    get roots() {
      return TraceTree.fromSpans(spans).map((tree) => tree.span)
    },
    get open() {
      return spans.filter((span) => RecordedSpan.status(span) === "open")
    },
    byName: (name) => spans.filter((span) => span.name === name)
  }
})

/** Records the spans of the program that it is provided to; the service gives them to the test. */
export const layer: Layer.Layer<RecordedSpans> = Layer.effectContext(
  Effect.map(make, (recorded) =>
    Context.make(RecordedSpans, recorded).pipe(Context.add(Tracer.Tracer, recorded.tracer))
  )
)

/**
 * Asserts that exactly these trees were recorded, in any order. Throws a {@link TraceMismatch}, whose message lists
 * the differences and shows both sides, if a span is missing, misplaced or not expected, is still open or was ended
 * twice, or is not as described.
 */
export const expectTrees = (
  recorded: RecordedSpans["Service"],
  trees: ReadonlyArray<ExpectedTree.ExpectedTree>
): void => TraceMatch.expectTrees(recorded.spans, trees)

/** The recorded trees as text, without ids and times: a line for each span, event and link, indented by depth. */
export const render = (recorded: RecordedSpans["Service"]): string =>
  TraceTree.render(TraceTree.fromSpans(recorded.spans), TraceTree.naming(recorded.spans))
