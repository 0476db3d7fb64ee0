/**
 * A worker that begins runs until so many wait, and says what they cost it: `host.ts URL PORT COUNT`. One line of JSON.
 */
import * as v8 from "node:v8"
import * as vm from "node:vm"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Agent from "../../../src/runtime/Agent.ts"
import { RunStore } from "../../../src/runtime/RunStore.ts"
import * as Stores from "../Stores.ts"

const [url = "", port = "", count = ""] = process.argv.slice(2)

const toolkit = Toolkit.make(
  Tool.make("pay", {
    parameters: Schema.Struct({ amount: Schema.Number }),
    success: Schema.String,
    needsApproval: true
  })
)

const agent = Agent.make({ name: "clerk", toolkit })

const model = Layer.effect(LanguageModel.LanguageModel)(
  LanguageModel.make({
    generateText: () =>
      Effect.succeed([
        { type: "tool-call", id: "call_1", name: "pay", params: { amount: 7 } },
        { type: "finish", reason: "tool-calls", usage: { inputTokens: {}, outputTokens: {} } }
      ]),
    streamText: () => Stream.empty
  })
)

let fibers = 0
const counting = Layer.succeed(Metric.FiberRuntimeMetrics, {
  recordFiberStart: () => void fibers++,
  recordFiberEnd: () => void fibers--
})

v8.setFlagsFromString("--expose-gc")
const collectGarbage: () => void = vm.runInNewContext("gc")

/** Long enough for the engine to let go of what it keeps: it does so 10 seconds after the last message, and looks every 5. */
const IDLE = 20_000

/** What is held once nothing happens any more. Some fibers come and go: the least of a few looks. */
const held = Effect.gen(function* () {
  yield* Effect.sleep(IDLE)
  let least = Number.POSITIVE_INFINITY
  for (let times = 0; times < 10; times++) {
    yield* Effect.sleep(100)
    least = Math.min(least, fibers)
    collectGarbage()
  }
  return { heap: process.memoryUsage().heapUsed, fibers: least }
})

/** Begins runs, and waits until all of them wait for their approval. */
const begin = (from: number, to: number) =>
  Effect.gen(function* () {
    const store = yield* RunStore
    yield* Effect.forEach(
      Array.from({ length: to - from }, (_, index) => from + index),
      (number) =>
        agent.start({ prompt: "Pay invoice 42", conversation: `c-${number}`, runId: `r-${number}` }),
      { concurrency: 16, discard: true }
    )
    while (((yield* store.waiting)[0]?.count ?? 0) < to) yield* Effect.sleep(200)
  })

const program = Effect.gen(function* () {
  // The first ones pay for what is there once.
  const first = Math.ceil(Number(count) / 10)
  yield* begin(0, first)
  const before = yield* held
  yield* begin(first, first + Number(count))
  console.log(JSON.stringify({ before, after: yield* held }))
})

Effect.runPromise(
  program.pipe(
    Effect.provide(
      agent.layer.pipe(
        Layer.provide([model, toolkit.toLayer({ pay: () => Effect.succeed("paid") })]),
        Layer.provideMerge(Stores.runtime(url, "cluster", Number(port))),
        Layer.provide(counting)
      )
    )
  )
).then(
  () => process.exit(0),
  (error) => {
    console.error(error)
    process.exit(1)
  }
)
