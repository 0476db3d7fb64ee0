import { assert, describe, it } from "@effect/vitest"
import * as Prompt from "effect/ai/Prompt"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import * as LanguageModelInstrumentation from "../../src/instrumentation/LanguageModelInstrumentation.ts"
import * as ToolkitInstrumentation from "../../src/instrumentation/ToolkitInstrumentation.ts"
import * as Agent from "../../src/runtime/Agent.ts"
import * as AgentRuntime from "../../src/runtime/AgentRuntime.ts"
import * as Approvals from "../../src/runtime/Approvals.ts"
import { RunStore } from "../../src/runtime/RunStore.ts"
import type * as ExpectedTree from "../../src/testing/ExpectedTree.ts"
import * as RecordedSpans from "../../src/testing/RecordedSpans.ts"
import * as ScriptedModel from "../../src/testing/ScriptedModel.ts"
import * as Metrics from "../support/Metrics.ts"
import * as Bank from "./Bank.ts"

const { text, toolCall } = ScriptedModel

/** Everything is observed: the model, and the toolkit. */
const observed = (turns: ReadonlyArray<ScriptedModel.Turn>) => {
  const bank = Agent.make({ name: "bank", toolkit: ToolkitInstrumentation.instrument(Bank.toolkit) })
  return {
    bank,
    layer: bank.layer.pipe(
      Layer.provide(LanguageModelInstrumentation.layer(ScriptedModel.layer(turns))),
      Layer.provide(Bank.handlers),
      Layer.provideMerge(Bank.Book.layer),
      Layer.provideMerge(AgentRuntime.layerMemory),
      Layer.provideMerge(RecordedSpans.layer),
      Layer.provideMerge(Metrics.layer)
    )
  }
}

const expectTrees = (...trees: ReadonlyArray<ExpectedTree.ExpectedTree>) =>
  Effect.map(RecordedSpans.RecordedSpans, (recorded) => RecordedSpans.expectTrees(recorded, trees))

const turn = "LanguageModel.generateText"

describe("a run", () => {
  it.effect("is one span, above its turns and the calls of each", () => {
    const { bank, layer } = observed([
      [toolCall("call_1", "transfer", { amount: 7 }), toolCall("call_2", "steal", {})],
      [text("done")]
    ])
    return Effect.gen(function* () {
      yield* bank.generate({ prompt: "go", conversation: "c" }).pipe(Effect.withSpan("request"))
      yield* expectTrees({
        name: "request",
        children: [
          {
            name: "invoke_agent bank",
            kind: "internal",
            status: "ok",
            exact: true,
            events: [],
            links: [],
            attributes: {
              "gen_ai.operation.name": "invoke_agent",
              "gen_ai.agent.name": "bank",
              "gen_ai.conversation.id": "c",
              "toolspan.run.state": "finished"
            },
            children: [
              {
                name: turn,
                attributes: { "gen_ai.agent.name": "bank", "gen_ai.conversation.id": "c" },
                children: [
                  {
                    name: "execute_tool transfer",
                    links: [],
                    attributes: {
                      "gen_ai.tool.call.id": "call_1",
                      "gen_ai.tool.call.arguments": '{"amount":7}',
                      "gen_ai.agent.name": "bank",
                      "gen_ai.conversation.id": "c",
                      "toolspan.tool.outcome": "success"
                    }
                  },
                  {
                    name: "execute_tool",
                    status: "error",
                    attributes: { "gen_ai.tool.call.id": "call_2", "toolspan.tool.outcome": "unknown_tool" }
                  }
                ]
              },
              { name: turn, children: [] }
            ]
          }
        ]
      })
      assert.deepStrictEqual(yield* Metrics.values("toolspan.tool.calls"), {
        "transfer/bank/success": 1,
        "_OTHER/bank/unknown_tool": 1
      })
      assert.deepStrictEqual(yield* Metrics.values("gen_ai.invoke_agent.tool_calls"), { bank: 2 })
      assert.deepStrictEqual(yield* Metrics.values("gen_ai.invoke_agent.inference_calls"), { bank: 2 })
      assert.deepStrictEqual(yield* Metrics.values("toolspan.tool.streak"), { transfer: 1, _OTHER: 1 })
    }).pipe(Effect.provide(layer))
  })

  it.effect(
    "that waits goes on in the same trace, beside its first stretch and linked to the one before",
    () => {
      const { bank, layer } = observed([[toolCall("call_1", "pay", { amount: 7 })], [text("done")]])
      return Effect.gen(function* () {
        yield* bank.generate({ prompt: "go", conversation: "c", runId: "r" }).pipe(Effect.withSpan("monday"))
        yield* TestClock.adjust("4 hours")
        const [approval] = yield* Approvals.pending
        yield* Approvals.approve(approval ?? "", { approver: "ada" })
        yield* TestClock.adjust("1 hour")
        yield* Bank.events(bank.resume("r")).pipe(Effect.withSpan("tuesday"))
        const { byName } = yield* RecordedSpans.RecordedSpans
        const [first] = byName("invoke_agent bank")
        const [, second] = byName("invoke_agent bank")
        if (first === undefined || second === undefined) throw new Error("two stretches were expected")
        yield* expectTrees(
          {
            name: "monday",
            children: [
              {
                name: "invoke_agent bank",
                events: [
                  {
                    name: "toolspan.approval.requested",
                    attributes: { "gen_ai.tool.name": "pay", "gen_ai.tool.call.id": "call_1" }
                  }
                ],
                attributes: { "toolspan.run.state": "waiting" },
                children: [
                  {
                    name: turn,
                    children: [
                      {
                        name: "tool_approval pay",
                        exact: true,
                        attributes: {
                          "gen_ai.tool.name": "pay",
                          "gen_ai.tool.call.id": "call_1",
                          "gen_ai.agent.name": "bank",
                          "gen_ai.conversation.id": "c",
                          "toolspan.approval.id": approval?.approvalId,
                          "toolspan.approval.decision": "approved",
                          "toolspan.approval.approver": "ada"
                        }
                      },
                      {
                        name: "execute_tool pay",
                        links: [{ to: second }],
                        attributes: {
                          "gen_ai.tool.call.id": "call_1",
                          "toolspan.approval.id": approval?.approvalId,
                          "toolspan.tool.outcome": "success"
                        }
                      }
                    ]
                  }
                ]
              },
              {
                name: "invoke_agent bank",
                links: [{ to: first }],
                events: [],
                attributes: { "toolspan.run.state": "finished", "toolspan.run.recovered": undefined },
                children: [{ name: "LanguageModel.streamText" }]
              }
            ]
          },
          { name: "tuesday" }
        )
        // Each says it once.
        assert.deepStrictEqual(yield* Metrics.values("toolspan.approval.requests"), { pay: 1 })
        assert.deepStrictEqual(yield* Metrics.values("toolspan.approval.decisions"), { "pay/approved": 1 })
        assert.deepStrictEqual(yield* Metrics.values("toolspan.approval.wait"), { "pay/approved": 4 * 3600 })
        assert.deepStrictEqual(yield* Metrics.values("toolspan.approval.pending"), {})
        assert.deepStrictEqual(yield* Metrics.values("toolspan.tool.calls"), { "pay/bank/success": 1 })
      }).pipe(Effect.provide(layer))
    }
  )

  it.effect("counts a denial as one, and opens no span for the call", () => {
    const { bank, layer } = observed([[toolCall("call_1", "pay", { amount: 7 })], [text("done")]])
    return Effect.gen(function* () {
      yield* bank.generate({ prompt: "go", runId: "r" })
      yield* Approvals.deny((yield* Approvals.pending)[0] ?? "", { reason: "no" })
      yield* Bank.events(bank.resume("r"))
      const { byName } = yield* RecordedSpans.RecordedSpans
      assert.strictEqual(byName("tool_approval pay").length, 1)
      assert.strictEqual(byName("execute_tool pay").length, 0)
      assert.deepStrictEqual(yield* Metrics.values("toolspan.tool.calls"), { "pay/bank/denied": 1 })
    }).pipe(Effect.provide(layer))
  })

  it.effect(
    "without instrumentation is seen with upstream's turns; with the model's alone, without calls",
    () => {
      const turns: ReadonlyArray<ScriptedModel.Turn> = [
        [toolCall("call_1", "transfer", { amount: 7 })],
        [text("done")]
      ]
      const bank = Bank.bank()
      const run = bank.generate({ prompt: "go", conversation: "c" })
      const tree: ExpectedTree.ExpectedTree = {
        name: "invoke_agent bank",
        children: [{ name: turn }, { name: turn }]
      }
      return Effect.gen(function* () {
        yield* Effect.andThen(run, expectTrees(tree)).pipe(
          Effect.provide(Bank.layer(bank, turns)),
          Effect.provide(RecordedSpans.layer)
        )
        yield* Effect.andThen(run, expectTrees(tree)).pipe(
          Effect.provide(
            bank.layer.pipe(
              Layer.provide(LanguageModelInstrumentation.layer(ScriptedModel.layer(turns))),
              Layer.provide(Bank.handlers),
              Layer.provide(Bank.Book.layer),
              Layer.provideMerge(AgentRuntime.layerMemory)
            )
          ),
          Effect.provide(RecordedSpans.layer)
        )
      })
    }
  )

  it.effect("that fails says so, and its error's type", () => {
    const { bank, layer } = observed([[toolCall("call_1", "crash", {})]])
    return Effect.gen(function* () {
      yield* bank.generate({ prompt: "go" })
      yield* expectTrees({
        name: "invoke_agent bank",
        status: "error",
        description: "The run failed",
        attributes: { "toolspan.run.state": "failed", "error.type": "RangeError" },
        children: [{ name: turn, children: [{ name: "execute_tool crash", status: "error" }] }]
      })
    }).pipe(Effect.provide(layer))
  })

  it.effect("whose worker was lost says that it was recovered, and which call nobody knows about", () => {
    const { bank, layer } = observed([[text("I cannot say.")]])
    return Effect.gen(function* () {
      const store = yield* RunStore
      // What a worker that was killed has left: a call that was started, and not ended.
      yield* store.begin({
        runId: "r",
        conversation: "c",
        agent: "bank",
        messages: [Prompt.userMessage({ content: [Prompt.textPart({ text: "go" })] })],
        caller: undefined
      })
      const { run } = yield* store.claim("r")
      yield* store.commit("r", run.epoch, {
        progress: { ...run.progress, usage: { ...run.progress.usage, turns: 1, toolCalls: 2 } },
        status: "running",
        messages: [
          Prompt.assistantMessage({
            content: [
              Prompt.toolCallPart({
                id: "call_1",
                name: "transfer",
                params: { amount: 1 },
                providerExecuted: false
              }),
              Prompt.toolCallPart({
                id: "call_2",
                name: "flaky",
                params: { amount: 0 },
                providerExecuted: false
              })
            ]
          })
        ]
      })
      const call = { conversation: "c", arguments: '{"amount":1}' }
      yield* store.beginCall("r", run.epoch, { ...call, toolCallId: "call_1", toolName: "transfer" })
      yield* store.beginCall("r", run.epoch, {
        ...call,
        arguments: '{"amount":0}',
        toolCallId: "call_2",
        toolName: "flaky"
      })
      yield* store.release("r", run.epoch)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(Bank.end(yield* Bank.events(bank.resume("r")))._tag, "Finished")
      // Not run again; the idempotent one was.
      assert.deepStrictEqual((yield* Bank.Book).done, ["try 1"])
      const history = yield* Bank.history("c")
      assert.match(history[3] ?? "", /^failure call_1 transfer .*ToolOutcomeUnknown/)
      assert.strictEqual(history[4], 'result call_2 flaky "at last"')
      yield* expectTrees({
        name: "invoke_agent bank",
        attributes: { "toolspan.run.recovered": true, "toolspan.run.state": "finished" },
        children: [
          {
            name: "execute_tool transfer",
            status: "error",
            attributes: {
              "gen_ai.tool.call.id": "call_1",
              "toolspan.tool.outcome": "outcome_unknown",
              "toolspan.tool.attempt": 1,
              "error.type": "ToolOutcomeUnknown"
            }
          },
          { name: "execute_tool flaky", attributes: { "toolspan.tool.attempt": 2 } },
          { name: "LanguageModel.streamText" }
        ]
      })
      assert.deepStrictEqual(yield* Metrics.values("toolspan.tool.calls"), {
        "transfer/bank/outcome_unknown": 1,
        "flaky/bank/success": 1
      })
      const [unknown] = yield* store.unknownCalls
      assert.strictEqual(unknown?.toolCallId, "call_1")
    }).pipe(Effect.provide(layer))
  })

  it.effect("marks what it replays and what it does not run", () => {
    const { bank, layer } = observed([
      [toolCall("call_1", "transfer", { amount: 1 }), toolCall("call_1", "transfer", { amount: 1 })],
      [toolCall("call_1", "transfer", { amount: 2 })],
      [text("done")]
    ])
    return Effect.gen(function* () {
      yield* bank.generate({ prompt: "go" })
      const { byName } = yield* RecordedSpans.RecordedSpans
      assert.strictEqual(byName("execute_tool transfer").length, 1)
      assert.deepStrictEqual(
        byName("invoke_agent bank").flatMap(({ events }) =>
          events.map(([name, , attributes]) => [name, attributes?.["gen_ai.tool.call.id"]])
        ),
        [
          ["toolspan.tool.replayed", "call_1"],
          ["toolspan.tool.not_started", "call_1"]
        ]
      )
      assert.deepStrictEqual(yield* Metrics.values("toolspan.tool.replays"), { transfer: 1 })
    }).pipe(Effect.provide(layer))
  })
})
