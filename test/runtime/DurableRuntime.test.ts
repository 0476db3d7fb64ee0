/** Runs that engines work on: in memory, and on one file, with real time. */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, describe, it } from "@effect/vitest"
import * as ClusterWorkflowEngine from "effect/cluster/ClusterWorkflowEngine"
import * as SingleRunner from "effect/cluster/SingleRunner"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as WorkflowEngine from "effect/workflow/WorkflowEngine"
import * as LanguageModelInstrumentation from "../../src/instrumentation/LanguageModelInstrumentation.ts"
import * as ToolkitInstrumentation from "../../src/instrumentation/ToolkitInstrumentation.ts"
import * as Agent from "../../src/runtime/Agent.ts"
import * as AgentRuntime from "../../src/runtime/AgentRuntime.ts"
import * as Approvals from "../../src/runtime/Approvals.ts"
import * as DurableRuntime from "../../src/runtime/DurableRuntime.ts"
import { RunStore } from "../../src/runtime/RunStore.ts"
import * as SqlRunStore from "../../src/runtime/SqlRunStore.ts"
import * as SqliteClient from "../../src/sqlite/SqliteClient.ts"
import * as RecordedSpans from "../../src/testing/RecordedSpans.ts"
import * as ScriptedModel from "../../src/testing/ScriptedModel.ts"
import * as DatabaseFile from "../sqlite/DatabaseFile.ts"
import * as Metrics from "../support/Metrics.ts"
import * as Bank from "./Bank.ts"

const { text, toolCall } = ScriptedModel

const store = (filename: string) =>
  SqlRunStore.layer({ lease: 1000 }).pipe(Layer.provideMerge(SqliteClient.layer({ filename })))

const engines = {
  "the engine in memory": () => WorkflowEngine.layerMemory,
  "a single runner on the file": () =>
    DurableRuntime.untraced(
      ClusterWorkflowEngine.layer.pipe(
        Layer.provide(
          SingleRunner.layer({ runnerStorage: "sql", shardingConfig: { entityTerminationTimeout: 100 } })
        ),
        Layer.provide(NodeCrypto.layerDigest)
      )
    )
}

/** One process that works on the file. */
const process = (
  engine: keyof typeof engines,
  filename: string,
  turns: ReadonlyArray<ScriptedModel.Turn>,
  agent: Pick<ReturnType<typeof Bank.bank>, "layer"> = Bank.bank()
) =>
  agent.layer.pipe(
    Layer.provideMerge(ScriptedModel.layer(turns)),
    Layer.provide(Bank.handlers),
    Layer.provideMerge(Bank.Book.layer),
    Layer.provideMerge(DurableRuntime.layer({ pollInterval: 50 })),
    Layer.provide(engines[engine]()),
    Layer.provideMerge(store(filename))
  )

const tags = (events: ReadonlyArray<{ readonly _tag: string }>) => events.map(({ _tag }) => _tag)

for (const engine of ["the engine in memory", "a single runner on the file"] as const) {
  describe(`a durable runtime on ${engine}`, () => {
    it.live("works on a run, and tells what happens as it happens", () =>
      Effect.gen(function* () {
        const filename = yield* DatabaseFile.make
        const bank = Bank.bank()
        const turns = [[text("Moving."), toolCall("call_1", "steps", {})], [text("Moved.")]]
        yield* Effect.gen(function* () {
          const events = yield* Bank.events(bank.run({ prompt: "go", conversation: "c", runId: "r" }))
          assert.deepStrictEqual(tags(events), [
            "TextDelta",
            "TurnFinished",
            "ToolCallStarted",
            "ToolCallProgress",
            "ToolCallProgress",
            "ToolCallFinished",
            "TextDelta",
            "TurnFinished",
            "Ended"
          ])
          assert.deepStrictEqual(yield* Bank.history("c"), [
            "user: go",
            "assistant: Moving.",
            "call call_1 steps {}",
            "result call_1 steps 3",
            "assistant: Moved."
          ])
          // Again: it has ended.
          assert.deepStrictEqual(tags(yield* Bank.events(bank.resume("r"))), ["Ended"])
        }).pipe(Effect.provide(process(engine, filename, turns)))
      }).pipe(Effect.scoped)
    )

    it.live(
      "tells of a call that has started, everywhere, and in its order however long the call takes",
      () =>
        Effect.gen(function* () {
          const filename = yield* DatabaseFile.make
          const bank = Bank.bank()
          yield* Effect.gen(function* () {
            const following = yield* Effect.forkChild(
              Bank.events(bank.run({ prompt: "go", conversation: "c", runId: "r" }))
            )
            const { done } = yield* Bank.Book
            while (done.length < 1) yield* Effect.sleep(10)
            yield* Effect.gen(function* () {
              const events = yield* (yield* RunStore).events("r", 0)
              assert.deepStrictEqual(tags(events.map(({ event }) => event)), [
                "TurnFinished",
                "ToolCallStarted"
              ])
            }).pipe(Effect.provide(store(filename)))
            yield* Effect.sleep(1500)
            yield* (yield* AgentRuntime.AgentRuntime).cancel("r")
            assert.deepStrictEqual(tags(yield* Fiber.join(following)), [
              "TurnFinished",
              "ToolCallStarted",
              "ToolCallFinished",
              "Ended"
            ])
          }).pipe(Effect.provide(process(engine, filename, [[toolCall("call_1", "wait", { amount: 1 })]])))
        }).pipe(Effect.scoped)
    )

    it.live(
      "holds a run for days: it is decided upon by a process without an engine, and goes on in a third",
      () =>
        Effect.gen(function* () {
          const filename = yield* DatabaseFile.make
          const bank = Bank.bank()
          const asked = yield* bank
            .generate({ prompt: "go", conversation: "c", runId: "r" })
            .pipe(Effect.provide(process(engine, filename, [[toolCall("call_1", "pay", { amount: 7 })]])))
          assert.strictEqual(asked._tag, "Waiting")

          yield* Effect.gen(function* () {
            const [approval] = yield* Approvals.pending
            assert.strictEqual(approval?.toolCallId, "call_1")
            yield* Approvals.approve(approval ?? "", { approver: "ada" })
          }).pipe(Effect.provide(store(filename)))

          yield* Effect.gen(function* () {
            const runtime = yield* AgentRuntime.AgentRuntime
            // Nobody resumes it: that it is decided is found.
            const outcome = yield* runtime.outcome("r")
            assert.strictEqual(outcome._tag === "Finished" && outcome.text, "Paid.")
            assert.deepStrictEqual((yield* Bank.Book).done, ["pay 7"])
            assert.deepStrictEqual((yield* Bank.history("c")).slice(1), [
              'call call_1 pay {"amount":7}',
              'result call_1 pay "paid 7"',
              "assistant: Paid."
            ])
          }).pipe(Effect.provide(process(engine, filename, [[text("Paid.")]])))
        }).pipe(Effect.scoped)
    )

    it.live("lets go of a run when its process ends, and another one goes on with it", () =>
      Effect.gen(function* () {
        const filename = yield* DatabaseFile.make
        const bank = Bank.bank()
        yield* Effect.gen(function* () {
          yield* bank.start({ prompt: "go", conversation: "c", runId: "r" })
          const { done } = yield* Bank.Book
          while (done.length < 1) yield* Effect.sleep(10)
        }).pipe(Effect.provide(process(engine, filename, [[toolCall("call_1", "wait", { amount: 1 })]])))
        yield* Effect.gen(function* () {
          const outcome = yield* (yield* AgentRuntime.AgentRuntime).outcome("r")
          assert.strictEqual(outcome._tag, "Finished")
          assert.match((yield* Bank.history("c"))[2] ?? "", /^failure call_1 wait .*ToolOutcomeUnknown/)
          assert.deepStrictEqual((yield* Bank.Book).done, [])
        }).pipe(Effect.provide(process(engine, filename, [[text("I do not know.")]])))
      }).pipe(Effect.scoped)
    )

    it.live("cancels a run that works, and one that waits", () =>
      Effect.gen(function* () {
        const filename = yield* DatabaseFile.make
        const bank = Bank.bank()
        yield* Effect.gen(function* () {
          const runtime = yield* AgentRuntime.AgentRuntime
          const { done } = yield* Bank.Book
          yield* bank.start({ prompt: "go", conversation: "c", runId: "r" })
          while (done.length < 1) yield* Effect.sleep(10)
          assert.strictEqual((yield* runtime.cancel("r"))._tag, "Cancelled")
          assert.deepStrictEqual(done, ["wait 1", "interrupted 1"])
          assert.strictEqual((yield* bank.generate({ prompt: "go", runId: "s" }))._tag, "Waiting")
          assert.strictEqual((yield* runtime.cancel("s"))._tag, "Cancelled")
          assert.deepStrictEqual(yield* Approvals.pending, [])
        }).pipe(
          Effect.provide(
            process(engine, filename, [
              [toolCall("call_1", "wait", { amount: 1 })],
              [toolCall("call_2", "pay", { amount: 2 })]
            ])
          )
        )
      }).pipe(Effect.scoped)
    )
  })
}

describe("a durable runtime", () => {
  it.live("keeps one trace from the asking to the answer, without the spans of engine and store", () =>
    Effect.gen(function* () {
      const filename = yield* DatabaseFile.make
      const bank = Agent.make({ name: "bank", toolkit: ToolkitInstrumentation.instrument(Bank.toolkit) })
      const engine = "a single runner on the file"
      const observed = (turns: ReadonlyArray<ScriptedModel.Turn>) =>
        process(engine, filename, [], {
          layer: bank.layer.pipe(
            Layer.provide(LanguageModelInstrumentation.layer(ScriptedModel.layer(turns)))
          )
        }).pipe(Layer.provideMerge(Metrics.layer))
      const recorded = yield* RecordedSpans.make
      const traced = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.withTracer(effect, recorded.tracer)
      yield* traced(
        bank
          .generate({ prompt: "go", conversation: "c", runId: "r" })
          .pipe(
            Effect.withSpan("monday"),
            Effect.provide(observed([[toolCall("call_1", "pay", { amount: 7 })]]))
          )
      )
      yield* Effect.flatMap(Approvals.pending, ([approval]) => Approvals.approve(approval ?? "")).pipe(
        Effect.provide(store(filename))
      )
      yield* traced(
        Effect.flatMap(AgentRuntime.AgentRuntime, (runtime) => runtime.outcome("r")).pipe(
          Effect.provide(observed([[text("Paid.")]]))
        )
      )
      RecordedSpans.expectTrees(recorded, [
        {
          name: "monday",
          children: [
            {
              name: "invoke_agent bank",
              attributes: { "toolspan.run.state": "waiting" },
              children: [
                {
                  name: "LanguageModel.generateText",
                  children: [
                    { name: "tool_approval pay" },
                    { name: "execute_tool pay", attributes: { "toolspan.tool.outcome": "success" } }
                  ]
                }
              ]
            },
            {
              name: "invoke_agent bank",
              attributes: { "toolspan.run.state": "finished", "toolspan.run.recovered": undefined },
              children: [{ name: "LanguageModel.generateText" }]
            }
          ]
        }
      ])
    }).pipe(Effect.scoped)
  )

  for (const [where, runtime] of [
    [
      "works by itself",
      DurableRuntime.layer({ pollInterval: 50 }).pipe(Layer.provide(WorkflowEngine.layerMemory))
    ],
    ["is asked", AgentRuntime.layer]
  ] as const) {
    it.live(`counts what waits in the store, for every process: where it ${where}`, () =>
      Effect.gen(function* () {
        const filename = yield* DatabaseFile.make
        const bank = Bank.bank()
        yield* bank
          .generate({ prompt: "go", conversation: "c", runId: "r" })
          .pipe(
            Effect.provide(
              process("the engine in memory", filename, [[toolCall("call_1", "pay", { amount: 7 })]])
            )
          )
        yield* Effect.gen(function* () {
          const waiting = Metrics.values("toolspan.approval.stored")
          while (Object.keys(yield* waiting).length === 0) yield* Effect.sleep(10)
          assert.deepStrictEqual(yield* waiting, { pay: 1 })
          const { pay } = yield* Metrics.values("toolspan.approval.oldest")
          assert.isAtLeast(Number(pay), 0)
        }).pipe(
          Effect.provide(
            bank.layer.pipe(
              Layer.provide([ScriptedModel.layer([]), Bank.handlers]),
              Layer.provide(Bank.Book.layer),
              Layer.provide(runtime),
              Layer.provide(store(filename)),
              Layer.provideMerge(Metrics.layer)
            )
          )
        )
      }).pipe(Effect.scoped)
    )
  }

  it.live("can be looked at by a process that does not work on the run", () =>
    Effect.gen(function* () {
      const filename = yield* DatabaseFile.make
      const bank = Bank.bank()
      yield* Effect.gen(function* () {
        const { gate } = yield* Bank.Book
        yield* bank.start({ prompt: "go", conversation: "c", runId: "r" })
        // Another process: an engine of its own that never gets to work.
        const looking = yield* Effect.forkChild(
          Bank.events(bank.resume("r")).pipe(
            Effect.provide(
              DurableRuntime.layer({ pollInterval: 20 }).pipe(
                Layer.provide(Layer.succeed(WorkflowEngine.WorkflowEngine, idle)),
                Layer.provide(Layer.fresh(store(filename)))
              )
            )
          )
        )
        yield* Effect.sleep(100)
        yield* Deferred.succeed(gate, undefined)
        assert.deepStrictEqual(tags(yield* Fiber.join(looking)), [
          "TurnFinished",
          "ToolCallStarted",
          "ToolCallFinished",
          "TurnFinished",
          "Ended"
        ])
      }).pipe(
        Effect.provide(
          process("the engine in memory", filename, [
            [toolCall("call_1", "wait", { amount: 1 })],
            [text("done")]
          ])
        )
      )
    }).pipe(Effect.scoped)
  )
})

/** An engine that does nothing. */
const idle = WorkflowEngine.makeUnsafe({
  register: () => Effect.void,
  execute: () => Effect.void as never,
  awaitComplete: () => Effect.never,
  poll: () => Effect.succeedNone as never,
  interrupt: () => Effect.void,
  interruptUnsafe: () => Effect.void,
  resume: () => Effect.void,
  activityExecute: () => Effect.never,
  deferredResult: () => Effect.never,
  deferredDone: () => Effect.void,
  scheduleClock: () => Effect.void
})
