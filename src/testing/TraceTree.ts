/**
 * Recorded spans as trees, and trees as text. The comparison with expected trees is in `TraceMatch`.
 */
import * as Formatter from "effect/Formatter"
import type * as Tracer from "effect/Tracer"
import * as RecordedSpan from "./RecordedSpan.ts"

/** A recorded span with its recorded children, in the order of their start. */
export interface TraceTree {
  readonly span: RecordedSpan.RecordedSpan
  readonly children: ReadonlyArray<TraceTree>
  /** The parent of a root, if it has one: a span that was not recorded here. */
  readonly foreignParent: Tracer.AnySpan | undefined
}

/** The trees of these spans. A span whose parent is not among them is a root. */
export const fromSpans = (spans: ReadonlyArray<RecordedSpan.RecordedSpan>): ReadonlyArray<TraceTree> => {
  const roots: Array<RecordedSpan.RecordedSpan> = []
  const childrenOf = new Map(
    spans.map((span) => [RecordedSpan.id(span), Array.of<RecordedSpan.RecordedSpan>()])
  )
  for (const span of spans) {
    const parent = RecordedSpan.parent(span)
    const parentId = parent === undefined ? undefined : RecordedSpan.id(parent)
    const siblings = parentId === undefined ? undefined : childrenOf.get(parentId)
    if (siblings === undefined) roots.push(span)
    else siblings.push(span)
  }
  const toTree = (span: RecordedSpan.RecordedSpan): TraceTree => ({
    span,
    children: (childrenOf.get(RecordedSpan.id(span)) ?? []).map(toTree),
    foreignParent: undefined
  })
  return roots.map((span) => ({ ...toTree(span), foreignParent: RecordedSpan.parent(span) }))
}

/** One line for each span, event and link, children indented. */
export const render = (
  trees: ReadonlyArray<TraceTree>,
  nameOf: (span: Tracer.AnySpan) => string,
  indent = ""
): string =>
  trees
    .flatMap(({ children, foreignParent, span }) => [
      `${indent}${span.name} (${traits(span).join(", ")})${attributes(span.attributes)}`,
      ...(foreignParent === undefined ? [] : [`${indent}  ^ child of ${nameOf(foreignParent)}`]),
      ...RecordedSpan.events(span).map(
        (event) => `${indent}  * ${event.name}${attributes(Object.entries(event.attributes))}`
      ),
      ...span.links.map(
        (link) => `${indent}  > link to ${nameOf(link.span)}${attributes(Object.entries(link.attributes))}`
      ),
      ...(children.length === 0 ? [] : [render(children, nameOf, `${indent}  `)])
    ])
    .join("\n")

const traits = (span: RecordedSpan.RecordedSpan): ReadonlyArray<string> => {
  const description = RecordedSpan.statusDescription(span)
  return [
    span.kind,
    description === undefined
      ? RecordedSpan.status(span)
      : `${RecordedSpan.status(span)}: ${Formatter.format(description)}`,
    ...(span.endCount > 1 ? [`ended ${span.endCount} times`] : []),
    ...(span.sampled ? [] : ["not sampled"])
  ]
}

/** Attributes as text, sorted by key; nothing when there are none. */
export const attributes = (entries: Iterable<readonly [string, unknown]>): string => {
  const sorted = Array.from(entries).sort(([a], [b]) => (a < b ? -1 : 1))
  return sorted.length === 0 ? "" : ` {${sorted.map(([key, found]) => `${key}: ${value(found)}`).join(", ")}}`
}

/** A recorded value, or what is expected in its place, as text. */
export const value = (value: unknown): string =>
  typeof value === "function" ? "<predicate>" : Formatter.format(value)

/** How to call a span that others point to: by its name if it is among these, else by its ids. */
export const naming = (
  spans: ReadonlyArray<RecordedSpan.RecordedSpan>
): ((span: Tracer.AnySpan) => string) => {
  const names = new Map(spans.map((span) => [RecordedSpan.id(span), span.name]))
  return (span) => names.get(RecordedSpan.id(span)) ?? `${RecordedSpan.id(span)} (not recorded here)`
}
