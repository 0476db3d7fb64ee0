/** Looking on at a run: what the store has and what is heard here, as one stream in the order of its events. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import type { AgentEvent, Numbered, Stored } from "../../src/runtime/AgentEvent.ts"
import * as Follow from "../../src/runtime/Follow.ts"
import { noProgress, type Run, type Service } from "../../src/runtime/RunStore.ts"
import type { Listener } from "../../src/runtime/WorkedOn.ts"

const started = (toolCallId: string): Stored => ({
  _tag: "ToolCallStarted",
  toolCallId,
  toolName: "t",
  params: {},
  attempt: 1
})
const usage = noProgress.usage
const ended: Stored = {
  _tag: "Ended",
  outcome: { _tag: "Cancelled", runId: "r", conversation: "c", usage }
}
const delta = (text: string): AgentEvent => ({ _tag: "TextDelta", delta: text })

const short = (event: AgentEvent): string =>
  event._tag === "TextDelta" ? event.delta : event._tag === "ToolCallStarted" ? event.toolCallId : event._tag

const POLL = 1000

/** A run that others write, and that this process works on when it is told so. */
const world = Effect.fnUntraced(function* (...before: ReadonlyArray<Stored>) {
  const written: Array<Numbered> = before.map((event, index) => ({ number: index + 1, event }))
  const state = { isHere: false, reads: 0, tell: undefined as Listener | undefined }
  const run: Run = {
    runId: "r",
    conversation: "c",
    agent: "a",
    status: "running",
    epoch: 1,
    progress: noProgress,
    outcome: undefined,
    cancelled: false
  }
  const store = {
    events: (_: string, after: number) =>
      Effect.sync(() => {
        state.reads++
        return written.filter(({ number }) => number > after)
      }),
    get: () => Effect.succeed(run)
  } as Partial<Service> as Service
  const seen: Array<string> = []
  const following = yield* Follow.stream("r", {
    store,
    pollInterval: POLL,
    wake: Effect.void,
    workedOn: {
      has: () => state.isHere,
      listen: (_, listener) => {
        state.tell = listener
        return () => {
          state.tell = undefined
        }
      }
    }
  }).pipe(
    Stream.runForEach((event) => Effect.sync(() => seen.push(short(event)))),
    Effect.forkChild({ startImmediately: true })
  )
  /** Somebody writes it; where it is worked on here, it is told of as well. */
  const write = (...events: ReadonlyArray<Stored>) => {
    for (const event of events) written.push({ number: written.length + 1, event })
  }
  const tell = (event: AgentEvent, number?: number) => state.tell?.(event, number)
  const settle = Effect.gen(function* () {
    for (let turn = 0; turn < 50; turn++) yield* Effect.yieldNow
  })
  yield* settle
  return { state, seen, write, tell, settle, following }
})

describe("looking on", () => {
  it.effect("reads what is written elsewhere, once in a while", () =>
    Effect.gen(function* () {
      const { following, seen, write } = yield* world()
      write(started("1"), started("2"))
      yield* TestClock.adjust(POLL)
      assert.deepStrictEqual(seen, ["1", "2"])
      write(started("3"), ended)
      yield* TestClock.adjust(POLL)
      assert.deepStrictEqual(seen, ["1", "2", "3", "Ended"])
      yield* Fiber.join(following)
    })
  )

  it.effect(
    "hears what happens here at once, deltas in their places, and does not ask the store meanwhile",
    () =>
      Effect.gen(function* () {
        const { following, seen, settle, state, tell, write } = yield* world()
        state.isHere = true
        const { reads } = state
        tell(delta("a"))
        write(started("1"))
        tell(started("1"), 1)
        tell(delta("b"))
        yield* settle
        yield* TestClock.adjust(20 * POLL)
        write(started("2"), ended)
        tell(started("2"), 2)
        tell(ended, 3)
        yield* Fiber.join(following)
        assert.deepStrictEqual(seen, ["a", "1", "b", "2", "Ended"])
        assert.strictEqual(state.reads, reads)
        assert.isUndefined(state.tell)
      })
  )

  it.effect("gives what the worker before had written first, and nothing twice", () =>
    Effect.gen(function* () {
      const { following, seen, state, tell, write } = yield* world()
      write(started("1"))
      yield* TestClock.adjust(POLL)
      // Written elsewhere, and not read when the work goes on here.
      write(started("2"), started("3"))
      state.isHere = true
      write(started("4"), started("5"), ended)
      tell(started("4"), 4)
      tell(delta("x"))
      tell(started("4"), 4)
      tell(started("5"), 5)
      tell(ended, 6)
      yield* Fiber.join(following)
      assert.deepStrictEqual(seen, ["1", "2", "3", "4", "x", "5", "Ended"])
    })
  )

  it.effect("begins with what the present stretch has written already, and not with the ones before", () =>
    Effect.gen(function* () {
      const { seen, write } = yield* world(started("1"), ended, started("2"))
      assert.deepStrictEqual(seen, ["2"])
      write(started("3"))
      yield* TestClock.adjust(POLL)
      assert.deepStrictEqual(seen, ["2", "3"])
    })
  )
})
