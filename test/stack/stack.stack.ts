/**
 * The stack itself: what is sent arrives, each part knows the others, nothing is lost when one is killed, and nothing is left behind.
 */
import * as Fs from "node:fs"
import { tmpdir } from "node:os"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Api from "./Api.ts"
import * as Programs from "./Programs.ts"
import * as Stack from "./Stack.ts"

const reason = Programs.skipReason(...Programs.binaries)

const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } })

/** A failed call of a tool, right now. */
const failedCall = (traceId: string) => ({
  resourceSpans: [
    {
      resource: {
        attributes: [attribute("service.name", "agent"), attribute("service.instance.id", traceId)]
      },
      scopeSpans: [
        {
          scope: { name: "toolspan" },
          spans: [
            {
              traceId,
              spanId: traceId.slice(0, 16),
              name: "execute_tool deploy",
              kind: 1,
              startTimeUnixNano: `${BigInt(Date.now() - 120) * 1_000_000n}`,
              endTimeUnixNano: `${BigInt(Date.now()) * 1_000_000n}`,
              status: { code: 2, message: "DeployError" },
              attributes: [
                attribute("gen_ai.operation.name", "execute_tool"),
                attribute("gen_ai.tool.name", "deploy"),
                attribute("gen_ai.tool.call.id", `call_${traceId.slice(0, 4)}`),
                attribute("toolspan.tool.outcome", "failure"),
                attribute("error.type", "DeployError")
              ]
            }
          ]
        }
      ]
    }
  ]
})

const traceIds = (count: number) =>
  Array.from({ length: count }, () => crypto.randomUUID().replaceAll("-", ""))

const send = (stack: Stack.Stack, traceId: string) =>
  Effect.promise(async () => {
    const response = await fetch(`${stack.otlpHttp}/v1/traces`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(failedCall(traceId))
    })
    assert.strictEqual(response.status, 200, await response.text())
  })

const found = (stack: Stack.Stack, traceId: string) =>
  Api.until(
    Effect.map(Api.get(`${stack.jaeger}/api/traces/${traceId}`), (answer) => answer?.data?.[0]),
    30
  )

const megabytes = (bytes: number | undefined) => Math.round((bytes ?? 0) / 1e6)

describe.skipIf(reason !== undefined)(`the stack${reason ? ` (${reason})` : ""}`, () => {
  it.live("shows a failed call in Jaeger, found by what an alert's link says", () =>
    Effect.gen(function* () {
      const stack = yield* Stack.make()
      const [traceId = ""] = traceIds(1)
      yield* send(stack, traceId)
      const trace = yield* found(stack, traceId)
      assert.strictEqual(trace?.spans[0].operationName, "execute_tool deploy")

      const tags = encodeURIComponent(JSON.stringify({ error: "true", "gen_ai.tool.name": "deploy" }))
      const search = yield* Api.get(`${stack.jaeger}/api/traces?service=agent&tags=${tags}`)
      assert.strictEqual(search.data[0].traceID, traceId)
      assert.deepStrictEqual((yield* Api.get(`${stack.jaeger}/api/services`)).data, ["agent"])
    }).pipe(Effect.scoped)
  )

  it.live("makes metrics of spans, with exemplars, and Jaeger's Monitor draws them", () =>
    Effect.gen(function* () {
      const stack = yield* Stack.make({ collector: { SPAN_METRICS_INTERVAL: "1s" } })
      const ids = traceIds(3)
      yield* Effect.forEach(ids, (id) => send(stack, id))
      const calls = yield* Api.until(
        Effect.map(Api.query(stack.prometheus, "traces_span_metrics_calls_total"), ([series]) =>
          series?.value === 3 ? series : undefined
        ),
        60
      )
      // One series for all instances of a service, and no label that differs between runs but the collector's.
      const { collector_instance_id, ...labels } = calls?.metric ?? {}
      assert.isString(collector_instance_id)
      assert.deepStrictEqual(labels, {
        __name__: "traces_span_metrics_calls_total",
        job: "agent",
        error_type: "DeployError",
        gen_ai_operation_name: "execute_tool",
        gen_ai_tool_name: "deploy",
        service_name: "agent",
        span_kind: "SPAN_KIND_INTERNAL",
        span_name: "execute_tool deploy",
        status_code: "STATUS_CODE_ERROR",
        toolspan_tool_outcome: "failure"
      })

      const range = `start=${Date.now() / 1000 - 600}&end=${Date.now() / 1000 + 60}`
      const exemplars = yield* Api.until(
        Effect.map(
          Api.get(
            `${stack.prometheus}/api/v1/query_exemplars?query=traces_span_metrics_duration_seconds_bucket&${range}`
          ),
          (answer) => answer?.data?.[0]?.exemplars?.[0]
        ),
        30
      )
      assert.include(ids, exemplars?.labels.trace_id)

      // A rate needs calls between two samples.
      const monitor = yield* Api.until(
        Effect.gen(function* () {
          yield* send(stack, traceIds(1)[0] ?? "")
          const answer = yield* Api.get(
            `${stack.jaeger}/api/metrics/errors?service=agent&spanKind=internal&lookback=600000&endTs=${Date.now()}&ratePer=60000&step=5000`
          )
          const points: ReadonlyArray<Api.Json> = answer?.metrics?.[0]?.metricPoints ?? []
          return points.find(({ gaugeValue }) => gaugeValue?.doubleValue > 0)
        }),
        90
      )
      assert.isDefined(monitor, "the Monitor tab has no errors to show")
    }).pipe(Effect.scoped)
  )

  it.live("lets Prometheus watch every part, under 400 MB in all", () =>
    Effect.gen(function* () {
      const stack = yield* Stack.make()
      const up = yield* Api.until(
        Effect.map(Api.query(stack.prometheus, "up == 1"), (series) =>
          series.length === 4 ? series : undefined
        ),
        60
      )
      assert.sameMembers(up?.map(({ metric }) => metric["job"]) ?? [], [
        "alertmanager",
        "collector",
        "jaeger",
        "prometheus"
      ])
      const memory = Object.entries(stack.programs).map(
        ([name, { memory }]) => [name, megabytes(memory())] as const
      )
      const total = memory.reduce((sum, [, size]) => sum + size, 0)
      process.stderr.write(
        `[stack] resident memory, idle: ${memory.map(([name, size]) => `${name} ${size} MB`).join(", ")}; ${total} MB in all\n`
      )
      assert.isBelow(total, 400)
    }).pipe(Effect.scoped)
  )

  it.live("loses nothing when the collector is killed while Jaeger is down", () =>
    Effect.gen(function* () {
      const stack = yield* Stack.make()
      const ids = traceIds(20)
      yield* stack.programs.jaeger.kill()
      yield* Effect.forEach(ids, (id) => send(stack, id))
      yield* stack.programs.collector.kill()
      yield* stack.programs.jaeger.start
      yield* stack.programs.collector.start
      const traces = yield* Effect.forEach(ids, (id) => found(stack, id), { concurrency: "unbounded" })
      assert.strictEqual(traces.filter((trace) => trace !== undefined).length, ids.length)
    }).pipe(Effect.scoped)
  )

  it.live("leaves no program and no folder behind", () =>
    Effect.gen(function* () {
      const before = folders()
      const scope = yield* Scope.make()
      const stack = yield* Scope.provide(Stack.make(), scope)
      assert.strictEqual(folders().length, before.length + 1)
      yield* Scope.close(scope, Exit.fail("as when a test fails"))
      assert.deepStrictEqual(folders(), before)
      for (const url of [stack.jaeger, stack.prometheus, stack.alertmanager, stack.otlpHttp]) {
        const answer = yield* Effect.exit(Effect.tryPromise(() => fetch(url)))
        assert.isTrue(Exit.isFailure(answer), `${url} still answers`)
      }
    })
  )
})

const folders = () => Fs.readdirSync(tmpdir()).filter((name) => name.startsWith("toolspan-stack-"))
