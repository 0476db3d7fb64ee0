/** What upstream's `LanguageModel` does with the calls of a turn, the runtime does with them, part for part. */
import { assert, describe, it } from "@effect/vitest"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Approval from "../../src/propagation/Approval.ts"
import * as Approvals from "../../src/runtime/Approvals.ts"
import { RunStore } from "../../src/runtime/RunStore.ts"
import * as ScriptedModel from "../../src/testing/ScriptedModel.ts"
import * as Bank from "./Bank.ts"

const { finish, reasoning, text, toolCall, toolResult } = ScriptedModel

interface Scenario {
  readonly turns: ReadonlyArray<ScriptedModel.Turn>
  /** What is said to each approval, in the order of the calls. */
  readonly answers?: ReadonlyArray<{ readonly yes: boolean; readonly reason?: string }>
}

const done: ScriptedModel.Turn = [text("done")]

const same: Readonly<Record<string, Scenario>> = {
  "text and reasoning": { turns: [[reasoning("hm"), text("done")]] },
  "one call": { turns: [[text("so:"), toolCall("a", "transfer", { amount: 1 })], done] },
  "calls in parallel": {
    turns: [
      [toolCall("a", "transfer", { amount: 1 }), toolCall("b", "steps", {}), toolCall("c", "close", {})],
      done
    ]
  },
  "a failure that is a result": { turns: [[toolCall("a", "try_transfer", { amount: -1 })], done] },
  "preliminary results": { turns: [[toolCall("a", "steps", {})], done] },
  "an answer that was cut off": {
    turns: [[toolCall("a", "transfer", { amount: 1 }), finish("length")], done]
  },
  "an answer that was filtered": {
    turns: [[toolCall("a", "transfer", { amount: 1 }), finish("content-filter")], done]
  },
  "an approval that is given": {
    turns: [[toolCall("a", "pay", { amount: 1 })], done],
    answers: [{ yes: true }]
  },
  "an approval that is refused": {
    turns: [[toolCall("a", "pay", { amount: 1 })], done],
    answers: [{ yes: false, reason: "too much" }]
  },
  "an approval that is refused without a reason": {
    turns: [[toolCall("a", "pay", { amount: 1 })], done],
    answers: [{ yes: false }]
  },
  "an approval that depends on the amount": {
    turns: [[toolCall("a", "refund", { amount: 101 })], done],
    answers: [{ yes: true }]
  },
  "several approvals": {
    turns: [[toolCall("a", "pay", { amount: 1 }), toolCall("b", "pay", { amount: 2 })], done],
    answers: [{ yes: true }, { yes: false }]
  },
  "an approval in a later turn": {
    turns: [[toolCall("a", "transfer", { amount: 1 })], [toolCall("b", "pay", { amount: 2 })], done],
    answers: [{ yes: true }]
  }
}

/** What was said, without what is approvals' or telemetry's. */
const said = (messages: ReadonlyArray<Prompt.Message>): ReadonlyArray<unknown> =>
  messages.flatMap(
    (message): ReadonlyArray<unknown> =>
      typeof message.content === "string"
        ? [{ role: message.role, text: message.content }]
        : message.content
            .filter(({ type }) => type !== "tool-approval-request" && type !== "tool-approval-response")
            .map(({ options: _, ...part }) => ({ role: message.role, ...part }))
  )

/**
 * Upstream gives results in the order in which they come, and those of approved calls after the answer that they led to; the runtime in the
 * order of the calls, before it.
 */
const inNoOrder = (parts: ReadonlyArray<unknown>) =>
  parts.map((part) => JSON.stringify(part, keysInOrder)).sort()

const keysInOrder = (_: string, value: unknown) =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort())
    : value

/** A loop as one writes it by hand: upstream resolves the calls. */
const byHand = ({ answers = [], turns }: Scenario) =>
  Effect.gen(function* () {
    let prompt = Prompt.make("go")
    const rest = [...answers]
    for (let turn = 0; turn < 10; turn++) {
      const response = yield* LanguageModel.generateText({ prompt, toolkit: Bank.toolkit })
      prompt = Prompt.concat(prompt, Prompt.fromResponseParts(response.content))
      const waiting = Approval.pending(prompt)
      if (waiting.length > 0) {
        const decisions = yield* Effect.forEach(waiting, ({ approvalId }) => {
          const answer = rest.shift()
          const by = answer?.reason === undefined ? {} : { reason: answer.reason }
          return answer?.yes ? Approval.approve(approvalId, by) : Approval.deny(approvalId, by)
        })
        prompt = Prompt.concat(prompt, Prompt.fromMessages([Prompt.toolMessage({ content: decisions })]))
      } else if (response.toolCalls.every(({ providerExecuted }) => providerExecuted)) break
    }
    return { said: said(prompt.content), done: (yield* Bank.Book).done }
  }).pipe(
    Effect.provide(
      Layer.provideMerge(Layer.merge(ScriptedModel.layer(turns), Bank.handlers), Bank.Book.layer)
    )
  )

const byAgent = ({ answers = [], turns }: Scenario) => {
  const bank = Bank.bank()
  return Effect.gen(function* () {
    const rest = [...answers]
    let outcome = yield* bank.generate({ prompt: "go", conversation: "c", runId: "r" })
    while (outcome._tag === "Waiting") {
      for (const approval of outcome.approvals) {
        const answer = rest.shift()
        const by = answer?.reason === undefined ? {} : { reason: answer.reason }
        yield* answer?.yes ? Approvals.approve(approval, by) : Approvals.deny(approval, by)
      }
      outcome = Bank.end(yield* Bank.events(bank.resume("r")))
    }
    const store = yield* RunStore
    return { outcome, said: said(yield* store.messages("c")), done: (yield* Bank.Book).done }
  }).pipe(Effect.provide(Bank.layer(bank, turns)))
}

describe("the runtime comes to what upstream comes to, with", () => {
  for (const [name, scenario] of Object.entries(same)) {
    it.effect(name, () =>
      Effect.gen(function* () {
        const expected = yield* byHand(scenario)
        const actual = yield* byAgent(scenario)
        assert.deepStrictEqual(inNoOrder(actual.said), inNoOrder(expected.said))
        assert.deepStrictEqual(actual.done, expected.done)
        assert.strictEqual(actual.outcome._tag, "Finished")
      })
    )
  }

  it.effect("calls that the provider runs", () => {
    const provider: Scenario = {
      turns: [
        [
          toolCall("p", "transfer", { amount: 1 }, { providerExecuted: true }),
          toolResult("p", "transfer", "done there"),
          text("done")
        ]
      ]
    }
    return Effect.gen(function* () {
      const actual = yield* byAgent(provider)
      assert.deepStrictEqual(actual.said, (yield* byHand(provider)).said)
      assert.deepStrictEqual(actual.done, [])
    })
  })
})

describe("where upstream fails the turn, the runtime", () => {
  const differs = (turn: ScriptedModel.Turn) =>
    Effect.gen(function* () {
      const upstream = yield* Effect.exit(byHand({ turns: [turn, done] }))
      return { upstream, ours: yield* byAgent({ turns: [turn, done] }) }
    })

  it.effect("tells the model of an unknown tool", () =>
    Effect.gen(function* () {
      const { ours, upstream } = yield* differs([toolCall("a", "steal", {})])
      assert.isTrue(Exit.isFailure(upstream))
      assert.strictEqual(ours.outcome._tag, "Finished")
    })
  )

  it.effect("tells the model of arguments that do not decode", () =>
    Effect.gen(function* () {
      const { ours, upstream } = yield* differs([toolCall("a", "transfer", { amount: "much" })])
      assert.isTrue(Exit.isFailure(upstream))
      assert.strictEqual(ours.outcome._tag, "Finished")
    })
  )

  it.effect("ends with an outcome when a tool fails the program, its conversation whole", () =>
    Effect.gen(function* () {
      const { ours, upstream } = yield* differs([toolCall("a", "transfer", { amount: -1 })])
      assert.isTrue(Exit.isFailure(upstream))
      assert.strictEqual(ours.outcome._tag, "Failed")
      assert.strictEqual(ours.said.length, 3)
    })
  )
})
