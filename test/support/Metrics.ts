/** Metrics of one test: a registry of its own, and what is in it. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"

/** A registry of its own for each test. */
export const layer = Layer.sync(Metric.MetricRegistry, () => new Map())

/** The values of one metric that are not zero, by its attributes without the unit, joined with `/`: counts, or the sums of histograms. */
export const values = (id: string) =>
  Effect.map(Metric.snapshot, (snapshots) =>
    Object.fromEntries(
      snapshots
        .filter((snapshot) => snapshot.id === id)
        .map((snapshot) => {
          const { unit, ...attributes } = snapshot.attributes ?? {}
          return [Object.values(attributes).join("/"), measured(snapshot)] as const
        })
        .filter(([, value]) => value !== 0)
    )
  )

const measured = (snapshot: Metric.Metric.Snapshot): number => {
  switch (snapshot.type) {
    case "Counter":
      return Number(snapshot.state.count)
    case "Gauge":
      return Number(snapshot.state.value)
    case "Histogram":
      return snapshot.state.sum
    default:
      throw new Error(`no such metric here: ${snapshot.type}`)
  }
}
