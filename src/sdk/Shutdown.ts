/**
 * Delivers what there is, within a bounded time.
 *
 * Works on plain timers: the clock of a test must not decide how long a process takes to end.
 */
import type { logs, metrics, tracing } from "@opentelemetry/sdk-node"
import type { Pipeline } from "./Pipelines.ts"
import type { Requests } from "./Requests.ts"

/** What runs and is to be ended. */
export interface Running {
  readonly requests: Requests
  readonly spans: Pipeline<tracing.SpanProcessor>
  readonly logRecords: Pipeline<logs.LogRecordProcessor>
  readonly measures: Pipeline<metrics.IMetricReader>
}

/** Sends what is finished so far and goes on. Over after `millis` at the latest; never rejects. */
export const flush = (running: Running, millis: number): Promise<void> =>
  within(millis, () =>
    Promise.all([deliver(running), all(running.measures.stages, (stage) => stage.forceFlush())])
  )

/**
 * Sends what there is and shuts everything down. Over after `millis` at the latest; never rejects. Spans and log records go first, so
 * that the last metrics can tell what of them was lost; they may take half of the time before the metrics start.
 */
export const shutdown = async (running: Running, millis: number): Promise<void> => {
  const { logRecords, measures, requests, spans } = running
  const start = performance.now()
  const items = [...spans.guards, ...logRecords.guards]
  for (const guard of items) guard.drain(millis)
  await within(millis / 2, () => deliver(running))

  const rest = Math.max(1, millis - (performance.now() - start))
  for (const guard of measures.guards) guard.drain(rest)
  // Not NodeSDK's shutdown, which is over with the first failure of one.
  const stages = [...spans.stages, ...logRecords.stages, ...measures.stages]
  await within(rest, () => all(stages, (stage) => stage.shutdown()))
  void all([...items, ...measures.guards], (guard) => guard.abandon()).then(requests.stop)
}

/** Spans and log records, also those that are on their way already. */
const deliver = async ({ logRecords, spans }: Running): Promise<void> => {
  await all([...spans.stages, ...logRecords.stages], (stage) => stage.forceFlush())
  await all([...spans.guards, ...logRecords.guards], (guard) => guard.forceFlush())
}

const all = <A>(values: ReadonlyArray<A>, run: (value: A) => Promise<void>): Promise<unknown> =>
  Promise.allSettled(values.map(async (value) => run(value)))

const within = (millis: number, run: () => Promise<unknown>): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, millis)
    const done = () => {
      clearTimeout(timer)
      resolve()
    }
    Promise.resolve().then(run).then(done, done)
  })
