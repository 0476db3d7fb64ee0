/** Ports of this machine that nobody listens on: each found by listening on it for a moment. */
import * as net from "node:net"
import * as Effect from "effect/Effect"

export const free = Effect.callback<number>((resume) => {
  const server = net.createServer().listen(0, "127.0.0.1", () => {
    const { port } = server.address() as net.AddressInfo
    server.close(() => resume(Effect.succeed(port)))
  })
})
