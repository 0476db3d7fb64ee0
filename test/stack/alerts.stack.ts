/**
 * From the first failing call to the pager, from the alert to the trace, and back to silence: with the shipped files.
 */
import { rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Api from "./Api.ts"
import * as Programs from "./Programs.ts"
import * as Shop from "./Shop.ts"
import * as Stack from "./Stack.ts"
import * as Webhook from "./Webhook.ts"

const reason = Programs.skipReason(...Programs.binaries)

const say = (text: string): void => void process.stderr.write(`[stack] ${text}\n`)

describe.skipIf(reason !== undefined)(`alerts${reason ? ` (${reason})` : ""}`, () => {
  it.live(
    "a tool that fails pages within 90 s, the alert leads to the failed call, and recovery resolves it",
    () =>
      Effect.gen(function* () {
        const webhook = yield* Webhook.make
        const stack = yield* Stack.make({ webhook: webhook.url })
        const broken = join(tmpdir(), `toolspan-broken-${process.pid}`)
        yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(broken, { force: true })))
        const shop = yield* Shop.start({
          OTEL_EXPORTER_OTLP_ENDPOINT: stack.otlpHttp,
          OTEL_METRIC_EXPORT_INTERVAL: "10000",
          BROKEN: broken
        })
        yield* Effect.sleep("15 seconds")
        writeFileSync(broken, "")
        const failedAt = yield* Effect.promise(() => shop.failedAt)

        const paged = (status: Webhook.Alert["status"]) =>
          Effect.sync(() => {
            for (const { alerts, at, path } of webhook.messages) {
              const alert = alerts.find(
                ({ labels, status: is }) => is === status && labels["alertname"] === "ToolFirstFailure"
              )
              if (alert !== undefined) return { alert, at, path }
            }
            return undefined
          })
        const page = yield* Api.until(paged("firing"), 120)
        assert.isDefined(
          page,
          JSON.stringify(webhook.messages.map(({ alerts, path }) => [path, alerts.length]))
        )
        const seconds = ((page?.at ?? 0) - failedAt) / 1000
        say(
          `from the first failing call to the webhook: ${seconds.toFixed(1)} s with metrics every 10 s; with the default of 60 s, at most 50 s more`
        )
        assert.isBelow(seconds, 90)
        assert.strictEqual(page?.path, "/page")
        assert.deepInclude(page?.alert.labels, {
          severity: "page",
          service_name: "shop",
          gen_ai_tool_name: "charge_card"
        })
        assert.include(page?.alert.annotations["summary"], "charge_card of shop failed")

        // The link is for a browser; the API takes the same search.
        const link = new URL(page?.alert.annotations["traces"] ?? "")
        assert.strictEqual(link.pathname, "/search")
        const search = yield* Api.until(
          Effect.map(Api.get(`${stack.jaeger}/api/traces${link.search}&limit=20`), (answer) =>
            answer?.data?.length > 0 ? answer.data : undefined
          ),
          30
        )
        const span = search?.[0].spans.find(
          ({ operationName }: Api.Json) => operationName === "execute_tool charge_card"
        )
        const tags = Object.fromEntries(span.tags.map(({ key, value }: Api.Json) => [key, value]))
        assert.deepInclude(tags, {
          "error.type": "CardDeclined",
          "toolspan.tool.outcome": "failure",
          error: true
        })
        assert.match(tags["gen_ai.tool.call.id"], /^call_\d+$/)

        rmSync(broken)
        const recoveredAt = Date.now()
        const resolved = yield* Api.until(paged("resolved"), 720)
        assert.isDefined(resolved)
        say(`from recovery to "resolved": ${(((resolved?.at ?? 0) - recoveredAt) / 1000).toFixed(0)} s`)
        const { dropped, failures } = yield* shop.stop
        assert.isAbove(failures, 0)
        assert.deepStrictEqual(dropped, {})
        // The heartbeat came all along.
        assert.isAbove(webhook.messages.filter(({ path }) => path === "/heartbeat").length, 2)
      }).pipe(Effect.scoped),
    900_000
  )
})
