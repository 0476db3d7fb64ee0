/**
 * Compares recorded trees with expected ones: these trees and nothing else, as the mock subscriber of Rust's
 * `tracing` closes with `only()`.
 */
import * as Equal from "effect/Equal"
import type * as Tracer from "effect/Tracer"
import * as ExpectedTree from "./ExpectedTree.ts"
import * as RecordedSpan from "./RecordedSpan.ts"
import * as TraceTree from "./TraceTree.ts"

/** The recorded trace is not the expected one. The message lists every difference and shows both sides as text. */
export class TraceMismatch extends Error {
  override readonly name = "TraceMismatch"
}

/** Throws a {@link TraceMismatch} unless the spans form exactly the expected trees, in any order. */
export const expectTrees = (
  spans: ReadonlyArray<RecordedSpan.RecordedSpan>,
  expected: ReadonlyArray<ExpectedTree.ExpectedTree>
): void => {
  const actual = TraceTree.fromSpans(spans)
  const nameOf = TraceTree.naming(spans)
  const differences = compareSiblings(expected, actual, "", nameOf)
  if (differences.length === 0) return
  throw new TraceMismatch(
    [
      "The recorded trace is not the expected one.",
      section("differences", differences.map((line) => `- ${line}`).join("\n")),
      section("expected", ExpectedTree.render(expected, nameOf)),
      section("recorded", TraceTree.render(actual, nameOf))
    ].join("\n\n")
  )
}

const section = (title: string, body: string): string =>
  `${title}:\n${(body === "" ? "(nothing)" : body).replaceAll(/^/gm, "  ")}`

type NameOf = (span: Tracer.AnySpan) => string

type Differences = ReadonlyArray<string>

/**
 * Each expected span takes one recorded span that it describes, whatever their order. An expected span that finds
 * none is compared with the namesake left over that differs least.
 */
const compareSiblings = (
  expected: ReadonlyArray<ExpectedTree.ExpectedTree>,
  actual: ReadonlyArray<TraceTree.TraceTree>,
  path: string,
  nameOf: NameOf
): Differences => {
  const table = expected.map((said) => actual.map((found) => compare(said, found, path, nameOf)))
  const taken = assign(table.map((row) => row.map((differences) => differences.length === 0)))
  const placed = new Set(taken.values())
  const leftOver = new Set(actual.map((_, index) => index).filter((index) => !taken.has(index)))
  const missing = expected.flatMap((said, index): Differences => {
    if (placed.has(index)) return []
    const [closest] = Array.from(leftOver)
      .filter((other) => actual[other]?.span.name === said.name)
      .map((other) => ({ other, differences: table[index]?.[other] ?? [] }))
      .sort((a, b) => a.differences.length - b.differences.length)
    if (closest === undefined) return [`missing: ${path}${said.name}`]
    leftOver.delete(closest.other)
    return closest.differences
  })
  const unexpected = Array.from(leftOver, (index) => `unexpected: ${path}${actual[index]?.span.name}`)
  return [...missing, ...unexpected]
}

/**
 * A largest assignment of expected spans (rows) to recorded ones (columns) that they fit: recorded index to expected
 * index.
 */
const assign = (fits: ReadonlyArray<ReadonlyArray<boolean>>): ReadonlyMap<number, number> => {
  const taken = new Map<number, number>()
  const place = (row: number, tried: Set<number>): boolean =>
    (fits[row] ?? []).some((fit, column) => {
      if (!fit || tried.has(column)) return false
      tried.add(column)
      const holder = taken.get(column)
      if (holder !== undefined && !place(holder, tried)) return false
      taken.set(column, row)
      return true
    })
  for (const row of fits.keys()) place(row, new Set())
  return taken
}

const compare = (
  said: ExpectedTree.ExpectedTree,
  { children, foreignParent, span }: TraceTree.TraceTree,
  path: string,
  nameOf: NameOf
): Differences => {
  const at = `${path}${span.name}`
  if (said.name !== span.name) return [`${at}: is not ${said.name}`]
  const status = RecordedSpan.status(span)
  return [
    ...(status === "open" && said.status !== "open" ? [`${at}: never ended`] : []),
    ...(span.endCount > 1 ? [`${at}: ended ${span.endCount} times`] : []),
    ...compareParent(at, said.parent, foreignParent, nameOf),
    ...compareField(`${at}: kind`, said.kind, span.kind),
    ...compareField(`${at}: status`, said.status, status),
    ...compareField(`${at}: description`, said.description, RecordedSpan.statusDescription(span)),
    ...compareAttributes(at, said.attributes, span.attributes, said.exact === true),
    ...compareList(at, "event", said.events, RecordedSpan.events(span), (one, found, where) => [
      ...compareField(`${where}: name`, one.name, found.name),
      ...compareAttributes(where, one.attributes, new Map(Object.entries(found.attributes)))
    ]),
    ...compareList(at, "link", said.links, span.links, (one, found, where) => [
      ...(pointsTo(one, found, nameOf)
        ? []
        : [`${where}: expected target ${ExpectedTree.target(one, nameOf)}, got ${nameOf(found.span)}`]),
      ...compareAttributes(where, one.attributes, new Map(Object.entries(found.attributes)))
    ]),
    ...compareChildren(at, said, children, nameOf)
  ]
}

const compareChildren = (
  at: string,
  { children: said = [], ordered = false }: ExpectedTree.ExpectedSpan,
  found: ReadonlyArray<TraceTree.TraceTree>,
  nameOf: NameOf
): Differences => {
  const differences = compareSiblings(said, found, `${at} > `, nameOf)
  if (!ordered || differences.length > 0) return differences
  const inOrder = found.every((tree, index) => {
    const one = said[index]
    return one !== undefined && compare(one, tree, "", nameOf).length === 0
  })
  const order = found.map((tree) => tree.span.name).join(", ")
  return inOrder ? [] : [`${at}: the children are the expected ones, but started in another order: ${order}`]
}

const compareParent = (
  at: string,
  said: Tracer.AnySpan | undefined,
  found: Tracer.AnySpan | undefined,
  nameOf: NameOf
): Differences => {
  const name = (span: Tracer.AnySpan | undefined): string => (span === undefined ? "none" : nameOf(span))
  return name(said) === name(found) ? [] : [`${at}: parent: expected ${name(said)}, got ${name(found)}`]
}

const pointsTo = ({ to }: ExpectedTree.ExpectedLink, { span }: Tracer.SpanLink, nameOf: NameOf): boolean =>
  typeof to === "string" ? to === nameOf(span) : RecordedSpan.id(to) === RecordedSpan.id(span)

const compareField = (what: string, said: unknown, found: unknown): Differences =>
  said === undefined ? [] : compareValue(what, said, found)

const compareValue = (what: string, said: unknown, found: unknown): Differences => {
  const fits = typeof said === "function" ? said(found) === true : Equal.equals(said, found)
  return fits ? [] : [`${what}: expected ${TraceTree.value(said)}, got ${TraceTree.value(found)}`]
}

const compareAttributes = (
  at: string,
  said: ExpectedTree.ExpectedAttributes = {},
  found: ReadonlyMap<string, unknown>,
  exact = false
): Differences => {
  const wanted = new Map(Object.entries(said))
  const keys = new Set([...wanted.keys(), ...(exact ? found.keys() : [])])
  return Array.from(keys).flatMap((key) =>
    compareValue(`${at}: attribute ${key}`, wanted.get(key), found.get(key))
  )
}

const compareList = <Said, Found>(
  at: string,
  what: string,
  said: ReadonlyArray<Said> | undefined,
  found: ReadonlyArray<Found>,
  compareOne: (said: Said, found: Found, where: string) => Differences
): Differences => {
  if (said === undefined) return []
  if (said.length !== found.length) return [`${at}: ${what}s: expected ${said.length}, got ${found.length}`]
  return said.flatMap((one, index) => {
    const other = found[index]
    return other === undefined ? [] : compareOne(one, other, `${at}: ${what} ${index + 1}`)
  })
}
