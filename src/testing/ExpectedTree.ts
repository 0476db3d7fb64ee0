/**
 * What a test says about a trace: the shape that `RecordedSpans.expectTrees` compares with what was recorded.
 */
import type * as Tracer from "effect/Tracer"
import type * as RecordedSpan from "./RecordedSpan.ts"
import * as TraceTree from "./TraceTree.ts"

/**
 * Values by attribute name: equal to the recorded one (by structure), `undefined` when it must not be there, or a
 * function that says whether the recorded one will do.
 */
export type ExpectedAttributes = Readonly<Record<string, unknown>>

/** An event: name, and those of its attributes that matter. */
export interface ExpectedEvent {
  readonly name: string
  readonly attributes?: ExpectedAttributes | undefined
}

/** A link: the name of the recorded span it points to, or the span itself; and those of its attributes that matter. */
export interface ExpectedLink {
  readonly to: string | Tracer.AnySpan
  readonly attributes?: ExpectedAttributes | undefined
}

/**
 * A span and everything below it. What is left out is not compared, with two exceptions: a span without `children`
 * has none, and a span has ended, once, unless its status is said to be `open`.
 */
export interface ExpectedSpan {
  readonly name: string
  readonly kind?: Tracer.SpanKind | undefined
  readonly status?: RecordedSpan.Status | undefined
  /** Text beside the status `error`. */
  readonly description?: string | ((description: unknown) => boolean) | undefined
  /** Attributes that it has; others may be there, unless `exact`. */
  readonly attributes?: ExpectedAttributes | undefined
  /** Whether `attributes` are all that it has. Default `false`. */
  readonly exact?: boolean | undefined
  /** All its events, in order. Log lines of the program are events too. */
  readonly events?: ReadonlyArray<ExpectedEvent> | undefined
  /** All its links, in order. */
  readonly links?: ReadonlyArray<ExpectedLink> | undefined
  /** All its children; none when left out. */
  readonly children?: ReadonlyArray<ExpectedSpan> | undefined
  /** Whether the children started in the order given. Default `false`. */
  readonly ordered?: boolean | undefined
}

/** A whole tree. */
export interface ExpectedTree extends ExpectedSpan {
  /** The span, not recorded here, that the root is a child of; none when left out. */
  readonly parent?: Tracer.AnySpan | undefined
}

/** The trees as text, in the form of `TraceTree.render`, with what is said of them and no more. */
export const render = (
  trees: ReadonlyArray<ExpectedTree>,
  nameOf: (span: Tracer.AnySpan) => string,
  indent = ""
): string =>
  trees
    .flatMap((expected) => [
      `${indent}${expected.name}${traits(expected)}${attributes(expected.attributes)}`,
      ...(expected.parent === undefined ? [] : [`${indent}  ^ child of ${nameOf(expected.parent)}`]),
      ...(expected.events ?? []).map((event) => `${indent}  * ${event.name}${attributes(event.attributes)}`),
      ...(expected.links ?? []).map(
        (link) => `${indent}  > link to ${target(link, nameOf)}${attributes(link.attributes)}`
      ),
      ...(expected.children === undefined ? [] : [render(expected.children, nameOf, `${indent}  `)])
    ])
    .join("\n")

/** What a link is expected to point to, as text. */
export const target = ({ to }: ExpectedLink, nameOf: (span: Tracer.AnySpan) => string): string =>
  typeof to === "string" ? to : nameOf(to)

const traits = ({ description, exact, kind, ordered, status }: ExpectedSpan): string => {
  const said = [
    ...(kind === undefined ? [] : [kind]),
    ...(status === undefined ? [] : [status]),
    ...(description === undefined ? [] : [TraceTree.value(description)]),
    ...(exact === true ? ["no other attributes"] : []),
    ...(ordered === true ? ["children in this order"] : [])
  ]
  return said.length === 0 ? "" : ` (${said.join(", ")})`
}

const attributes = (said: ExpectedAttributes | undefined): string =>
  TraceTree.attributes(Object.entries(said ?? {}))
