/**
 * The same object with some members replaced: how a service is decorated without changing what it is.
 */

/** `original` with `members` in place of its own. */
export const withMembers = <A extends object>(
  original: A,
  members: Partial<A> & Record<string, unknown>
): A =>
  Object.getPrototypeOf(original) === Object.prototype ? { ...original, ...members } : view(original, members)

/** Of an object of a class only a view is safe: its methods and getters may need the object itself, which may be frozen. */
const view = <A extends object>(original: A, members: Record<string, unknown>): A => {
  const holding = (key: PropertyKey) => (Object.hasOwn(members, key) ? members : original)
  const methods = new Map<unknown, unknown>()
  // biome-ignore lint/complexity/noBannedTypes: of any type.
  const method = (value: Function): unknown => {
    if (!methods.has(value)) methods.set(value, value.bind(original))
    return methods.get(value)
  }
  // A proxy must show the fixed properties of its target as they are; this target has none.
  return new Proxy(Object.create(Object.getPrototypeOf(original)), {
    get: (_, key) => {
      const holder = holding(key)
      const value: unknown = Reflect.get(holder, key)
      return holder === original && typeof value === "function" && !Object.hasOwn(original, key)
        ? method(value)
        : value
    },
    set: (_, key, value) => Reflect.set(holding(key), key, value),
    has: (_, key) => Reflect.has(holding(key), key),
    ownKeys: () => Array.from(new Set([...Reflect.ownKeys(original), ...Reflect.ownKeys(members)])),
    getOwnPropertyDescriptor: (_, key) => {
      const descriptor = Reflect.getOwnPropertyDescriptor(holding(key), key)
      return descriptor && { ...descriptor, configurable: true }
    }
  })
}
