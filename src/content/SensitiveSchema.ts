/**
 * Finds the sensitive places of what a schema describes, in its *encoded* form: the form in which parameters arrive and results leave.
 *
 * Sensitive is a schema marked with {@link sensitive}, `Schema.Redacted`, `Schema.RedactedFromValue`, and one with the JSON schema
 * keywords `writeOnly: true` or `format: "password"`, as annotations or in a JSON schema. A secret is followed through
 * transformations to where it stands when encoded; where that cannot be known, all that the transformation makes is sensitive.
 */
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import type * as SchemaGetter from "effect/SchemaGetter"
import * as JsonSchemaShape from "./JsonSchemaShape.ts"
import { compile, type Mask, nothing, type Shape } from "./Mask.ts"

export type { Mask } from "./Mask.ts"

type AST = SchemaAST.AST

const ANNOTATION = "toolspan/content/sensitive"

/** The same schema, marked: what it describes is never captured. */
export const sensitive = <S extends Schema.Top>(schema: S): S["Rebuild"] =>
  schema.annotate({ [ANNOTATION]: true })

/**
 * The sensitive places of the encoded form of `schema`, an Effect schema or a JSON schema; undefined when there are none. Compiled once for
 * each schema. Never throws: a schema that cannot be read counts as sensitive.
 */
export const maskOf = (schema: object): Mask | undefined => {
  const key = Schema.isSchema(schema) ? schema.ast : schema
  let mask = masks.get(key)
  if (mask === undefined) {
    mask = (SchemaAST.isAST(key) ? compile([key], shapeOf) : JsonSchemaShape.compile(key)) ?? null
    masks.set(key, mask)
  }
  return mask ?? undefined
}

/** A memory of pure results, let go with their schemas. */
const masks = new WeakMap<object, Mask | null>()

const shapeOf = (ast: AST): Shape<AST> => {
  const own = ownShape(ast)
  if (ast.encoding === undefined || own.whole) return own
  let shape = own
  let before = ast
  for (const link of ast.encoding) {
    const carried = carry(expand(shape), before, link)
    shape = { ...carried, same: [...carried.same, link.to] }
    before = link.to
  }
  return shape
}

/** What a node says of the value that it describes, before any encoding of the node itself. */
const ownShape = (ast: AST): Shape<AST> => {
  if (isMarked(ast)) return { ...nothing, whole: true }
  switch (ast._tag) {
    case "Objects":
      return {
        ...nothing,
        fields: ast.propertySignatures.map(({ name, type }) => [String(name), type]),
        others: ast.indexSignatures.map(({ type }) => type)
      }
    case "Arrays":
      return { ...nothing, elements: ast.elements, rest: ast.rest }
    case "Union":
      return { ...nothing, same: ast.types }
    case "Suspend":
      return { ...nothing, same: [ast.thunk()] }
    case "Declaration":
      return { ...nothing, opaque: ast.typeParameters }
    case "TemplateLiteral":
      return { ...nothing, opaque: ast.parts }
    default:
      return nothing
  }
}

const isMarked = (ast: AST): boolean =>
  marks(ast.annotations) || (ast.checks?.some((check) => marksCheck(check)) ?? false)

/** `annotate` on a schema with checks puts the annotations on its last check, and more checks may follow. */
const marksCheck = (check: SchemaAST.Check<never>): boolean =>
  marks(check.annotations) || (check._tag === "FilterGroup" && check.checks.some(marksCheck))

const marks = (annotations: Schema.Annotations.Annotations | undefined): boolean => {
  if (annotations === undefined) return false
  const { representation } = annotations
  return (
    annotations[ANNOTATION] === true ||
    annotations["writeOnly"] === true ||
    annotations["format"] === "password" ||
    (typeof representation === "object" &&
      representation !== null &&
      Reflect.get(representation, "id") === "effect/schema/Redacted")
  )
}

/** One level of the nodes that stand in the same place, so that their fields can be followed. */
const expand = (shape: Shape<AST>): Shape<AST> =>
  shape.same.map(shapeOf).reduce(
    (all, one) => ({
      whole: all.whole || one.whole,
      fields: [...all.fields, ...one.fields],
      others: [...all.others, ...one.others],
      elements: [...all.elements, ...one.elements],
      rest: [...all.rest, ...one.rest],
      same: [...all.same, ...one.same],
      opaque: [...all.opaque, ...one.opaque]
    }),
    { ...shape, same: [] }
  )

/** What `shape`, of the node `before`, tells of the encoded side of `link`. */
const carry = (shape: Shape<AST>, before: AST, link: SchemaAST.Link): Shape<AST> => {
  if (shape.whole || isCovered(before, link.to)) return { ...nothing, whole: shape.whole }
  const encode = link.transformation._tag === "Transformation" ? link.transformation.encode : undefined
  const renamed = isStruct(shape) && encode !== undefined ? rename(shape.fields, encode) : undefined
  if (renamed !== undefined && SchemaAST.isObjects(link.to)) return carryFields(renamed, link.to)
  return encode?._tag === "Passthrough" && isPlain(link.to) ? shape : { ...nothing, opaque: below(shape) }
}

/** Whether `to` describes all that `before` does: so with classes, options, defaults and middleware. */
const isCovered = (before: AST, to: AST): boolean => {
  const described = SchemaAST.isUnion(to) ? [to, ...to.types] : [to]
  const isDescribed = (ast: AST) => described.some((other) => hasSameType(ast, other))
  const parts = SchemaAST.isDeclaration(before)
    ? before.typeParameters
    : SchemaAST.isUnion(before)
      ? before.types
      : []
  return isDescribed(before) || (parts.length > 0 && parts.every(isDescribed))
}

/** Upstream gives one type node for one schema, and copies it to make a key optional. */
const hasSameType = (a: AST, b: AST): boolean => {
  const left = SchemaAST.toType(a)
  const right = SchemaAST.toType(b)
  if (left === right) return true
  return (
    SchemaAST.isObjects(left) &&
    SchemaAST.isObjects(right) &&
    left.propertySignatures === right.propertySignatures &&
    left.indexSignatures === right.indexSignatures
  )
}

/** Whether values of this node look the same encoded and decoded. */
const isPlain = (ast: AST): boolean => SchemaAST.toType(ast) === ast

const isStruct = ({ others, elements, rest, same, opaque }: Shape<AST>): boolean =>
  [others, elements, rest, same, opaque].every((nodes) => nodes.length === 0)

/** Fields by their encoded names; no name where the encoded side has no such field. */
type Renamed = ReadonlyArray<readonly [name: string | undefined, node: AST]>

/**
 * Where the fields of a struct go, if `encode` does nothing but rename and leave out. It is shown a symbol for each field: a
 * transformation that does more fails on symbols, or gives back something else.
 */
const rename = (
  fields: Shape<AST>["fields"],
  encode: SchemaGetter.Getter<unknown, unknown, unknown>
): Renamed | undefined => {
  if (encode._tag === "Passthrough") return fields
  if (encode._tag !== "Transform") return undefined
  const nodes = new Map<unknown, AST>(fields.map(([name, node]) => [Symbol(name), node]))
  const shown = Object.fromEntries([...nodes.keys()].map((symbol, i) => [fields[i]?.[0] ?? "", symbol]))
  try {
    const made = Object.entries(encode.transform(shown) ?? {})
    if (made.some(([, symbol]) => !nodes.has(symbol))) return undefined
    return [...nodes].map(([symbol, node]) => [made.find((entry) => entry[1] === symbol)?.[0], node])
  } catch {
    return undefined
  }
}

const carryFields = (renamed: Renamed, to: SchemaAST.Objects): Shape<AST> => {
  const fields: Array<readonly [string, AST]> = []
  const opaque: Array<AST> = []
  for (const [name, node] of renamed) {
    const encoded = to.propertySignatures.find((property) => String(property.name) === name)?.type
    if (name === undefined || encoded === undefined) opaque.push(node)
    else if (isPlain(encoded)) fields.push([name, node])
    else if (!hasSameType(node, encoded)) opaque.push(node)
  }
  return { ...nothing, fields, opaque }
}

const below = (shape: Shape<AST>): ReadonlyArray<AST> => [
  ...shape.fields.map(([, node]) => node),
  ...shape.others,
  ...shape.elements,
  ...shape.rest,
  ...shape.same,
  ...shape.opaque
]
