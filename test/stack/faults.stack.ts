/**
 * What is lost when a part of the stack is gone: spans and metrics, counted on both sides.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Api from "./Api.ts"
import * as Programs from "./Programs.ts"
import * as Shop from "./Shop.ts"
import * as Stack from "./Stack.ts"

const reason = Programs.skipReason(...Programs.binaries)

const say = (text: string): void => void process.stderr.write(`[stack] ${text}\n`)

/** Two spans a call. */
const SPANS_A_CALL = 2

const shop = (stack: Stack.Stack, environment: Readonly<Record<string, string>>) =>
  Shop.start({
    OTEL_EXPORTER_OTLP_ENDPOINT: stack.otlpHttp,
    OTEL_METRIC_EXPORT_INTERVAL: "5000",
    OTEL_BSP_SCHEDULE_DELAY: "1000",
    ...environment
  })

/** How many spans of the shop Jaeger has. */
const spansIn = (stack: Stack.Stack) =>
  Effect.map(
    Api.get(`${stack.jaeger}/api/traces?service=shop&limit=5000&lookback=1h`),
    (answer): number => answer?.data?.reduce((sum: number, { spans }: Api.Json) => sum + spans.length, 0) ?? 0
  )

/** How many calls of the shop Prometheus knows of. */
const callsIn = (stack: Stack.Stack) =>
  Effect.map(
    Api.query(stack.prometheus, 'sum(toolspan_tool_calls_total{service_name="shop"})'),
    ([sample]) => sample?.value ?? 0
  )

/** Waits until a count is reached; gives the last one. */
const reaching = (count: Effect.Effect<number>, expected: number, seconds: number) =>
  Effect.gen(function* () {
    let last = 0
    yield* Api.until(
      Effect.map(count, (value) => {
        last = value
        return value >= expected ? value : undefined
      }),
      seconds
    )
    return last
  })

const expectAll = Effect.fnUntraced(function* (stack: Stack.Stack, what: string, report: Shop.Report) {
  const spans = yield* reaching(spansIn(stack), report.calls * SPANS_A_CALL, 60)
  const calls = yield* reaching(callsIn(stack), report.calls, 60)
  say(
    `${what}: dropped ${JSON.stringify(report.dropped)}; ${spans} of ${report.calls * SPANS_A_CALL} spans, ${calls} of ${report.calls} calls counted; slowest call ${report.slowestMillis.toFixed(0)} ms`
  )
  assert.deepStrictEqual([spans, calls], [report.calls * SPANS_A_CALL, report.calls])
  assert.deepStrictEqual(report.dropped, {})
  // Without a stack at all a call takes less; an export that it waited for would take seconds.
  assert.isBelow(report.slowestMillis, 2000)
})

describe.skipIf(reason !== undefined)(`nothing is lost${reason ? ` (${reason})` : ""}`, () => {
  it.live("when Jaeger is down for a minute", () =>
    Effect.gen(function* () {
      const stack = yield* Stack.make()
      yield* stack.programs.jaeger.kill()
      const program = yield* shop(stack, { CALLS: "300", PAUSE: "150" })
      yield* Effect.sleep("60 seconds")
      yield* stack.programs.jaeger.start
      yield* expectAll(stack, "Jaeger down for 60 s", yield* program.ended)
    }).pipe(Effect.scoped)
  )

  it.live("when the collector is killed right after the last export", () =>
    Effect.gen(function* () {
      const stack = yield* Stack.make()
      const report = yield* (yield* shop(stack, { CALLS: "100", PAUSE: "5" })).ended
      yield* stack.programs.collector.kill()
      yield* stack.programs.collector.start
      yield* expectAll(stack, "collector killed after the last export", report)
    }).pipe(Effect.scoped)
  )

  it.live("when the collector cannot be reached for a minute, and tools are called all along", () =>
    Effect.gen(function* () {
      const stack = yield* Stack.make()
      const program = yield* shop(stack, { CALLS: "700", PAUSE: "100" })
      yield* Effect.sleep("3 seconds")
      yield* stack.programs.collector.kill()
      yield* Effect.sleep("60 seconds")
      yield* stack.programs.collector.start
      yield* expectAll(stack, "collector away for 60 s", yield* program.ended)
    }).pipe(Effect.scoped)
  )
})

describe.skipIf(reason !== undefined)(`what is lost is counted${reason ? ` (${reason})` : ""}`, () => {
  it.live("beyond the bound of the program's queue", () =>
    Effect.gen(function* () {
      const stack = yield* Stack.make()
      const program = yield* shop(stack, {
        CALLS: "1000",
        PAUSE: "20",
        OTEL_BSP_MAX_QUEUE_SIZE: "200",
        OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "100"
      })
      yield* Effect.sleep("3 seconds")
      yield* stack.programs.collector.kill()
      yield* Effect.sleep("15 seconds")
      yield* stack.programs.collector.start
      const { calls, dropped, slowestMillis } = yield* program.ended
      const lost = Object.values(dropped).reduce((sum, count) => sum + count, 0)
      const spans = yield* reaching(spansIn(stack), calls * SPANS_A_CALL - lost, 60)
      say(
        `a queue of 200 spans, collector away for 15 s: ${spans} spans arrived, ${lost} were counted as dropped`
      )
      assert.isAbove(lost, 0)
      assert.strictEqual(spans + lost, calls * SPANS_A_CALL)
      assert.strictEqual(yield* reaching(callsIn(stack), calls, 60), calls)
      assert.isBelow(slowestMillis, 2000)
    }).pipe(Effect.scoped)
  )

  it.live(
    "when the collector's disk queue is full: senders wait, an alert tells, and what does not arrive is counted",
    () =>
      Effect.gen(function* () {
        const stack = yield* Stack.make({ collector: { TRACES_QUEUE_BYTES: "300000" } })
        yield* stack.programs.jaeger.kill()
        // The queue takes a program's largest batch, and not much more.
        const program = yield* shop(stack, { PAUSE: "50" })
        const alert = yield* Api.until(
          Effect.map(Api.get(`${stack.prometheus}/api/v1/alerts`), (answer) =>
            answer?.data?.alerts?.find(
              ({ labels, state }: Api.Json) => labels.alertname === "CollectorRefusing" && state === "firing"
            )
          ),
          180
        )
        assert.isDefined(alert, "nobody is told that the queue is full")
        const refused = yield* Api.query(stack.prometheus, "sum(otelcol_exporter_enqueue_failed_spans)")
        say(`disk queue full: ${refused[0]?.value} spans were refused, and sent again`)
        assert.isAbove(refused[0]?.value ?? 0, 0)
        yield* stack.programs.jaeger.start
        yield* Effect.sleep("15 seconds")
        const { calls, dropped } = yield* program.stop
        const lost = Object.values(dropped).reduce((sum, count) => sum + count, 0)
        // gRPC tries a back end that was away again after up to two minutes.
        const spans = yield* reaching(spansIn(stack), calls * SPANS_A_CALL - lost, 180)
        say(`disk queue full: ${spans} spans arrived, ${lost} were counted as dropped`)
        assert.strictEqual(spans + lost, calls * SPANS_A_CALL)
      }).pipe(Effect.scoped)
  )
})
