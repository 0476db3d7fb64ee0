import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as TimeAxis from "../../src/terminal/TimeAxis.ts"
import * as Spans from "./Spans.ts"

const { approval, MILLI, snapshot } = Spans

const axisOf = (...spans: ReadonlyArray<ReturnType<typeof snapshot>>) => TimeAxis.of(spans, 0n)
const cutsOf = (...spans: ReadonlyArray<ReturnType<typeof snapshot>>) =>
  axisOf(...spans).cuts.map(({ end, start }) => [Number(start / MILLI), Number(end / MILLI)])

const turn = snapshot("turn", 0, 100)
const call = snapshot("execute_tool pay", 5000, 5020)

describe("TimeAxis.of", () => {
  it("is to scale where nobody waited for a person", () => {
    assert.deepStrictEqual(cutsOf(turn, call), [])
    const axis = axisOf(turn, call)
    assert.strictEqual(TimeAxis.position(axis, 2510n * MILLI), 0.5)
  })

  it("cuts out a wait that is longer than all else together, and keeps the true beginning and end", () => {
    const axis = axisOf(turn, approval("pay", "call_1", [90, 5000]), call)
    assert.deepStrictEqual([axis.start, axis.end], [0n, 5020n * MILLI])
    assert.deepStrictEqual(cutsOf(turn, approval("pay", "call_1", [90, 5000]), call), [[100, 5000]])
    const at = (millis: number) => Math.round(TimeAxis.position(axis, BigInt(millis) * MILLI) * 960)
    // 120 ms of work have seven eighths.
    assert.deepStrictEqual([0, 60, 100, 5000, 5020].map(at), [0, 420, 700, 820, 960])
  })

  it("leaves a wait that is no longer than all else together", () => {
    assert.deepStrictEqual(
      cutsOf(turn, approval("pay", "call_1", [100, 200]), snapshot("call", 200, 201)),
      []
    )
  })

  it("cuts out each of several waits, long as they are together", () => {
    const waits = [
      approval("pay", "call_1", [100, 5000]),
      approval("pay", "call_2", [5020, 9000]),
      approval("pay", "call_3", [9000, 9010])
    ]
    assert.deepStrictEqual(cutsOf(turn, call, ...waits, snapshot("end", 9010, 9020)), [
      [100, 5000],
      [5020, 9000]
    ])
  })

  it("draws what happens during a wait", () => {
    assert.deepStrictEqual(cutsOf(turn, approval("pay", "call_1", [90, 9000]), call), [
      [100, 5000],
      [5020, 9000]
    ])
  })

  it("cuts nothing out where there is only a wait", () => {
    assert.deepStrictEqual(cutsOf(approval("pay", "call_1", [90, 9000])), [])
  })

  it("keeps all starts and ends in their order and within the axis, for any spans", () => {
    const time = fc.bigInt({ min: 0n, max: 2n ** 62n })
    const span = fc.record({ startTime: time, endTime: time, waits: fc.boolean() })
    fc.assert(
      fc.property(fc.array(span, { minLength: 1, maxLength: 12 }), (all) => {
        const spans = all.map(({ waits, ...times }) => ({
          ...(waits ? approval("pay", "call_1", [0, 0]) : turn),
          ...times
        }))
        const axis = TimeAxis.of(spans, 0n)
        const times = spans.flatMap(({ endTime, startTime }) => [startTime, endTime])
        const positions = times.sort((a, b) => (a < b ? -1 : 1)).map((time) => TimeAxis.position(axis, time))
        for (const [index, position] of positions.entries()) {
          assert.isAtLeast(position, 0)
          assert.isAtMost(position, 1)
          assert.isAtLeast(position, (positions[index - 1] ?? 0) - 1e-12)
        }
      })
    )
  })
})
