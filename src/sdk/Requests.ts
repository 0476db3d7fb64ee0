/**
 * Knows the HTTP requests that exporters make, so that none of them keeps a process from ending.
 *
 * A socket that waits for a dead endpoint would hold the event loop for as long as the exporter's own timeout. Here each is let go of
 * (`unref`) when it is opened; what must be waited for, the close of the layer waits for. Requests are recognised by the asynchronous
 * scope they start in, through Node's diagnostics channel, because the exporters' own agents carry the TLS settings of the environment
 * and must stay. Where the channel does not exist (Node before 22.12), nothing changes. Out of reach is the pause before a retry: one that
 * began before the end (at most 5 s, or what the endpoint said in `retry-after`) lasts; the try after it is the last.
 */
import { AsyncLocalStorage } from "node:async_hooks"
import * as Diagnostics from "node:diagnostics_channel"
import type { ClientRequest, IncomingMessage } from "node:http"

/** State of an exporter: once `last`, a request that fails is not worth another try. */
export interface Sender {
  last: boolean
}

/** Runs exporters, and lets go of the sockets of their requests: from the first run until `stop`. */
export interface Requests {
  readonly run: <A>(sender: Sender, send: () => A) => A
  readonly stop: () => void
}

/** The statuses of an answer that OTLP says to retry. */
export const RETRIED: ReadonlySet<number> = new Set([429, 502, 503, 504])

const CHANNEL = "http.client.request.created"

/** Makes one, which does not listen yet. */
export const make = (): Requests => {
  const scope = new AsyncLocalStorage<Sender>()
  let listening = false
  const onRequest = (message: unknown): void => {
    const sender = scope.getStore()
    if (sender === undefined) return
    // The documented message of this channel.
    const { request } = message as { readonly request: ClientRequest }
    request.once("socket", (socket) => socket.unref())
    // Exporters retry, on timers that hold the event loop, what fails with a code or a status that they know.
    request.prependListener("error", (error: NodeJS.ErrnoException) => {
      if (sender.last) error.code = "ERR_TOOLSPAN_CLOSING"
    })
    request.prependListener("response", (response: IncomingMessage) => {
      if (sender.last && RETRIED.has(response.statusCode ?? 0)) response.statusCode = 500
    })
  }
  return {
    run: (sender, send) => {
      if (!listening) Diagnostics.subscribe(CHANNEL, onRequest)
      listening = true
      return scope.run(sender, send)
    },
    stop: () => {
      if (listening) Diagnostics.unsubscribe(CHANNEL, onRequest)
      listening = false
    }
  }
}
