/**
 * Free ports of the loopback interface.
 */
import * as Net from "node:net"
import * as Effect from "effect/Effect"

/** One for each name, all different. They are free now: whoever takes one in between makes the program that wanted it end with an error. */
export const free = <Name extends string>(
  names: ReadonlyArray<Name>
): Effect.Effect<Readonly<Record<Name, number>>> =>
  Effect.promise(async () => {
    const servers = await Promise.all(names.map(() => listen()))
    const ports = servers.map(portOf)
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
    // Made of the same names.
    return Object.fromEntries(names.map((name, i) => [name, ports[i]])) as Record<Name, number>
  })

const listen = (): Promise<Net.Server> =>
  new Promise((resolve) => {
    const server = Net.createServer()
    server.listen(0, "127.0.0.1", () => resolve(server))
  })

const portOf = (server: Net.Server): number => {
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("a TCP server without a port")
  return address.port
}
