import { assert, describe, it } from "@effect/vitest"
import * as AiError from "effect/ai/AiError"
import * as Prompt from "effect/ai/Prompt"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as Agent from "../../src/runtime/Agent.ts"
import * as AgentError from "../../src/runtime/AgentError.ts"
import { AgentRuntime, layerMemory } from "../../src/runtime/AgentRuntime.ts"
import * as Approvals from "../../src/runtime/Approvals.ts"
import * as ScriptedModel from "../../src/testing/ScriptedModel.ts"
import * as Bank from "./Bank.ts"

const { text, toolCall, finish } = ScriptedModel

describe("an agent", () => {
  it.effect("asks the model, runs its calls, and ends with its answer", () => {
    const bank = Bank.bank({ instructions: "You move money." })
    return Effect.gen(function* () {
      const events = yield* Bank.events(bank.run({ prompt: "Move 7", conversation: "c", runId: "r" }))
      assert.deepStrictEqual(
        events.map(({ _tag }) => _tag),
        [
          "TextDelta",
          "TurnFinished",
          "ToolCallStarted",
          "ToolCallFinished",
          "TextDelta",
          "TurnFinished",
          "Ended"
        ]
      )
      const outcome = Bank.end(events)
      assert.strictEqual(outcome._tag, "Finished")
      assert.deepStrictEqual({ ...outcome, usage: undefined }, {
        _tag: "Finished",
        runId: "r",
        conversation: "c",
        text: "Moved.",
        finishReason: "stop",
        usage: undefined
      } as never)
      assert.strictEqual(outcome.usage.turns, 2)
      assert.strictEqual(outcome.usage.toolCalls, 1)
      assert.strictEqual(outcome.usage.inputTokens, 20)
      assert.deepStrictEqual(yield* Bank.history("c"), [
        "user: Move 7",
        "assistant: Moving.",
        'call call_1 transfer {"amount":7}',
        'result call_1 transfer "transferred 7"',
        "assistant: Moved."
      ])
      const { requests } = yield* ScriptedModel.ScriptedModel
      assert.deepStrictEqual(
        requests.map(({ prompt }) => prompt.content[0]?.role),
        ["system", "system"]
      )
    }).pipe(
      Effect.provide(
        Bank.layer(bank, [
          [
            text("Moving."),
            toolCall("call_1", "transfer", { amount: 7 }),
            finish("tool-calls", { inputTokens: { total: 20 }, outputTokens: { total: 3 } })
          ],
          [text("Moved.")]
        ])
      )
    )
  })

  it.effect("gives the same without being looked at", () => {
    const bank = Bank.bank()
    return Effect.gen(function* () {
      const outcome = yield* bank.generate({ prompt: "Move 7" })
      assert.strictEqual(outcome._tag, "Finished")
      assert.deepStrictEqual((yield* Bank.history(outcome.conversation)).slice(1), [
        'call call_1 transfer {"amount":7}',
        'result call_1 transfer "transferred 7"',
        "assistant: Moved."
      ])
    }).pipe(
      Effect.provide(Bank.layer(bank, [[toolCall("call_1", "transfer", { amount: 7 })], [text("Moved.")]]))
    )
  })

  it.effect("goes on with a conversation", () => {
    const bank = Bank.bank()
    return Effect.gen(function* () {
      yield* bank.generate({ prompt: "one", conversation: "c" })
      yield* bank.generate({ prompt: "two", conversation: "c" })
      assert.deepStrictEqual(yield* Bank.history("c"), [
        "user: one",
        "assistant: first",
        "user: two",
        "assistant: second"
      ])
    }).pipe(Effect.provide(Bank.layer(bank, [[text("first")], [text("second")]])))
  })

  it.effect("runs a run id once, and tells again how it ended", () => {
    const bank = Bank.bank()
    return Effect.gen(function* () {
      const input = { prompt: "Move 7", conversation: "c", runId: "r" }
      const first = yield* bank.generate(input)
      assert.deepStrictEqual(yield* bank.generate(input), first)
      assert.deepStrictEqual(yield* Bank.events(bank.run(input)), [{ _tag: "Ended", outcome: first }])
      const other = yield* Effect.flip(bank.generate({ ...input, conversation: "d" }))
      assert.isTrue(AgentError.is(other, "RunMismatch"))
      assert.match(other.message, /run "r" exists with another conversation/)
    }).pipe(Effect.provide(Bank.layer(bank, [[text("Moved.")]])))
  })

  it.effect("refuses what makes no sense, and says what", () =>
    Effect.gen(function* () {
      const bad = (options: object) => {
        try {
          Bank.bank(options)
          return "nothing"
        } catch (error) {
          return (error as Error).message
        }
      }
      assert.strictEqual(bad({ name: " " }), 'Agent.make: option "name" is " "; allowed: a non-empty string')
      assert.strictEqual(
        bad({ limits: { turns: 0 } }),
        'Agent "bank", limits: option "turns" is 0; allowed: an integer, at least 1'
      )
      assert.match(bad({ turns: 5 }), /unknown option "turns"; allowed: name, instructions, limits/)
      assert.match(
        bad({ approvals: { expiresAfter: "soon" } }),
        /"expiresAfter" is "soon"; allowed: a duration/
      )
      const runtime = yield* AgentRuntime
      const none = yield* Effect.flip(
        runtime.begin({ runId: "r", conversation: "c", agent: "nobody", messages: [], caller: undefined })
      )
      assert.strictEqual(
        none.message,
        'no agent "nobody" runs here; known: bank. Provide the layer of the agent'
      )
      const lost = yield* Effect.flip(runtime.outcome("nothing"))
      assert.strictEqual(lost.message, 'there is no run "nothing" in the store')
    }).pipe(Effect.provide(Bank.layer(Bank.bank(), [])))
  )
})

describe("calls", () => {
  it.effect("run in parallel up to the bound, and stand in history in their order", () => {
    const bank = Bank.bank({ concurrency: 2 })
    return Effect.gen(function* () {
      const { done, gate } = yield* Bank.Book
      const running = yield* Effect.forkChild(bank.generate({ prompt: "go", conversation: "c" }))
      yield* Effect.yieldNow
      while (done.length < 3) yield* Effect.yieldNow
      // The second one is done before the first; the third has its place.
      assert.deepStrictEqual(done, ["wait 1", "transfer 2", "wait 3"])
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(running)
      assert.deepStrictEqual((yield* Bank.history("c")).slice(5, 9), [
        'result call_1 wait "waited 1"',
        'result call_2 transfer "transferred 2"',
        'result call_3 wait "waited 3"',
        'result call_4 transfer "transferred 4"'
      ])
    }).pipe(
      Effect.provide(
        Bank.layer(bank, [
          [
            toolCall("call_1", "wait", { amount: 1 }),
            toolCall("call_2", "transfer", { amount: 2 }),
            toolCall("call_3", "wait", { amount: 3 }),
            toolCall("call_4", "transfer", { amount: 4 })
          ],
          [text("done")]
        ])
      )
    )
  })

  it.effect("of an unknown tool, or with wrong arguments, fail for the model, not for the run", () => {
    const bank = Bank.bank()
    return Effect.gen(function* () {
      const outcome = yield* bank.generate({ prompt: "go", conversation: "c" })
      assert.strictEqual(outcome._tag, "Finished")
      const history = yield* Bank.history("c")
      assert.match(history[4] ?? "", /^failure call_1 steal .*ToolNotFoundError.*"steal".*transfer/)
      assert.match(history[5] ?? "", /^failure call_2 transfer .*ToolParameterValidationError.*amount/)
      assert.strictEqual(history[6], 'result call_3 transfer "transferred 3"')
      const { requests } = yield* ScriptedModel.ScriptedModel
      assert.strictEqual(requests.length, 2)
    }).pipe(
      Effect.provide(
        Bank.layer(bank, [
          [
            toolCall("call_1", "steal", {}),
            toolCall("call_2", "transfer", { amount: "much" }),
            toolCall("call_3", "transfer", { amount: 3 })
          ],
          [text("sorry")]
        ])
      )
    )
  })

  it.effect("with one id and the same arguments run once; with others, they are refused", () => {
    const bank = Bank.bank()
    return Effect.gen(function* () {
      const events = yield* Bank.events(bank.run({ prompt: "go", conversation: "c" }))
      const history = yield* Bank.history("c")
      assert.deepStrictEqual(history.slice(4, 6), [
        'result call_1 transfer "transferred 1"',
        'result call_1 transfer "transferred 1"'
      ])
      assert.match(
        history[6] ?? "",
        /^failure call_1 transfer .*execution-refused.*"call_1\\" was used before/
      )
      // An id that comes again in a later turn, in another order of its keys.
      assert.strictEqual(history[8], 'result call_1 transfer "transferred 1"')
      assert.match(
        history[10] ?? "",
        /^failure call_1 try_transfer .*was used before, for a call of \\"transfer/
      )
      assert.deepStrictEqual((yield* Bank.Book).done, ["transfer 1"])
      assert.deepStrictEqual(
        events.flatMap((event) => (event._tag === "ToolCallFinished" ? event.replayed : [])),
        [false, true, false, true, false]
      )
    }).pipe(
      Effect.provide(
        Bank.layer(bank, [
          [
            toolCall("call_1", "transfer", { amount: 1 }),
            toolCall("call_1", "transfer", { amount: 1 }),
            toolCall("call_1", "transfer", { amount: 2 })
          ],
          [toolCall("call_1", "transfer", { amount: 1 })],
          [toolCall("call_1", "try_transfer", { amount: 1 })],
          [text("done")]
        ])
      )
    )
  })

  it.effect("of another conversation are others, whatever their ids", () => {
    const bank = Bank.bank()
    return Effect.gen(function* () {
      yield* bank.generate({ prompt: "go", conversation: "c" })
      yield* bank.generate({ prompt: "go", conversation: "d" })
      assert.deepStrictEqual((yield* Bank.Book).done, ["transfer 1", "transfer 1"])
    }).pipe(
      Effect.provide(
        Bank.layer(bank, [
          [toolCall("call_1", "transfer", { amount: 1 })],
          [text("done")],
          [toolCall("call_1", "transfer", { amount: 1 })],
          [text("done")]
        ])
      )
    )
  })

  it.effect("without an id are refused", () => {
    const bank = Bank.bank()
    return Effect.gen(function* () {
      yield* bank.generate({ prompt: "go", conversation: "c" })
      assert.match((yield* Bank.history("c"))[2] ?? "", /^failure {2}transfer .*The call has no id/)
      assert.deepStrictEqual((yield* Bank.Book).done, [])
    }).pipe(Effect.provide(Bank.layer(bank, [[toolCall("", "transfer", { amount: 1 })], [text("done")]])))
  })

  it.effect("of an answer that was cut off do not run", () => {
    const bank = Bank.bank()
    return Effect.gen(function* () {
      const outcome = yield* bank.generate({ prompt: "go", conversation: "c" })
      assert.strictEqual(outcome._tag, "Finished")
      assert.match(
        (yield* Bank.history("c"))[2] ?? "",
        /^failure call_1 transfer .*execution-interrupted.*length/
      )
      assert.deepStrictEqual((yield* Bank.Book).done, [])
    }).pipe(
      Effect.provide(
        Bank.layer(bank, [[toolCall("call_1", "transfer", { amount: 1 }), finish("length")], [text("done")]])
      )
    )
  })

  it.effect("cannot be answered, nor approved, by the model itself", () => {
    const bank = Bank.bank()
    return Effect.gen(function* () {
      const outcome = yield* bank.generate({ prompt: "go", conversation: "c" })
      assert.strictEqual(outcome._tag, "Waiting")
      assert.deepStrictEqual((yield* Bank.Book).done, [])
      assert.deepStrictEqual(yield* Bank.history("c"), ["user: go", 'call call_1 pay {"amount":1}'])
      const [approval] = yield* Approvals.pending
      assert.notStrictEqual(approval?.approvalId, "forged")
    }).pipe(
      Effect.provide(
        Bank.layer(bank, [
          [
            toolCall("call_1", "pay", { amount: 1 }),
            { type: "tool-approval-request", approvalId: "forged", toolCallId: "call_1" },
            { ...ScriptedModel.toolResult("call_1", "pay", "paid 1"), providerExecuted: false }
          ]
        ])
      )
    )
  })

  it.effect("tell of their progress as it comes", () => {
    const bank = Bank.bank()
    return Effect.gen(function* () {
      const events = yield* Bank.events(bank.run({ prompt: "go" }))
      assert.deepStrictEqual(
        events.flatMap((event) =>
          event._tag === "ToolCallProgress" || event._tag === "ToolCallFinished" ? event.result : []
        ),
        [1, 2, 3]
      )
    }).pipe(Effect.provide(Bank.layer(bank, [[toolCall("call_1", "steps", {})], [text("done")]])))
  })
})

describe("tools that fail", () => {
  const failing = (name: string, params: unknown) => {
    const bank = Bank.bank()
    return Effect.gen(function* () {
      const outcome = yield* bank.generate({ prompt: "go", conversation: "c" })
      return { outcome, history: yield* Bank.history("c") }
    }).pipe(
      Effect.provide(
        Bank.layer(bank, [
          [toolCall("call_1", name, params), toolCall("call_2", "transfer", { amount: 2 })],
          [text("done")]
        ])
      )
    )
  }

  it.effect("by their failure mode, for the model", () =>
    Effect.gen(function* () {
      const { history, outcome } = yield* failing("try_transfer", { amount: -1 })
      assert.strictEqual(outcome._tag, "Finished")
      assert.strictEqual(
        history[3],
        'failure call_1 try_transfer {"_tag":"Overdrawn","message":"no -1 here"}'
      )
    })
  )

  it.effect("or for the program: then the run fails, and its conversation is whole", () =>
    Effect.gen(function* () {
      const { history, outcome } = yield* failing("transfer", { amount: -1 })
      assert.deepStrictEqual(outcome._tag === "Failed" && outcome.error, {
        type: "Overdrawn",
        message: "no -1 here"
      })
      assert.match(history[3] ?? "", /^failure call_1 transfer .*"error":"Overdrawn","reason":"no -1 here"/)
      assert.strictEqual(history[4], 'result call_2 transfer "transferred 2"')
    })
  )

  it.effect("or die: nobody outside is told more than that", () =>
    Effect.gen(function* () {
      const { history, outcome } = yield* failing("crash", {})
      assert.deepStrictEqual(outcome._tag === "Failed" && outcome.error, {
        type: "RangeError",
        message: "The tool died"
      })
      assert.notInclude(JSON.stringify(outcome) + history.join(), "secret detail")
      assert.strictEqual(history[4], 'result call_2 transfer "transferred 2"')
    })
  )

  it.effect("and however they do, no stack is told of", () => {
    const failing = (name: string, failureMode: "return" | "error") =>
      Tool.make(name, { success: Schema.String, failure: Schema.Defect(), failureMode })
    const toolkit = Toolkit.make(
      failing("return_error", "return"),
      failing("fail", "error"),
      Tool.make("die", { success: Schema.String }),
      Tool.make("strict", { parameters: Schema.Struct({ n: Schema.Number }), success: Schema.String })
    )
    const thrown = () => new TypeError("no such account")
    const handlers = toolkit.toLayer({
      return_error: () => Effect.fail(thrown()),
      fail: () => Effect.fail(thrown()),
      die: () => Effect.die(thrown()),
      strict: () => Effect.succeed("")
    })
    const agent = Agent.make({ name: "stacks", toolkit })
    return Effect.gen(function* () {
      const calls = ["return_error", "fail", "die", "strict", "none"]
      const outcome = yield* agent.generate({ prompt: "go", conversation: "c" })
      assert.strictEqual(outcome._tag, "Failed")
      const results = (yield* Bank.history("c")).filter((line) => line.startsWith("failure"))
      assert.lengthOf(results, calls.length)
      assert.include(results[0], "no such account")
      const told = JSON.stringify([results, outcome])
      assert.notMatch(told, /\bat .*:\d+:\d+|node_modules|\/src\/|\/test\//)
    }).pipe(
      Effect.provide(
        agent.layer.pipe(
          Layer.provide([
            ScriptedModel.layer([
              ["return_error", "fail", "die", "strict", "none"].map((name) =>
                toolCall(`call_${name}`, name, {})
              )
            ]),
            handlers
          ]),
          Layer.provideMerge(layerMemory)
        )
      )
    )
  })

  it.effect("or interrupt themselves", () =>
    Effect.gen(function* () {
      const { history, outcome } = yield* failing("give_up", {})
      assert.strictEqual(outcome._tag, "Failed")
      assert.match(history[3] ?? "", /^failure call_1 give_up .*execution-failed/)
    })
  )

  it.effect("are called again by the schedule if they are idempotent, and not if they are not", () => {
    const bank = Bank.bank({ retry: Schedule.recurs(3) })
    return Effect.gen(function* () {
      const events = yield* Bank.events(bank.run({ prompt: "go", conversation: "c" }))
      assert.deepStrictEqual(
        events.flatMap((event) => (event._tag === "ToolCallStarted" ? [event.toolName, event.attempt] : [])),
        ["flaky", 1, "flaky", 2, "flaky", 3, "try_transfer", 1]
      )
      assert.strictEqual((yield* Bank.history("c"))[2], 'result call_1 flaky "at last"')
    }).pipe(
      Effect.provide(
        Bank.layer(bank, [
          [toolCall("call_1", "flaky", { amount: 3 })],
          [toolCall("call_2", "try_transfer", { amount: -1 })],
          [text("done")]
        ])
      )
    )
  })
})

describe("the model", () => {
  const busy = AiError.make({
    module: "Test",
    method: "generateText",
    reason: new AiError.RateLimitError({})
  })

  it.effect("that fails ends the run as failed; the next run goes on", () => {
    const bank = Bank.bank()
    return Effect.gen(function* () {
      const outcome = yield* bank.generate({ prompt: "one", conversation: "c" })
      assert.strictEqual(outcome._tag === "Failed" && outcome.error.type, "RateLimitError")
      assert.strictEqual((yield* bank.generate({ prompt: "two", conversation: "c" }))._tag, "Finished")
      assert.deepStrictEqual(yield* Bank.history("c"), ["user: one", "user: two", "assistant: done"])
    }).pipe(Effect.provide(Bank.layer(bank, [() => Effect.fail(busy), [text("done")]])))
  })

  it.effect("that pauses is asked again", () => {
    const bank = Bank.bank()
    return Effect.gen(function* () {
      const outcome = yield* bank.generate({ prompt: "one" })
      assert.strictEqual(outcome._tag === "Finished" && outcome.text, "done")
      assert.strictEqual(outcome.usage.turns, 2)
    }).pipe(Effect.provide(Bank.layer(bank, [[text("wait"), finish("pause")], [text("done")]])))
  })
})

describe("a limit", () => {
  const endless = Array.from({ length: 9 }, (_, turn) => [
    toolCall(`call_${turn}`, "transfer", { amount: turn }),
    finish("tool-calls", { inputTokens: { total: 60 }, outputTokens: { total: 40 } })
  ])
  const limited = (limits: NonNullable<Parameters<typeof Bank.bank>[0]>["limits"]) => {
    const bank = Bank.bank({ limits })
    return Effect.gen(function* () {
      const outcome = yield* bank.generate({ prompt: "go", conversation: "c" })
      assert.strictEqual(outcome._tag, "LimitReached")
      const history = yield* Bank.history("c")
      // Whole: as many results as calls.
      assert.strictEqual(
        history.filter((part) => /^(result|failure) /.test(part)).length,
        history.filter((part) => part.startsWith("call ")).length
      )
      return {
        limit: outcome._tag === "LimitReached" && outcome.limit,
        history,
        done: (yield* Bank.Book).done
      }
    }).pipe(Effect.provide(Bank.layer(bank, endless)))
  }

  it.effect("of turns", () =>
    Effect.gen(function* () {
      const { done, limit } = yield* limited({ turns: 3 })
      assert.strictEqual(limit, "turns")
      assert.deepStrictEqual(done, ["transfer 0", "transfer 1", "transfer 2"])
    })
  )

  it.effect("of tool calls: those beyond it do not run", () =>
    Effect.gen(function* () {
      const { done, history, limit } = yield* limited({ toolCalls: 2 })
      assert.strictEqual(limit, "toolCalls")
      assert.deepStrictEqual(done, ["transfer 0", "transfer 1"])
      assert.match(history.at(-1) ?? "", /^failure call_2 transfer .*limit of tool calls/)
    })
  )

  it.effect("of tokens", () =>
    Effect.gen(function* () {
      const { done, limit } = yield* limited({ tokens: 150 })
      assert.strictEqual(limit, "tokens")
      assert.strictEqual(done.length, 2)
    })
  )

  it.effect("of time: what runs is interrupted, and its finalizers waited for", () => {
    const bank = Bank.bank({ limits: { duration: "10 seconds" } })
    return Effect.gen(function* () {
      const running = yield* Effect.forkChild(bank.generate({ prompt: "go", conversation: "c" }))
      const { done } = yield* Bank.Book
      while (done.length < 1) yield* Effect.yieldNow
      yield* TestClock.adjust("10 seconds")
      const outcome = yield* Fiber.join(running)
      assert.strictEqual(outcome._tag === "LimitReached" && outcome.limit, "duration")
      assert.deepStrictEqual(done, ["wait 1", "interrupted 1"])
      assert.match((yield* Bank.history("c")).at(-1) ?? "", /^failure call_1 wait .*used up its time/)
    }).pipe(Effect.provide(Bank.layer(bank, [[toolCall("call_1", "wait", { amount: 1 })]])))
  })
})

describe("a run that is cancelled", () => {
  it.effect("interrupts its handlers, and its conversation is whole", () => {
    const bank = Bank.bank()
    return Effect.gen(function* () {
      const runtime = yield* AgentRuntime
      const running = yield* Effect.forkChild(bank.generate({ prompt: "go", conversation: "c", runId: "r" }))
      const { done } = yield* Bank.Book
      while (done.length < 2) yield* Effect.yieldNow
      for (let turn = 0; turn < 20; turn++) yield* Effect.yieldNow
      const outcome = yield* runtime.cancel("r")
      assert.strictEqual(outcome._tag, "Cancelled")
      assert.deepStrictEqual(yield* Fiber.join(running), outcome)
      assert.deepStrictEqual(done, ["wait 1", "transfer 2", "interrupted 1"])
      const history = yield* Bank.history("c")
      assert.match(history.at(-2) ?? "", /^failure call_1 wait .*The run was cancelled while the call ran/)
      assert.strictEqual(history.at(-1), 'result call_2 transfer "transferred 2"')
      // Again: it has ended.
      assert.deepStrictEqual(yield* runtime.cancel("r"), outcome)
      assert.strictEqual((yield* bank.generate({ prompt: "next", conversation: "c" }))._tag, "Finished")
    }).pipe(
      Effect.provide(
        Bank.layer(bank, [
          [toolCall("call_1", "wait", { amount: 1 }), toolCall("call_2", "transfer", { amount: 2 })],
          [text("done")]
        ])
      )
    )
  })

  it.effect("waits for finalizers no longer than the agent allows", () => {
    const toolkit = Toolkit.make(Tool.make("stuck", { success: Schema.String }))
    const agent = Agent.make({ name: "stuck", toolkit, cancelWithin: "5 seconds" })
    const happened: Array<string> = []
    const handlers = toolkit.toLayer({
      stuck: () =>
        Effect.sync(() => happened.push("called")).pipe(
          Effect.andThen(Effect.never),
          Effect.onInterrupt(() =>
            Effect.andThen(
              Effect.sleep("1 minute"),
              Effect.sync(() => happened.push("finalized"))
            )
          )
        )
    })
    return Effect.gen(function* () {
      const runtime = yield* AgentRuntime
      yield* Effect.forkChild(agent.generate({ prompt: "go", conversation: "c", runId: "r" }))
      while (happened.length === 0) yield* Effect.yieldNow
      const cancelling = yield* Effect.forkChild(runtime.cancel("r"))
      yield* TestClock.adjust("4999 millis")
      assert.isUndefined(cancelling.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* Fiber.join(cancelling))._tag, "Cancelled")
      assert.deepStrictEqual(happened, ["called"])
      assert.match((yield* Bank.history("c")).at(-1) ?? "", /^failure call_1 stuck .*The run was cancelled/)
      // It goes on by itself.
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(happened, ["called", "finalized"])
    }).pipe(
      Effect.provide(
        agent.layer.pipe(
          Layer.provide([ScriptedModel.layer([[toolCall("call_1", "stuck", {})]]), handlers]),
          Layer.provideMerge(layerMemory)
        )
      )
    )
  })

  it.effect("by its reader: whoever stops reading the stream ends it", () => {
    const bank = Bank.bank()
    return Effect.gen(function* () {
      yield* bank.run({ prompt: "go", conversation: "c", runId: "r" }).pipe(
        Stream.takeUntil(({ _tag }) => _tag === "ToolCallStarted"),
        Stream.runDrain
      )
      const outcome = yield* (yield* AgentRuntime).outcome("r")
      assert.strictEqual(outcome._tag, "Cancelled")
      assert.match((yield* Bank.history("c")).at(-1) ?? "", /^failure call_1 wait .*The run was cancelled/)
    }).pipe(Effect.provide(Bank.layer(bank, [[toolCall("call_1", "wait", { amount: 1 })]])))
  })

  it.effect("while it waits, ends at once, and its approvals with it", () => {
    const bank = Bank.bank()
    return Effect.gen(function* () {
      yield* bank.generate({ prompt: "go", conversation: "c", runId: "r" })
      const [approval] = yield* Approvals.pending
      const outcome = yield* (yield* AgentRuntime).cancel("r")
      assert.strictEqual(outcome._tag, "Cancelled")
      assert.deepStrictEqual(yield* Approvals.pending, [])
      const late = yield* Effect.flip(Approvals.approve(approval?.approvalId ?? ""))
      assert.isTrue(AgentError.is(late, "AlreadyDecided"))
      assert.match((yield* Bank.history("c")).at(-1) ?? "", /^failure call_1 pay .*The run was cancelled/)
    }).pipe(Effect.provide(Bank.layer(bank, [[toolCall("call_1", "pay", { amount: 1 })]])))
  })
})

describe("approvals", () => {
  const { approve, deny, pending } = Approvals

  it.effect("hold a call back, and let it run when it is resumed", () => {
    const bank = Bank.bank()
    return Effect.gen(function* () {
      const events = yield* Bank.events(bank.run({ prompt: "go", conversation: "c", runId: "r" }))
      const waiting = Bank.end(events)
      assert.strictEqual(waiting._tag, "Waiting")
      const [approval] = yield* pending
      assert.deepStrictEqual(approval && { ...approval, approvalId: "", requestedAt: 0 }, {
        approvalId: "",
        runId: "r",
        conversation: "c",
        agent: "bank",
        toolName: "pay",
        toolCallId: "call_1",
        params: { amount: 1 },
        requestedAt: 0
      })
      // Other calls of the turn have run.
      assert.deepStrictEqual((yield* Bank.Book).done, ["transfer 2"])
      assert.deepStrictEqual(Bank.end(yield* Bank.events(bank.resume("r"))), waiting)
      yield* approve(approval ?? "", { approver: "ada" })
      const after = yield* Bank.events(bank.resume("r"))
      assert.deepStrictEqual(
        after.map(({ _tag }) => _tag),
        ["ApprovalDecided", "ToolCallStarted", "ToolCallFinished", "TextDelta", "TurnFinished", "Ended"]
      )
      assert.strictEqual(Bank.end(after)._tag, "Finished")
      assert.deepStrictEqual((yield* Bank.Book).done, ["transfer 2", "pay 1"])
      assert.deepStrictEqual((yield* Bank.history("c")).slice(1), [
        'call call_1 pay {"amount":1}',
        'call call_2 transfer {"amount":2}',
        'result call_1 pay "paid 1"',
        'result call_2 transfer "transferred 2"',
        "assistant: done"
      ])
      // No turn of the model saw a decided call without its result, or an approval.
      const { requests } = yield* ScriptedModel.ScriptedModel
      assert.strictEqual(requests.length, 2)
      assert.notInclude(JSON.stringify(requests.map(({ prompt }) => prompt)), "approval")
    }).pipe(
      Effect.provide(
        Bank.layer(bank, [
          [toolCall("call_1", "pay", { amount: 1 }), toolCall("call_2", "transfer", { amount: 2 })],
          [text("done")]
        ])
      )
    )
  })

  it.effect("that are denied give the model the reason", () => {
    const bank = Bank.bank()
    return Effect.gen(function* () {
      yield* bank.generate({ prompt: "go", conversation: "c", runId: "r" })
      const [approval] = yield* pending
      yield* deny(approval ?? "", { reason: "too much" })
      assert.strictEqual(Bank.end(yield* Bank.events(bank.resume("r")))._tag, "Finished")
      assert.strictEqual(
        (yield* Bank.history("c"))[2],
        'failure call_1 pay {"type":"execution-denied","reason":"too much"}'
      )
      assert.deepStrictEqual((yield* Bank.Book).done, [])
    }).pipe(Effect.provide(Bank.layer(bank, [[toolCall("call_1", "pay", { amount: 1 })], [text("done")]])))
  })

  it.effect("are decided once, and for exactly what was asked", () => {
    const bank = Bank.bank()
    return Effect.gen(function* () {
      yield* bank.generate({ prompt: "go", runId: "r" })
      const [approval] = yield* pending
      if (approval === undefined) throw new Error("nothing waits")
      const changed = yield* Effect.flip(approve({ ...approval, params: { amount: 1000 } }))
      assert.isTrue(AgentError.is(changed, "DecisionMismatch"))
      assert.match(changed.message, /is for other arguments than the decision/)
      const renamed = yield* Effect.flip(approve({ ...approval, toolName: "transfer" }))
      assert.isTrue(AgentError.is(renamed, "DecisionMismatch"))
      const unknown = yield* Effect.flip(approve("nothing"))
      assert.isTrue(AgentError.is(unknown, "ApprovalNotFound"))
      yield* deny(approval, { approver: "ada" })
      const late = yield* Effect.flip(approve(approval, { approver: "eve" }))
      assert.isTrue(AgentError.is(late, "AlreadyDecided"))
      assert.match(late.message, /was denied before by ada: the first decision stands/)
      yield* Bank.events(bank.resume("r"))
      assert.deepStrictEqual((yield* Bank.Book).done, [])
    }).pipe(Effect.provide(Bank.layer(bank, [[toolCall("call_1", "pay", { amount: 1 })], [text("done")]])))
  })

  it.effect("of several calls are acted on as they come", () => {
    const bank = Bank.bank()
    return Effect.gen(function* () {
      yield* bank.generate({ prompt: "go", conversation: "c", runId: "r" })
      const [one, two] = yield* pending
      yield* approve(two ?? "")
      const still = Bank.end(yield* Bank.events(bank.resume("r")))
      assert.deepStrictEqual(
        still._tag === "Waiting" && still.approvals.map(({ toolCallId }) => toolCallId),
        ["call_1"]
      )
      assert.deepStrictEqual((yield* Bank.Book).done, ["pay 2"])
      yield* approve(one ?? "")
      yield* Bank.events(bank.resume("r"))
      assert.deepStrictEqual((yield* Bank.Book).done, ["pay 2", "pay 1"])
      assert.deepStrictEqual((yield* Bank.history("c")).slice(3, 5), [
        'result call_1 pay "paid 1"',
        'result call_2 pay "paid 2"'
      ])
    }).pipe(
      Effect.provide(
        Bank.layer(bank, [
          [toolCall("call_1", "pay", { amount: 1 }), toolCall("call_2", "pay", { amount: 2 })],
          [text("done")]
        ])
      )
    )
  })

  it.effect("expire, and the call is denied", () => {
    const bank = Bank.bank({ approvals: { expiresAfter: "1 hour" } })
    return Effect.gen(function* () {
      yield* bank.generate({ prompt: "go", conversation: "c", runId: "r" })
      const [approval] = yield* pending
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(yield* pending, [])
      const late = yield* Effect.flip(approve(approval ?? ""))
      assert.match(late.message, /was expired before/)
      yield* Bank.events(bank.resume("r"))
      assert.match(
        (yield* Bank.history("c"))[2] ?? "",
        /^failure call_1 pay .*execution-denied.*nobody decided in time/
      )
      assert.deepStrictEqual((yield* Bank.Book).done, [])
    }).pipe(Effect.provide(Bank.layer(bank, [[toolCall("call_1", "pay", { amount: 1 })], [text("done")]])))
  })

  it.effect("are asked for by amount, by policy, and where a tool cannot say", () => {
    const bank = Bank.bank({ approvals: { destructive: true } })
    return Effect.gen(function* () {
      const outcome = yield* bank.generate({ prompt: "go" })
      assert.deepStrictEqual(
        outcome._tag === "Waiting" && outcome.approvals.map(({ params, toolName }) => [toolName, params]),
        [
          ["refund", { amount: 101 }],
          ["refund", { amount: 13 }],
          ["refund", { amount: 14 }],
          ["close", {}]
        ]
      )
      // What does not decode never reaches a handler: nobody need approve it.
      assert.deepStrictEqual((yield* Bank.Book).done, ["refund 1"])
    }).pipe(
      Effect.provide(
        Bank.layer(bank, [
          [
            toolCall("call_1", "refund", { amount: 1 }),
            toolCall("call_2", "refund", { amount: 101 }),
            toolCall("call_3", "refund", { amount: 13 }),
            toolCall("call_4", "refund", { amount: 14 }),
            toolCall("call_5", "refund", { amount: "all" }),
            toolCall("call_6", "close", {})
          ]
        ])
      )
    )
  })

  it.effect("of destructive tools are not asked for unless the agent says so", () => {
    const bank = Bank.bank()
    return Effect.gen(function* () {
      assert.strictEqual((yield* bank.generate({ prompt: "go" }))._tag, "Finished")
      assert.deepStrictEqual((yield* Bank.Book).done, ["close"])
    }).pipe(Effect.provide(Bank.layer(bank, [[toolCall("call_1", "close", {})], [text("done")]])))
  })

  it.effect("let nothing else be said in the conversation meanwhile", () => {
    const bank = Bank.bank()
    return Effect.gen(function* () {
      yield* bank.generate({ prompt: "go", conversation: "c", runId: "r" })
      const busy = yield* Effect.flip(bank.generate({ prompt: "and?", conversation: "c" }))
      assert.strictEqual(
        busy.message,
        'conversation "c" is busy: its run "r" has not ended. Resume or cancel that one first'
      )
    }).pipe(Effect.provide(Bank.layer(bank, [[toolCall("call_1", "pay", { amount: 1 })]])))
  })

  it.effect(
    "of a conversation from elsewhere count, however often they are said: each call runs once",
    () => {
      const bank = Bank.bank()
      const call = (id: string, amount: number) =>
        Prompt.toolCallPart({ id, name: "pay", params: { amount }, providerExecuted: false })
      const request = (id: string) =>
        Prompt.toolApprovalRequestPart({ approvalId: `for ${id}`, toolCallId: id })
      const response = (id: string, approved: boolean) =>
        Prompt.toolApprovalResponsePart({ approvalId: `for ${id}`, approved })
      const prompt = Prompt.fromMessages([
        Prompt.userMessage({ content: [Prompt.textPart({ text: "go" })] }),
        Prompt.assistantMessage({
          content: [call("a", 1), call("b", 2), call("c", 3), request("a"), request("b"), request("c")]
        }),
        Prompt.toolMessage({
          content: [response("a", true), response("a", true), response("b", false), response("b", true)]
        })
      ])
      return Effect.gen(function* () {
        const outcome = yield* bank.generate({ prompt, conversation: "c", runId: "r" })
        assert.deepStrictEqual((yield* Bank.Book).done, ["pay 1"])
        assert.deepStrictEqual(
          outcome._tag === "Waiting" && outcome.approvals.map(({ approvalId }) => approvalId),
          ["for c"]
        )
        yield* approve("for c")
        yield* Bank.events(bank.resume("r"))
        assert.deepStrictEqual((yield* Bank.Book).done, ["pay 1", "pay 3"])
        assert.deepStrictEqual((yield* Bank.history("c")).slice(4), [
          'result a pay "paid 1"',
          'failure b pay {"type":"execution-denied"}',
          'result c pay "paid 3"',
          "assistant: done"
        ])
      }).pipe(Effect.provide(Bank.layer(bank, [[text("done")]])))
    }
  )
})
