/**
 * Which places of a value are sensitive, compiled from a description of its shape.
 *
 * Where the description comes from (an Effect schema, a JSON schema), its own module knows; here nodes are only walked. Everything
 * is lazy, so that recursive schemas need no special care.
 */

/** Sensitive places of a value. There is no mask where nothing is sensitive. */
export interface Mask {
  /** The whole value is sensitive; else only what {@link Mask.field} and {@link Mask.item} say. */
  readonly whole: boolean
  /**
   * The mask of a field of an object. Beside a sensitive field, one that the schema does not know is sensitive too: it may be
   * the same secret, misspelt. So is every field where the schema expects no object.
   */
  readonly field: (name: string) => Mask | undefined
  /** The mask of an item of an array; every item is sensitive where the schema expects no array. */
  readonly item: (index: number) => Mask | undefined
}

/** What a node says of a value and the nodes below it; several nodes for one place are alternatives. */
export interface Shape<Node> {
  readonly whole: boolean
  readonly fields: ReadonlyArray<readonly [name: string, node: Node]>
  /** For every field that `fields` does not name. */
  readonly others: ReadonlyArray<Node>
  readonly elements: ReadonlyArray<Node>
  /** For every item behind `elements`. */
  readonly rest: ReadonlyArray<Node>
  /** Stands in the same place, to be merged with this. */
  readonly same: ReadonlyArray<Node>
  /** Goes into the value in a way that is not known: if anything in it is sensitive, the whole value is. */
  readonly opaque: ReadonlyArray<Node>
}

/** A shape that says nothing. */
export const nothing: Shape<never> = {
  whole: false,
  fields: [],
  others: [],
  elements: [],
  rest: [],
  same: [],
  opaque: []
}

/** The mask of a value that is sensitive as a whole. */
const whole: Mask = { whole: true, field: () => whole, item: () => whole }

/**
 * The mask of a value that one of `nodes` describes. `shapeOf` must give the same nodes for the same node; if it throws, the
 * place counts as sensitive.
 */
export const compile = <Node>(
  nodes: ReadonlyArray<Node>,
  shapeOf: (node: Node) => Shape<Node>
): Mask | undefined => {
  try {
    if (!nodes.some((node) => reachesSensitive(node, shapeOf))) return undefined
    const shapes = flatten(nodes, shapeOf)
    if (shapes.some((shape) => isWhole(shape, shapeOf))) return whole
    return ofShapes(shapes, (below) => compile(below, shapeOf))
  } catch {
    return whole
  }
}

/** Past this many nodes a schema counts as sensitive somewhere: one that grows each time it is looked at has no end. */
const MOST_NODES = 10_000

const reachesSensitive = <Node>(root: Node, shapeOf: (node: Node) => Shape<Node>): boolean => {
  const seen = new Set<Node>([root])
  for (const node of seen) {
    const shape = shapeOf(node)
    if (shape.whole || seen.size > MOST_NODES) return true
    for (const [, below] of shape.fields) seen.add(below)
    for (const list of [shape.others, shape.elements, shape.rest, shape.same, shape.opaque]) {
      for (const below of list) seen.add(below)
    }
  }
  return false
}

const isWhole = <Node>(shape: Shape<Node>, shapeOf: (node: Node) => Shape<Node>): boolean =>
  shape.whole || shape.opaque.some((node) => reachesSensitive(node, shapeOf))

/** The shapes of all nodes that stand in one place. */
const flatten = <Node>(
  nodes: ReadonlyArray<Node>,
  shapeOf: (node: Node) => Shape<Node>
): ReadonlyArray<Shape<Node>> => {
  const seen = new Set(nodes)
  const shapes: Array<Shape<Node>> = []
  for (const node of seen) {
    const shape = shapeOf(node)
    shapes.push(shape)
    for (const other of shape.same) seen.add(other)
  }
  return shapes
}

const ofShapes = <Node>(
  shapes: ReadonlyArray<Shape<Node>>,
  below: (nodes: ReadonlyArray<Node>) => Mask | undefined
): Mask => {
  const names = new Set(shapes.flatMap((shape) => shape.fields.map(([name]) => name)))
  const elements = Math.max(...shapes.map((shape) => shape.elements.length))
  const unknown = () => {
    const expectsObject = names.size > 0 || shapes.some((shape) => shape.others.length > 0)
    return !expectsObject || [...names].some((name) => field(name) !== undefined) ? whole : undefined
  }
  const field = memoize((name: string | undefined): Mask | undefined => {
    const nodes = shapes.flatMap((shape) => {
      const named = shape.fields.filter((field) => field[0] === name)
      return named.length > 0 ? named.map((field) => field[1]) : shape.others
    })
    return nodes.length > 0 ? below(nodes) : unknown()
  })
  const item = memoize((index: number): Mask | undefined => {
    const nodes = shapes.flatMap((shape) => shape.elements[index] ?? shape.rest)
    return nodes.length > 0 ? below(nodes) : whole
  })
  return {
    whole: false,
    // Only names and positions that the schema knows are remembered: a value cannot make this grow.
    field: (name) => field(names.has(name) ? name : undefined),
    item: (index) => item(Math.min(index, elements))
  }
}

const memoize = <Key, Value>(f: (key: Key) => Value): ((key: Key) => Value) => {
  const known = new Map<Key, Value>()
  return (key) => {
    const value = known.get(key)
    if (value !== undefined || known.has(key)) return value as Value // `has` says that an `undefined` is the stored value
    const made = f(key)
    known.set(key, made)
    return made
  }
}
