/** Places on two screens, and names of keys. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { ComputerError } from "../../../src/anthropic/computer/ComputerError.ts"
import * as Keys from "../../../src/anthropic/computer/Keys.ts"
import * as Screen from "../../../src/anthropic/computer/Screen.ts"

const size = fc.record({
  width: fc.integer({ min: 1, max: 5000 }),
  height: fc.integer({ min: 1, max: 5000 })
})

describe("a place", () => {
  it("of the model's screen is on the real one, and comes back as it was where that is not smaller", () => {
    fc.assert(
      fc.property(size, size, fc.nat(4999), fc.nat(4999), (told, real, x, y) => {
        fc.pre(x < told.width && y < told.height)
        const at = Screen.toReal([x, y], told, real)
        if (at instanceof ComputerError) return assert.fail(at.message)
        assert.isTrue(at[0] >= 0 && at[0] < real.width && at[1] >= 0 && at[1] < real.height)
        if (real.width >= told.width && real.height >= told.height) {
          assert.deepStrictEqual(Screen.toTold(at, told, real), [x, y])
        }
      })
    )
  })

  it("off the screen is refused", () => {
    fc.assert(
      fc.property(size, size, fc.integer(), fc.integer(), (told, real, x, y) => {
        fc.pre(x < 0 || y < 0 || x >= told.width || y >= told.height)
        assert.instanceOf(Screen.toReal([x, y], told, real), ComputerError)
      })
    )
  })
})

describe("a region", () => {
  it("covers at least a pixel, and nothing off the screen", () => {
    fc.assert(
      fc.property(
        size,
        size,
        fc.tuple(fc.integer(), fc.integer(), fc.integer(), fc.integer()),
        (told, real, region) => {
          const area = Screen.areaOf(region, told, real)
          if (area instanceof ComputerError) return
          assert.isTrue(area.width >= 1 && area.height >= 1 && area.left >= 0 && area.top >= 0)
          assert.isTrue(area.left + area.width <= real.width && area.top + area.height <= real.height)
        }
      )
    )
  })
})

describe("keys", () => {
  it("are names and nothing else, whatever is written", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.stringMatching(/^[-+ a-zA-Z;$`]{0,12}$/)),
        (text) => {
          const keys = Keys.sequence(text)
          if (keys instanceof ComputerError) return
          for (const key of keys) assert.match(key, /^[A-Za-z0-9]\w*(\+[A-Za-z0-9]\w*)*$/)
        }
      ),
      { numRuns: 2000 }
    )
  })

  for (const [text, keys] of [
    ["a", ["a"]],
    ["ctrl+shift+T", ["ctrl+shift+T"]],
    ["Control+Enter", ["ctrl+Return"]],
    ["ArrowUp ArrowUp", ["Up", "Up"]],
    ["+", ["U002b"]],
    ["ctrl++", ["ctrl+U002b"]],
    ["é", ["U00e9"]],
    ["KP_0", ["KP_0"]]
  ] as const) {
    it(`${text} is ${keys.join(" ")}`, () => assert.deepStrictEqual(Keys.sequence(text), keys))
  }
})
