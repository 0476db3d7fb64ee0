/** Values that no program should have, which nothing that reads a conversation may die of. */

const no = (): never => {
  throw new Error("no")
}

/** A proxy of which every use throws. */
export const proxy: object = new Proxy(
  {},
  { get: no, has: no, getOwnPropertyDescriptor: no, getPrototypeOf: no, ownKeys: no }
)

/** A proxy that has everything, and gives nothing of it. */
export const promising: object = new Proxy({}, { get: no, has: () => true })

/** A proxy that is gone. */
export const revoked: object = (() => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
})()

/** The value, with a getter that throws in place of one of its own properties. */
export const throwing = <T extends object>(value: T, name: string): T =>
  Object.defineProperty({ ...value }, name, { enumerable: true, get: no })

export const values: ReadonlyArray<object> = [proxy, promising, revoked]
