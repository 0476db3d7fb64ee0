import { assert, describe, it, vi } from "@effect/vitest"
import { core } from "@opentelemetry/sdk-node"
import { type Exporter, ExportGuard } from "../../src/sdk/ExportGuard.ts"

const ok: core.ExportResult = { code: core.ExportResultCode.SUCCESS }
const failed = (code?: number): core.ExportResult => ({
  code: core.ExportResultCode.FAILED,
  error: Object.assign(new Error("refused"), code !== undefined && { code })
})

type Answer = core.ExportResult | "hang" | Error

/** A guard around an exporter that answers as told, and what became of it all. */
const guarded = (answer: (batch: ReadonlyArray<number>) => Answer) => {
  const log = {
    sent: [] as Array<ReadonlyArray<number>>,
    lost: [] as Array<number>,
    timeouts: [] as Array<number | undefined>,
    shutdowns: 0
  }
  const make = (timeout?: number): Exporter<ReadonlyArray<number>> => {
    log.timeouts.push(timeout)
    return {
      export: (batch, done) => {
        log.sent.push(batch)
        const result = answer(batch)
        if (result instanceof Error) throw result
        if (result !== "hang") setImmediate(() => done(result))
      },
      shutdown: async () => {
        log.shutdowns++
      }
    }
  }
  const guard = new ExportGuard<ReadonlyArray<number>>(
    make,
    {
      halves: (batch) => {
        const middle = batch.length >> 1
        return middle === 0 ? undefined : [batch.slice(0, middle), batch.slice(middle)]
      },
      lost: (batch) => log.lost.push(...batch),
      size: (batch) => batch.length,
      kept: 3
    },
    { run: (_, send) => send(), stop: () => undefined }
  )
  const send = (batch: ReadonlyArray<number>) =>
    new Promise<core.ExportResult>((resolve) => guard.export(batch, resolve))
  return { guard, log, send }
}

describe("an export guard", () => {
  it("passes on what the exporter answers", async () => {
    const { log, send } = guarded((batch) => (batch.length === 1 ? ok : failed(400)))
    assert.deepStrictEqual(await send([1]), ok)
    assert.strictEqual((await send([2, 3])).code, core.ExportResultCode.FAILED)
    assert.deepStrictEqual(log.lost, [2, 3])
    assert.deepStrictEqual(log.sent, [[1], [2, 3]])
  })

  it("takes an exporter that throws for a failed one", async () => {
    const { log, send } = guarded(() => new Error("thrown"))
    const { code, error } = await send([1])
    assert.strictEqual(code, core.ExportResultCode.FAILED)
    assert.strictEqual(error?.message, "thrown")
    assert.deepStrictEqual(log.lost, [1])
  })

  it("loses of a batch that is too large only the items that are too large by themselves", async () => {
    const { log, send } = guarded((batch) => (batch.includes(5) || batch.length > 3 ? failed(413) : ok))
    const result = await send([1, 2, 3, 4, 5, 6, 7, 8])
    assert.deepStrictEqual(log.lost, [5])
    assert.strictEqual(result.code, core.ExportResultCode.FAILED)
    const delivered = log.sent.filter((batch) => batch.length <= 3 && !batch.includes(5)).flat()
    assert.deepStrictEqual(
      delivered,
      [1, 2, 3, 4, 6, 7, 8].filter((n) => delivered.includes(n))
    )
    assert.sameMembers(delivered, [1, 2, 3, 4, 6, 7, 8])
  })

  it("says success when all parts of a large batch arrived", async () => {
    const { log, send } = guarded((batch) => (batch.length > 1 ? failed(413) : ok))
    assert.deepStrictEqual(await send([1, 2, 3]), ok)
    assert.deepStrictEqual(log.lost, [])
  })

  it("sends the parts of a large batch one after the other", async () => {
    let underWay = 0
    const { guard, log } = guarded((batch) => {
      assert.strictEqual(underWay, 0)
      underWay++
      setImmediate(() => underWay--)
      return batch.length > 1 ? failed(413) : ok
    })
    guard.export([1, 2, 3, 4], () => undefined)
    await guard.forceFlush()
    assert.strictEqual(log.sent.length, 7)
  })

  it("waits, when flushed and when shut down, until the last part is sent", async () => {
    const { guard, log } = guarded((batch) => (batch.length > 1 ? failed(413) : ok))
    const results: Array<core.ExportResult> = []
    guard.export([1, 2], (result) => results.push(result))
    await guard.shutdown()
    assert.deepStrictEqual(results, [ok])
    assert.strictEqual(log.sent.length, 3)
    assert.strictEqual(log.shutdowns, 1)
  })

  it("ends what hangs, as lost, when abandoned, and accepts nothing more", async () => {
    const { guard, log, send } = guarded(() => "hang")
    const hanging = send([1, 2])
    guard.abandon()
    assert.strictEqual((await hanging).code, core.ExportResultCode.FAILED)
    assert.strictEqual((await send([3])).code, core.ExportResultCode.FAILED)
    assert.deepStrictEqual(log.lost, [1, 2, 3])
    assert.deepStrictEqual(log.sent, [[1, 2]])
    await guard.forceFlush()
  })

  it("sends with the timeout of the drain once drained", async () => {
    const { guard, log, send } = guarded(() => ok)
    guard.drain(1234)
    await send([1])
    assert.deepStrictEqual(log.timeouts, [undefined, 1234])
    assert.strictEqual(log.shutdowns, 1)
  })

  it("survives who asked throwing at the answer", async () => {
    const { guard, log } = guarded(() => ok)
    guard.export([1], () => {
      throw new Error("thrown by the processor")
    })
    await guard.forceFlush()
    assert.deepStrictEqual(log.lost, [])
  })

  it("keeps a batch that an outage stops, and sends it when that is over", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    try {
      let down = true
      const reasons = [
        failed(503),
        failed(14),
        refused("ECONNREFUSED"),
        said("Timeout"),
        said("Export failed with retryable status")
      ]
      const { log, send } = guarded(() => (down ? (reasons[log.sent.length - 1] ?? failed(503)) : ok))
      const delivery = send([1, 2])
      for (let seconds = 0; seconds < 60; seconds += 5) {
        await settled()
        await vi.advanceTimersByTimeAsync(5000)
      }
      assert.isAbove(log.sent.length, reasons.length)
      down = false
      await settled()
      await vi.advanceTimersByTimeAsync(5000)
      assert.deepStrictEqual([await delivery, log.lost], [ok, []])
    } finally {
      vi.useRealTimers()
    }
  })

  it("keeps only as much as it may: the rest is lost, and counted", async () => {
    const { guard, log, send } = guarded(() => failed(503))
    const kept = send([1, 2])
    await settled()
    assert.strictEqual((await send([3, 4])).code, core.ExportResultCode.FAILED)
    assert.deepStrictEqual(log.lost, [3, 4])
    await guard.abandon()
    assert.strictEqual((await kept).code, core.ExportResultCode.FAILED)
    assert.deepStrictEqual(log.lost, [3, 4, 1, 2])
  })

  it("gives what it keeps one more try when the program ends", async () => {
    let down = true
    const { guard, log, send } = guarded(() => (down ? failed(503) : ok))
    const [first, second] = [send([1]), send([2])]
    await settled()
    down = false
    guard.drain(1000)
    assert.deepStrictEqual([await first, await second, log.lost], [ok, ok, []])
    down = true
    assert.strictEqual((await send([3])).code, core.ExportResultCode.FAILED)
    assert.deepStrictEqual(log.lost, [3])
  })

  it("keeps nothing that is refused for good", async () => {
    for (const code of [400, 401, 403, 404, 500, 3, 7, 16]) {
      const { log, send } = guarded(() => failed(code))
      await send([1])
      assert.deepStrictEqual([log.sent.length, log.lost], [1, [1]], String(code))
    }
  })
})

const refused = (code: string): core.ExportResult => ({
  code: core.ExportResultCode.FAILED,
  error: Object.assign(new Error("connect"), { code })
})

/** What has no code. */
const said = (message: string): core.ExportResult => ({
  code: core.ExportResultCode.FAILED,
  error: new Error(message)
})

/** All that is under way without a timer has happened. */
const settled = async () => {
  for (let n = 0; n < 5; n++) await new Promise((resolve) => setImmediate(resolve))
}
