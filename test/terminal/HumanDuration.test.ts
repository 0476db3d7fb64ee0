import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as HumanDuration from "../../src/terminal/HumanDuration.ts"

const examples: ReadonlyArray<readonly [nanos: bigint, text: string]> = [
  [-5n, "0 ns"],
  [0n, "0 ns"],
  [999n, "999 ns"],
  [1_000n, "1.0 µs"],
  [840_000n, "840 µs"],
  [999_499n, "999 µs"],
  [999_500n, "1.0 ms"],
  [12_345_678n, "12.3 ms"],
  [99_949_999n, "99.9 ms"],
  [99_950_000n, "100 ms"],
  [999_700_000n, "1.0 s"],
  [4_200_000_000n, "4.2 s"],
  [59_940_000_000n, "59.9 s"],
  [59_960_000_000n, "1 min"],
  [61_400_000_000n, "1 min 1 s"],
  [3_599_600_000_000n, "1 h"],
  [7_800_000_000_000n, "2 h 10 min"],
  [86_399_000_000_000n, "1 d"],
  [273_600_000_000_000n, "3 d 4 h"]
]

describe("HumanDuration.format", () => {
  for (const [nanos, text] of examples) {
    it(`says ${text} for ${nanos} ns`, () => assert.strictEqual(HumanDuration.format(nanos), text))
  }

  it("keeps to the right size of unit for any duration", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 63n }), fc.nat(63), (bits, shift) => {
        const text = HumanDuration.format(bits >> BigInt(shift))
        assert.match(
          text,
          /^(\d{1,3} ns|(\d{1,2}\.\d|[1-9]\d{2}) (µs|ms)|\d{1,2}\.\d s|\d{1,2} min( \d{1,2} s)?|\d{1,2} h( \d{1,2} min)?|\d+ d( \d{1,2} h)?)$/
        )
      })
    )
  })
})
