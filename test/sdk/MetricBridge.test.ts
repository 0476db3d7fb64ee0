import { Resource } from "@effect/opentelemetry/Resource"
import { assert, describe, it } from "@effect/vitest"
import { metrics, resources } from "@opentelemetry/sdk-node"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as MetricBridge from "../../src/sdk/MetricBridge.ts"

const { CUMULATIVE, DELTA } = metrics.AggregationTemporality

/** What OTLP calls the preference "delta". */
const preferDelta = (type: metrics.InstrumentType) =>
  type === metrics.InstrumentType.UP_DOWN_COUNTER ? CUMULATIVE : DELTA

const calls = Metric.counter("calls", { incremental: true, attributes: { unit: "{call}", tool: "a" } })
const active = Metric.counter("active", { attributes: { unit: "{call}" } })
const level = Metric.gauge("level", { attributes: { unit: "%" } })
const duration = Metric.histogram("duration", { boundaries: [1, 2], attributes: { unit: "s" } })

/** Runs with a registry and a producer of its own; `collect` gives the metrics by name. */
const bridged = <A>(
  temporality: Parameters<typeof MetricBridge.make>[0],
  use: (collect: Effect.Effect<Record<string, metrics.MetricData>>) => Effect.Effect<A>
) =>
  Effect.gen(function* () {
    const producer = yield* MetricBridge.make(temporality)
    return yield* use(
      Effect.map(
        Effect.promise(() => producer.collect()),
        ({ resourceMetrics }) =>
          Object.fromEntries(
            resourceMetrics.scopeMetrics.flatMap((scope) =>
              scope.metrics.map((metric) => [metric.descriptor.name, metric])
            )
          )
      )
    )
  }).pipe(
    Effect.provideService(Metric.MetricRegistry, new Map()),
    Effect.provideService(Resource, resources.emptyResource())
  )

const values = (metric: metrics.MetricData | undefined) =>
  metric?.dataPoints.map(({ value }) => (typeof value === "number" ? value : value.count))

describe("the metric bridge", () => {
  it.effect("has the unit on the metric and not as a label", () =>
    bridged(undefined, (collect) =>
      Effect.gen(function* () {
        yield* Metric.update(calls, 1)
        yield* Metric.update(duration, 1.5)
        yield* Metric.update(level, 3)
        const found = yield* collect
        assert.strictEqual(found["calls"]?.descriptor.unit, "{call}")
        assert.strictEqual(found["duration"]?.descriptor.unit, "s")
        assert.deepStrictEqual(found["calls"]?.dataPoints[0]?.attributes, { tool: "a" })
        assert.deepStrictEqual(found["duration"]?.dataPoints[0]?.attributes, {})
        assert.deepStrictEqual(found["level"]?.dataPoints[0]?.attributes, {})
      })
    )
  )

  it.effect("leaves a unit that is not the metric's: two series stay two", () =>
    bridged(undefined, (collect) =>
      Effect.gen(function* () {
        yield* Metric.update(Metric.counter("odd", { attributes: { unit: "a" } }), 1)
        yield* Metric.update(Metric.counter("odd", { attributes: { unit: "b" } }), 2)
        const { odd } = yield* collect
        assert.deepStrictEqual(
          odd?.dataPoints.map(({ attributes }) => attributes),
          [{}, { unit: "b" }]
        )
      })
    )
  )

  it.effect("keeps a counter monotonic and an up-down counter not", () =>
    bridged(undefined, (collect) =>
      Effect.gen(function* () {
        yield* Metric.update(calls, 1)
        yield* Metric.update(active, -1)
        const found = yield* collect
        assert.deepInclude(found["calls"], { isMonotonic: true, aggregationTemporality: CUMULATIVE })
        assert.deepInclude(found["active"], { isMonotonic: false, aggregationTemporality: CUMULATIVE })
      })
    )
  )

  it.effect("gives no extremes of an empty histogram", () =>
    bridged(undefined, (collect) =>
      Effect.gen(function* () {
        yield* Metric.value(duration)
        assert.deepStrictEqual((yield* collect)["duration"]?.dataPoints[0]?.value, {
          buckets: { boundaries: [1, 2], counts: [0, 0, 0] },
          count: 0,
          sum: 0
        })
        yield* Metric.update(duration, 1.5)
        assert.deepInclude((yield* collect)["duration"]?.dataPoints[0]?.value, {
          count: 1,
          min: 1.5,
          max: 1.5
        })
      })
    )
  )

  it.effect("follows the preference of the exporter for each kind of metric", () =>
    bridged(preferDelta, (collect) =>
      Effect.gen(function* () {
        const update = Effect.all([
          Metric.update(calls, 2),
          Metric.update(active, 2),
          Metric.update(duration, 1),
          Metric.update(level, 7)
        ])
        yield* update
        yield* collect
        yield* update
        const found = yield* collect
        assert.deepStrictEqual(found["calls"]?.aggregationTemporality, DELTA)
        assert.deepStrictEqual(values(found["calls"]), [2])
        assert.deepStrictEqual(found["active"]?.aggregationTemporality, CUMULATIVE)
        assert.deepStrictEqual(values(found["active"]), [4])
        assert.deepStrictEqual(found["duration"]?.aggregationTemporality, DELTA)
        assert.deepStrictEqual(values(found["duration"]), [1])
        assert.deepStrictEqual(values(found["level"]), [7])
      })
    )
  )

  it.effect("gives nothing at all where there is no metric", () =>
    bridged(undefined, (collect) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* collect, {})
      })
    )
  )
})
