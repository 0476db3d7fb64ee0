/**
 * One text for one JSON value: what tells whether two calls have the same arguments.
 */

/**
 * The value as JSON with the keys of its objects in order. What JSON leaves out is left out, so that a value and its copy from a store have
 * one text. Throws on what has no JSON, as `JSON.stringify` does.
 */
export const stringify = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
      : inner
  ) ?? "null"
