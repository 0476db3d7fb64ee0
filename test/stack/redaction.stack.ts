/**
 * The second line of redaction: what the real collector, with its shipped file, passes on.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { leak, looks } from "../content/Secrets.ts"
import * as Delivered from "./Delivered.ts"
import * as Programs from "./Programs.ts"

const reason = Programs.skipReason("otelcol")

const secret = "Zq7xW2mK9vTr4LpB"
const key = `sk-ant-api03-${secret}${secret}`
const pem = `-----BEGIN RSA PRIVATE KEY-----\nMIIE${secret}\n${secret}==\n-----END RSA PRIVATE KEY-----`
const webToken = `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx${secret}.${secret}`

/** A call's arguments, as people's programs have them. Every value is a secret. */
const secretArguments = {
  password: secret,
  api_key: secret,
  nested: { accessToken: secret, list: [{ "client-secret": `with "quotes" and \\ ${secret}` }] },
  pin: 734912,
  headers: { Authorization: `Bearer ${secret}`, Cookie: `session=${secret}` },
  command: `deploy --token ${secret} --dry-run`,
  argv: ["deploy", "--password", secret],
  dsn: `postgres://admin:${secret}@db.example.com:5432/app`,
  text: `the key is ${key}`,
  pem,
  webToken,
  card: "4111 1111 1111 1111",
  embedded: JSON.stringify({ user: "ada", secret: `${secret} "quoted" ${secret}`, n: 1 })
}

const secretTexts = [
  `login failed: password=${secret} for user ada`,
  `login failed: {"password": "${secret}", "user": "ada"}`,
  `request with Authorization: Bearer ${secret} was refused`,
  `GET https://example.com/?q=1&access_token=${secret}&page=2`,
  `Cookie: sid=${secret}; theme=${secret}`,
  `<password>${secret}</password>`,
  `cannot use ${key} here`,
  pem
]

/** Looks like a secret here and there, and is none. */
const harmless = {
  path: "docs/token-economy.md",
  max_tokens: 4096,
  token_type: "Bearer",
  tokenizer: "cl100k",
  author: "Ada Lovelace",
  keyboard: "qwerty",
  spinning: 3,
  passenger: "Grace",
  url: "https://example.com:8443/a?page=2&sort=asc",
  number: 12345678901,
  when: "2026-12-01T04:29:23.460Z",
  text: 'He said: "a secret is safe with me"; the password is asked for later. 100% — für alle, 日本 😀',
  nested: [{ a: null, b: true, c: [1, 2.5, -3e10] }]
}

const text = (stringValue: string) => ({ stringValue })
const attributes = (values: Readonly<Record<string, string>>) =>
  Object.entries(values).map(([key, value]) => ({ key, value: text(value) }))

const post = (url: string, path: string, body: unknown) =>
  Effect.promise(async () => {
    const response = await fetch(`${url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body)
    })
    assert.strictEqual(response.status, 200, await response.text())
  })

let id = 1
const span = (more: object) => ({
  traceId: "5b8efff798038103d269b633813fc60c",
  spanId: (id++).toString(16).padStart(16, "0"),
  name: "execute_tool deploy",
  kind: 1,
  startTimeUnixNano: "1764560000000000000",
  endTimeUnixNano: "1764560001000000000",
  ...more
})

const traces = (spans: ReadonlyArray<object>, resource = attributes({ "service.name": "agent" })) => ({
  resourceSpans: [
    { resource: { attributes: resource }, scopeSpans: [{ scope: { name: "toolspan" }, spans }] }
  ]
})

/** Sends spans, and gives those that came out. */
const through = (spans: ReadonlyArray<object>) =>
  Effect.gen(function* () {
    const { backend, url } = yield* Delivered.make
    yield* post(url, "/v1/traces", traces(spans))
    const received = yield* backend.waitFor((server) =>
      server.spans().length >= spans.length ? server.spans() : undefined
    )
    assert.isNotNull(received, "the collector passed nothing on")
    return {
      received: received ?? [],
      raw: backend
        .requests()
        .map(({ body }) => body.toString())
        .join("\n")
    }
  })

describe.skipIf(reason !== undefined)(`redaction by the collector${reason ? ` (${reason})` : ""}`, () => {
  it.live("secrets inside arguments, results and messages do not pass, and the JSON stays JSON", () =>
    Effect.gen(function* () {
      const json = JSON.stringify(secretArguments)
      const messages = JSON.stringify([
        { role: "assistant", parts: [{ type: "tool_call", name: "deploy", arguments: secretArguments }] },
        { role: "tool", parts: [{ type: "text", content: json }] }
      ])
      const names = [
        "gen_ai.tool.call.arguments",
        "gen_ai.tool.call.result",
        "gen_ai.input.messages",
        "gen_ai.output.messages",
        "gen_ai.system_instructions"
      ]
      const { raw, received } = yield* through([
        span({
          attributes: attributes(
            Object.fromEntries(names.map((name) => [name, name.endsWith("messages") ? messages : json]))
          )
        })
      ])
      for (const name of names) {
        const value = String(received[0]?.attributes[name])
        assert.notInclude(value, secret, name)
        assert.doesNotThrow(() => JSON.parse(value), undefined, `${name}: ${value}`)
      }
      assert.notInclude(raw, secret)
      assert.notInclude(raw, "734912")
      assert.notInclude(raw, "4111 1111")
      const masked = JSON.parse(String(received[0]?.attributes["gen_ai.tool.call.arguments"]))
      assert.strictEqual(masked.password, "[REDACTED]")
      assert.strictEqual(masked.dsn, "postgres://admin:[REDACTED]@db.example.com:5432/app")
      assert.strictEqual(masked.command, "deploy --token [REDACTED] --dry-run")
      assert.strictEqual(JSON.parse(masked.embedded).user, "ada")
    }).pipe(Effect.scoped)
  )

  it.live(
    "every kind of secret that toolspan itself knows does not pass, wherever it stands in the JSON",
    () =>
      Effect.gen(function* () {
        const cases = looks
          // Other lengths than those of the usual cards cannot be told from amounts without a checksum.
          .filter(([name]) => name !== "card number")
          .flatMap(([name, planted]) =>
            fc.sample(planted, { numRuns: 40, seed: 7 }).map((one) => ({ name, ...one }))
          )
        const { received } = yield* through(
          cases.map(({ text: said }) => {
            const json = JSON.stringify({ text: `see ${said} there`, n: 1 })
            return span({
              attributes: attributes({
                "gen_ai.tool.call.arguments": json,
                "gen_ai.input.messages": JSON.stringify([{ role: "tool", content: json }])
              }),
              status: { code: 2, message: `failed: ${said} at` }
            })
          })
        )
        for (const [i, { attributes, status }] of received.entries()) {
          const { name, secret } = cases[i] ?? { name: "", secret: "" }
          const plain = JSON.parse(String(attributes["gen_ai.tool.call.arguments"])).text
          const nested = JSON.parse(JSON.parse(String(attributes["gen_ai.input.messages"]))[0].content).text
          for (const said of [plain, nested, status.message ?? ""]) {
            assert.isUndefined(leak(said, secret), `${name}: ${said}`)
          }
        }
      }).pipe(Effect.scoped)
  )

  it.live("secrets in errors, stacks, status texts and names do not pass", () =>
    Effect.gen(function* () {
      const { raw, received } = yield* through(
        secretTexts.map((said) =>
          span({
            name: said,
            status: { code: 2, message: said },
            events: [
              {
                name: "exception",
                timeUnixNano: "1764560000500000000",
                attributes: attributes({
                  "exception.type": "Error",
                  "exception.message": said,
                  "exception.stacktrace": `Error: ${said}\n    at deploy (/app/deploy.ts:12:34)`
                })
              },
              { name: said, timeUnixNano: "1764560000600000000", attributes: [] }
            ]
          })
        )
      )
      assert.notInclude(raw, secret)
      for (const { events, status } of received) {
        assert.include(status.message, "[REDACTED]")
        assert.match(
          String(events[0]?.attributes["exception.stacktrace"]),
          /\n {4}at deploy \(\/app\/deploy\.ts:12:34\)$/
        )
        assert.deepStrictEqual(Object.keys(events[1]?.attributes ?? {}), [])
      }
    }).pipe(Effect.scoped)
  )

  it.live("attributes that are a secret by their name, and lists, do not pass", () =>
    Effect.gen(function* () {
      const { raw } = yield* through([
        span({
          attributes: [
            ...attributes({ "http.request.header.authorization": secret, "db.password": secret }),
            {
              key: "process.command_args",
              value: { arrayValue: { values: [text("run"), text(`--token=${secret}`)] } }
            }
          ]
        })
      ])
      assert.notInclude(raw, secret)
    }).pipe(Effect.scoped)
  )

  it.live("what is harmless comes out as it went in, on a span that has all else", () =>
    Effect.gen(function* () {
      const json = JSON.stringify(harmless)
      const sent = {
        "gen_ai.tool.name": "deploy",
        "gen_ai.tool.call.id": "call_1",
        "gen_ai.tool.call.arguments": json,
        "gen_ai.tool.call.result": JSON.stringify({ result: json }),
        "toolspan.tool.outcome": "failure",
        "error.type": "TokenExpired"
      }
      const message = "FileError: cannot read SECURITY-AUDIT.md: NotFound"
      const { received } = yield* through([
        span({
          attributes: [
            ...attributes(sent),
            { key: "gen_ai.usage.input_tokens", value: { intValue: "1234567890" } },
            {
              key: "toolspan.content.truncated",
              value: { arrayValue: { values: [text("a:1"), text("b:2")] } }
            }
          ],
          status: { code: 2, message },
          events: [
            {
              name: "exception",
              timeUnixNano: "1764560000500000000",
              attributes: attributes({ "exception.message": message })
            }
          ],
          links: [{ traceId: "5b8efff798038103d269b633813fc60d", spanId: "00000000000000ff" }]
        })
      ])
      assert.deepStrictEqual(received[0]?.attributes, {
        ...sent,
        "gen_ai.usage.input_tokens": 1234567890,
        "toolspan.content.truncated": ["a:1", "b:2"]
      })
      assert.deepStrictEqual(received[0]?.status, { code: "error", message })
      assert.strictEqual(received[0]?.name, "execute_tool deploy")
      assert.deepStrictEqual(received[0]?.events[0]?.attributes, { "exception.message": message })
      assert.strictEqual(received[0]?.links[0]?.spanId, "00000000000000ff")
      assert.deepStrictEqual(received[0]?.resource, { "service.name": "agent" })
    }).pipe(Effect.scoped)
  )

  it.live("log bodies, of text or of structure, are masked", () =>
    Effect.gen(function* () {
      const { backend, url } = yield* Delivered.make
      const record = (body: object) => ({ timeUnixNano: "1764560000000000000", severityText: "INFO", body })
      yield* post(url, "/v1/logs", {
        resourceLogs: [
          {
            resource: { attributes: [] },
            scopeLogs: [
              {
                scope: { name: "toolspan" },
                logRecords: [
                  ...secretTexts.map((said) => record(text(said))),
                  record({ arrayValue: { values: [text("logged in"), text(`token=${secret}`)] } }),
                  record({ kvlistValue: { values: attributes({ user: "ada", password: secret }) } }),
                  record(text("7 tool calls, 2 failed"))
                ]
              }
            ]
          }
        ]
      })
      const records = yield* backend.waitFor((server) =>
        server.logRecords().length > 0 ? server.logRecords() : undefined
      )
      assert.isNotNull(records, "the collector passed no logs on")
      assert.notInclude(
        backend
          .requests()
          .map(({ body }) => body.toString())
          .join("\n"),
        secret
      )
      assert.strictEqual(records?.at(-1)?.body, "7 tool calls, 2 failed")
      assert.deepStrictEqual(records?.at(-1)?.attributes, {})
      assert.deepStrictEqual(records?.at(-2)?.body, { user: "ada", password: "****" })
    }).pipe(Effect.scoped)
  )
})
