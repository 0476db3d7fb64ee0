/**
 * The sensitive places that a JSON schema names: `writeOnly: true` or `format: "password"`.
 *
 * Reads the keywords that place a schema somewhere in the value, of draft 7 and 2020-12, and local `$ref`s. A remote one says nothing.
 */
import { compile as compileMask, type Mask, nothing, type Shape } from "./Mask.ts"

/** The mask of a value that `root` describes; undefined when nothing in it is sensitive. */
export const compile = (root: object): Mask | undefined => compileMask([root], (node) => shapeOf(node, root))

const shapeOf = (schema: object, root: object): Shape<object> => {
  const get = (keyword: string): unknown => Reflect.get(schema, keyword)
  if (get("writeOnly") === true || get("format") === "password") return { ...nothing, whole: true }
  const items = get("items")
  return {
    ...nothing,
    fields: entries(get("properties")),
    others: [
      ...entries(get("patternProperties")).map(([, node]) => node),
      ...nodes(get("additionalProperties"), get("unevaluatedProperties"))
    ],
    elements: [...list(get("prefixItems")), ...list(items)],
    rest: nodes(items, get("additionalItems"), get("unevaluatedItems"), get("contains")),
    same: [
      ...list(get("allOf")),
      ...list(get("anyOf")),
      ...list(get("oneOf")),
      ...entries(get("dependentSchemas")).map(([, node]) => node),
      ...nodes(get("if"), get("then"), get("else"), resolve(get("$ref"), root))
    ]
  }
}

const isNode = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const nodes = (...values: ReadonlyArray<unknown>): ReadonlyArray<object> => values.filter(isNode)

const list = (value: unknown): ReadonlyArray<object> => (Array.isArray(value) ? value.filter(isNode) : [])

const entries = (value: unknown): ReadonlyArray<readonly [string, object]> =>
  isNode(value) ? Object.entries(value).filter((entry): entry is [string, object] => isNode(entry[1])) : []

/** `#` and `#/…` (a JSON pointer, perhaps percent-encoded). */
const resolve = (ref: unknown, root: object): unknown => {
  if (typeof ref !== "string" || !ref.startsWith("#")) return undefined
  let node: unknown = root
  for (const part of decodeURIComponent(ref).split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~")
    if (typeof node !== "object" || node === null || !Object.hasOwn(node, key)) return undefined
    node = Reflect.get(node, key)
  }
  return node
}
