/**
 * A trace, or the part of it that one process saw, as it is shown: a tree of span snapshots.
 */
import type { SpanSnapshot } from "./SpanSnapshot.ts"

/** A span with its children in the order of their start. */
export interface TraceNode {
  readonly span: SpanSnapshot
  readonly children: ReadonlyArray<TraceNode>
}

/** What is shown at once. */
export interface Trace {
  readonly traceId: string
  /** Spans whose parent is not in this tree: they have none, or it is of another process, or was shown before. */
  readonly roots: ReadonlyArray<TraceNode>
  /** Whether a part of this trace was shown before. */
  readonly continued: boolean
  /** How many more spans the trace has that were not kept. */
  readonly hiddenCount: number
  /** The time of showing, in nanoseconds: unfinished spans reach up to it. */
  readonly shownAt: bigint
}

/** All spans of the trace, parents before children. */
export function* spans(nodes: ReadonlyArray<TraceNode>): Generator<SpanSnapshot> {
  const pending = nodes.toReversed()
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    yield node.span
    pending.push(...node.children.toReversed())
  }
}

/**
 * Roots that have the same parent, which is not in the tree, stand together as they would below it. Otherwise the order is kept.
 */
export const families = (roots: ReadonlyArray<TraceNode>): ReadonlyArray<ReadonlyArray<TraceNode>> => {
  const families: Array<Array<TraceNode>> = []
  const known = new Map<string, Array<TraceNode>>()
  for (const root of roots) {
    const { parentId } = root.span
    const family = parentId === undefined ? undefined : known.get(parentId)
    if (family !== undefined) {
      family.push(root)
      continue
    }
    const first = [root]
    families.push(first)
    if (parentId !== undefined) known.set(parentId, first)
  }
  return families
}
