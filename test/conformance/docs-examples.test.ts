/**
 * The documentation examples of `effect/ai`, run plain, with every toolkit instrumented, and with every model as well: the documented values
 * each time, and one ended `execute_tool` span for each call of `handle`.
 *
 * Most of these examples make no toolkit, and few call a tool; the guides of the neighbour `guides.test.ts` do little else.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as DocExamples from "./DocExamples.ts"
import type * as Program from "./Program.ts"
import * as Subject from "./Subject.ts"

/** What effect 4.1.0 has. A different release of effect may have more: read the new ones, then change the numbers. */
const present = { examples: 137, expectations: 144, toolkits: 10, models: 8, turns: 9, calls: 2 }

/** Examples that are not run, each with the reason. */
const excluded: Readonly<Record<string, string>> = {}

const examples = DocExamples.read().filter(({ name }) => !Object.hasOwn(excluded, name))

const run = async (program: Program.Program, instrument: Subject.Instrument) => {
  const subject = await Effect.runPromise(Subject.make(instrument))
  const observations: Array<Program.Observation> = []
  await program.run(subject.modules, (observation) => observations.push(observation))
  return { observations, subject }
}

const values = (observations: ReadonlyArray<Program.Observation>) => ({
  actual: observations.map(({ actual }) => actual),
  expected: observations.map(({ expected }) => expected)
})

describe("effect's documentation examples", () => {
  it("are all found, and all but the excluded ones are run", () => {
    assert.strictEqual(examples.length + Object.keys(excluded).length, present.examples)
    assert.strictEqual(
      examples.reduce((sum, { program }) => sum + program.expectations, 0),
      present.expectations
    )
  })

  for (const { name, program } of examples) {
    it(`${name} gives the documented values, plain and instrumented`, async () => {
      const plain = await run(program, Subject.plain)
      const found = values(plain.observations)
      assert.strictEqual(found.actual.length, program.expectations)
      assert.deepStrictEqual(found.actual, found.expected)
      assert.deepStrictEqual(plain.subject.toolSpans(), [])
      for (const instrument of [Subject.toolkits, Subject.toolkitsAndModels]) {
        const instrumented = await run(program, instrument)
        assert.deepStrictEqual(values(instrumented.observations).actual, found.actual)
        assert.strictEqual(instrumented.subject.calls(), plain.subject.calls())
        Subject.assertSpanPerCall(instrumented.subject)
      }
    })
  }

  it("make toolkits and models and call tools as often as they did when this was written", async () => {
    let [toolkits, models, turns, calls] = [0, 0, 0, 0]
    for (const { program } of examples) {
      const { subject } = await run(program, Subject.toolkitsAndModels)
      toolkits += subject.toolkits()
      models += subject.models()
      turns += subject.turns()
      calls += subject.calls()
    }
    assert.deepStrictEqual({ ...present, toolkits, models, turns, calls }, present)
  })

  it("would fail with a wrapper that does nothing", async () => {
    const calling = examples.find(({ name }) => name === "Toolkit.ts:270")
    assert(calling !== undefined)
    const { subject } = await run(calling.program, Subject.plain)
    assert.strictEqual(subject.calls(), 1)
    assert.throws(() => Subject.assertSpanPerCall(subject), "expected +0 to equal 1")
  })
})
