import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as TimeAxis from "../../src/terminal/TimeAxis.ts"
import * as TimeBar from "../../src/terminal/TimeBar.ts"

const axis = TimeAxis.make({ start: 1000n, end: 1800n }, [])
const draw = (start: number, end: number) => TimeBar.draw(axis, 8, 1000n + BigInt(start), 1000n + BigInt(end))

describe("TimeBar.draw", () => {
  it("fills the width for the whole of the axis", () => assert.strictEqual(draw(0, 800), "████████"))

  it("draws ends to an eighth of a cell", () => {
    assert.strictEqual(draw(0, 212), "██▏")
    assert.strictEqual(draw(0, 250), "██▌")
    assert.strictEqual(draw(0, 290), "██▉")
  })

  it("draws beginnings to a whole, a half or an eighth of a cell", () => {
    assert.strictEqual(draw(200, 500), "  ███")
    assert.strictEqual(draw(250, 500), "  ▐██")
    assert.strictEqual(draw(280, 500), "  ▕██")
  })

  it("draws what is shorter than a cell on the side of the cell where it lies", () => {
    assert.strictEqual(draw(300, 300), "   ▏")
    assert.strictEqual(draw(300, 350), "   ▌")
    assert.strictEqual(draw(360, 362), "   ▕")
    assert.strictEqual(draw(350, 400), "   ▐")
  })

  it("draws one cell at the very end of the axis", () => assert.strictEqual(draw(800, 800), "       ▕"))

  it("draws one cell where the axis has no length", () => {
    assert.strictEqual(TimeBar.draw(TimeAxis.make({ start: 5n, end: 5n }, []), 8, 5n, 5n), "▏")
  })

  it("breaks what lasts through a cut, and nothing else", () => {
    const cut = { start: 3000n, end: 9000n }
    const broken = TimeAxis.make({ start: 0n, end: 10_000n }, [cut])
    const draw = (start: bigint, end: bigint) => TimeBar.draw(broken, 16, start, end)
    assert.strictEqual(draw(0n, 10_000n), "██████████┄┄┄███")
    assert.strictEqual(draw(3000n, 9000n), "          ┄┄┄")
    assert.strictEqual(draw(0n, 3000n), "██████████▌")
  })

  it("stays within its width and draws at least one cell for any times", () => {
    const time = fc.bigInt({ min: 0n, max: 2n ** 62n })
    fc.assert(
      fc.property(time, time, time, time, fc.integer({ min: 1, max: 60 }), (from, to, start, end, width) => {
        const bar = TimeBar.draw(TimeAxis.make({ start: from, end: to }, []), width, start, end)
        assert.match(bar, /^ *[▐▕█▏▎▍▌▋▊▉]█*[▏▎▍▌▋▊▉█]?$/)
        assert.isAtMost(bar.length, width)
      })
    )
  })
})
