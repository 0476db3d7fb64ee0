import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync } from "node:fs"
import * as http from "node:http"
import * as http2 from "node:http2"
import * as https from "node:https"
import type { Server } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as OtlpServer from "../support/OtlpServer.ts"
import * as Program from "../support/Program.ts"

const doctor = (endpoint: string, args: ReadonlyArray<string> = [], environment = {}) =>
  Program.run("src/cli/main.ts", {
    args: ["doctor", "--endpoint", endpoint, ...args],
    environment: { OTEL_EXPORTER_OTLP_TIMEOUT: "1000", ...environment }
  })

/** A server on a free port, for the length of a scope; gives the port. */
const listening = (server: Server) =>
  Effect.acquireRelease(
    Effect.callback<number>((resume) => {
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0))
      })
    }),
    () => Effect.sync(() => server.close())
  )

/** A server that answers everything in the same way. */
const answering = (status: number, type: string, body: string) =>
  listening(
    http.createServer((_, response) => {
      response.writeHead(status, { "content-type": type }).end(body)
    })
  )

const certificate = () => {
  const folder = mkdtempSync(join(tmpdir(), "toolspan-test-"))
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")]
  const subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
  execFileSync(
    "openssl",
    ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-keyout", key, "-out", cert, ...subject],
    { stdio: "ignore" }
  )
  return { key: readFileSync(key), cert: readFileSync(cert) }
}

describe("toolspan doctor", () => {
  it.effect("finds that all is well, with the trace in Jaeger", () =>
    Effect.gen(function* () {
      const server = yield* OtlpServer.make
      const jaeger = yield* listening(
        http.createServer((request, response) => {
          const sent = server.spans().find((span) => request.url === `/api/traces/${span.traceId}`)
          response
            .writeHead(sent ? 200 : 404, { "content-type": "application/json" })
            .end(JSON.stringify(sent ? { data: [{}] } : { errors: [{ code: 404 }] }))
        })
      )
      const { code, stdout } = yield* doctor(server.url, ["--jaeger", `http://127.0.0.1:${jaeger}`])
      const spans = server.spans()
      const traceId = spans[0]?.traceId
      assert.deepStrictEqual(spans.map(({ name }) => name).sort(), [
        "execute_tool toolspan_doctor_ping",
        "toolspan doctor"
      ])
      assert.deepStrictEqual(
        [code, stdout.split("\n")],
        [
          0,
          [
            `✓ ${server.url}/v1/traces takes spans`,
            `✓ a test call was sent and accepted, as trace ${traceId}`,
            `✓ Jaeger has it: http://127.0.0.1:${jaeger}/trace/${traceId}`,
            ""
          ]
        ]
      )
    })
  )

  it.effect("finds a collector that accepts and never delivers", () =>
    Effect.gen(function* () {
      const server = yield* OtlpServer.make
      const jaeger = yield* answering(404, "application/json", '{"data":null,"errors":[{"code":404}]}')
      const { code, stdout } = yield* doctor(server.url, [
        "--jaeger",
        `http://127.0.0.1:${jaeger}`,
        "--wait",
        "1"
      ])
      assert.strictEqual(code, 1)
      assert.include(stdout, "does not have it after 1 seconds")
      assert.include(stdout, "look at the collector's log")
    })
  )

  it.effect("finds that Jaeger is none", () =>
    Effect.gen(function* () {
      const server = yield* OtlpServer.make
      const web = yield* answering(200, "text/html", "<html>")
      const other = yield* doctor(server.url, ["--jaeger", `http://127.0.0.1:${web}`])
      assert.include(other.stdout, "answers, but not as Jaeger does")
      const silent = yield* doctor(server.url, ["--jaeger", "http://127.0.0.1:1"])
      assert.include(silent.stdout, "Jaeger does not answer at http://127.0.0.1:1")
      assert.deepStrictEqual([other.code, silent.code], [1, 1])
    })
  )

  const wrong = [
    ["nothing listens", Effect.succeed("http://127.0.0.1:65000"), "nothing listens at", "Start a collector"],
    [
      "there is no such host",
      Effect.succeed("http://nohost.invalid:4318"),
      "there is no host named",
      "Check the name"
    ],
    ["the address is none", Effect.succeed("localhost"), '"localhost" is no address', "Set OTEL_EXPORTER"],
    [
      "a plain web server",
      Effect.map(answering(200, "text/html", "<html>hello</html>"), (port) => `http://127.0.0.1:${port}`),
      "answers 200, but not as an OTLP endpoint does",
      "Check host and port"
    ],
    [
      "a service that takes JSON",
      Effect.map(answering(200, "application/json", '{"ok":true}'), (port) => `http://127.0.0.1:${port}`),
      "answers 200, but not as an OTLP endpoint does",
      "Check host and port"
    ],
    [
      "the port of gRPC",
      Effect.map(listening(http2.createServer()), (port) => `http://127.0.0.1:${port}`),
      "it does not speak HTTP/1.1",
      "OTEL_EXPORTER_OTLP_PROTOCOL=grpc"
    ],
    [
      "the path twice",
      Effect.map(
        answering(404, "text/plain", "404 page not found"),
        (port) => `http://127.0.0.1:${port}/v1/traces`
      ),
      "answers 404: there is no such path",
      "the address without /v1/traces"
    ],
    [
      "missing credentials",
      Effect.map(answering(401, "text/plain", ""), (port) => `http://127.0.0.1:${port}`),
      "answers 401: it does not accept the credentials",
      "Set OTEL_EXPORTER_OTLP_HEADERS"
    ],
    [
      "https where nothing is encrypted",
      Effect.map(answering(200, "application/json", "{}"), (port) => `https://127.0.0.1:${port}`),
      "does not encrypt",
      "Use http://"
    ],
    [
      "http where all is encrypted",
      Effect.map(
        Effect.suspend(() => listening(https.createServer(certificate()))),
        (port) => `http://127.0.0.1:${port}`
      ),
      "it does not speak HTTP/1.1",
      "use https://"
    ],
    [
      "a certificate that nobody trusts",
      Effect.map(
        Effect.suspend(() => listening(https.createServer(certificate()))),
        (port) => `https://127.0.0.1:${port}`
      ),
      "is not trusted",
      "NODE_EXTRA_CA_CERTS"
    ],
    [
      "an overloaded collector",
      Effect.map(answering(503, "text/plain", ""), (port) => `http://127.0.0.1:${port}`),
      "answers 503",
      "Look at its own log"
    ]
  ] as const
  for (const [what, endpoint, seen, todo] of wrong) {
    it.effect(`finds ${what}`, () =>
      Effect.gen(function* () {
        const { code, stderr, stdout } = yield* doctor(yield* endpoint)
        assert.deepStrictEqual([code, stderr], [1, ""])
        assert.include(stdout, seen)
        assert.include(stdout, todo)
        // An exporter does not look at what a web server says, so that doctor has to.
        assert.match(stdout, /the test call was not delivered: 2 items were dropped|answers 200, but not/)
      })
    )
  }

  it.effect("never shows a password, and sends the headers of the environment", () =>
    Effect.gen(function* () {
      const seen: Array<string | undefined> = []
      const port = yield* listening(
        http.createServer((request, response) => {
          seen.push(request.headers.authorization)
          response.writeHead(200, { "content-type": "application/json" }).end("{}")
        })
      )
      const { stdout } = yield* doctor(`http://127.0.0.1:${port}`, [], {
        OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20hunter2"
      })
      assert.strictEqual(seen[0], "Bearer hunter2")
      assert.notInclude(stdout, "hunter2")
    })
  )

  it.effect("says that traces are turned off", () =>
    Effect.gen(function* () {
      const { code, stdout } = yield* doctor("http://127.0.0.1:1", [], { OTEL_SDK_DISABLED: "true" })
      assert.strictEqual(code, 1)
      assert.include(stdout, "traces are turned off")
    })
  )
})
