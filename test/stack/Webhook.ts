/**
 * Receives what Alertmanager sends, as one's own pager would.
 */
import * as http from "node:http"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

export interface Alert {
  readonly status: "firing" | "resolved"
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

export interface Message {
  /** `/page`, `/ticket`, `/info`, `/heartbeat`. */
  readonly path: string
  /** When it came, in milliseconds since the epoch. */
  readonly at: number
  readonly alerts: ReadonlyArray<Alert>
}

export interface Webhook {
  readonly url: string
  /** All messages so far. */
  readonly messages: ReadonlyArray<Message>
}

export const make: Effect.Effect<Webhook, never, Scope.Scope> = Effect.acquireRelease(
  Effect.callback<{ readonly server: http.Server; readonly webhook: Webhook }>((resume) => {
    const messages: Array<Message> = []
    const server = http.createServer((request, response) => {
      let body = ""
      request.on("data", (chunk) => {
        body += chunk
      })
      request.on("end", () => {
        messages.push({ path: request.url ?? "", at: Date.now(), alerts: JSON.parse(body).alerts })
        response.end()
      })
    })
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      resume(Effect.succeed({ server, webhook: { url: `http://127.0.0.1:${port}`, messages } }))
    })
  }),
  ({ server }) => Effect.sync(() => server.close())
).pipe(Effect.map(({ webhook }) => webhook))
