import { assert, describe, it } from "@effect/vitest"
import * as Shutdown from "../../src/sdk/Shutdown.ts"

/** Something of a pipeline that writes down what is asked of it. */
const part = (
  name: string,
  log: Array<string>,
  behaviour: { readonly [call: string]: () => Promise<void> } = {}
) => {
  const call = (method: string) => async () => {
    log.push(`${name}.${method}`)
    await behaviour[method]?.()
    if (behaviour[method]) log.push(`${name}.${method} over`)
  }
  return {
    forceFlush: call("forceFlush"),
    shutdown: call("shutdown"),
    abandon: call("abandon"),
    drain: (millis: number) => log.push(`${name}.drain ${millis > 0 && millis <= 200}`),
    onStart: () => undefined,
    onEnd: () => undefined,
    onEmit: () => undefined
  }
}

const running = (
  log: Array<string>,
  parts: Partial<Record<"spans" | "metrics", ReturnType<typeof part>>>
) => {
  const spans = parts.spans ?? part("spans", log)
  const metrics = parts.metrics ?? part("metrics", log)
  const value: unknown = {
    requests: { run: () => undefined, stop: () => log.push("stop") },
    spans: { stages: [spans], guards: [part("span guard", log)] },
    logRecords: { stages: [], guards: [] },
    measures: { stages: [metrics], guards: [part("metric guard", log)] }
  }
  // Only what the function calls is there.
  return value as Shutdown.Running
}

const turn = () => new Promise(setImmediate)
const never = () => new Promise<void>(() => undefined)
const fails = () => Promise.reject(new Error("broken"))

describe("shutdown", () => {
  it("sends spans before the last metrics, each with no more than the time that is left", async () => {
    const log: Array<string> = []
    await Shutdown.shutdown(running(log, {}), 200)
    await turn()
    assert.deepStrictEqual(log, [
      "span guard.drain true",
      "spans.forceFlush",
      "span guard.forceFlush",
      "metric guard.drain true",
      "spans.shutdown",
      "metrics.shutdown",
      "span guard.abandon",
      "metric guard.abandon",
      "stop"
    ])
  })

  it("leaves half of the time to the metrics where spans hang", async () => {
    const log: Array<string> = []
    const start = performance.now()
    await Shutdown.shutdown(
      running(log, { spans: part("spans", log, { forceFlush: never, shutdown: never }) }),
      100
    )
    assert.isAtLeast(performance.now() - start, 99)
    assert.includeMembers(log, ["metrics.shutdown", "span guard.abandon"])
  })

  it("lets a failure of one cut short no other", async () => {
    const log: Array<string> = []
    await Shutdown.shutdown(
      running(log, {
        spans: part("spans", log, { forceFlush: fails, shutdown: fails }),
        metrics: part("metrics", log, { shutdown: async () => void (await turn()) })
      }),
      200
    )
    assert.isBelow(log.indexOf("metrics.shutdown over"), log.indexOf("metric guard.abandon"))
    assert.include(log, "metrics.shutdown over")
  })
})

describe("flush", () => {
  it("sends what there is and shuts nothing down, in bounded time", async () => {
    const log: Array<string> = []
    await Shutdown.flush(running(log, { metrics: part("metrics", log, { forceFlush: never }) }), 50)
    assert.sameMembers(log, ["spans.forceFlush", "span guard.forceFlush", "metrics.forceFlush"])
  })
})
