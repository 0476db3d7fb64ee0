import { assert, describe, it } from "@effect/vitest"
import * as Chat from "effect/ai/Chat"
import * as Prompt from "effect/ai/Prompt"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Persistence from "effect/persistence/Persistence"
import * as Ref from "effect/Ref"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import * as TestClock from "effect/testing/TestClock"
import * as LanguageModelInstrumentation from "../../src/instrumentation/LanguageModelInstrumentation.ts"
import * as Approval from "../../src/propagation/Approval.ts"
import { CurrentAgent, CurrentConversation } from "../../src/propagation/Origin.ts"
import type * as ExpectedTree from "../../src/testing/ExpectedTree.ts"
import * as RecordedSpans from "../../src/testing/RecordedSpans.ts"
import * as ScriptedModel from "../../src/testing/ScriptedModel.ts"
import * as Metrics from "../support/Metrics.ts"
import * as Payments from "../support/Payments.ts"

const observed = (turns: ReadonlyArray<ScriptedModel.Turn>, options?: LanguageModelInstrumentation.Options) =>
  Layer.mergeAll(
    LanguageModelInstrumentation.layer(ScriptedModel.layer(turns), options),
    Payments.handlers,
    RecordedSpans.layer,
    Metrics.layer
  )

const { text, toolCall } = ScriptedModel
const pay = toolCall("call_1", "pay", { amount: 7 })
const asksToPay: ScriptedModel.Turn = [pay]
const answers: ScriptedModel.Turn = [text("done")]

/** Asserts the whole trace. */
const expectTrees = (...trees: ReadonlyArray<ExpectedTree.ExpectedTree>) =>
  Effect.map(RecordedSpans.RecordedSpans, (recorded) => RecordedSpans.expectTrees(recorded, trees))

/** Asks in a trace of its own, and gives the conversation as it comes back from a store. */
const ask = (method: Payments.Method, question: Prompt.RawInput = "pay") =>
  Effect.map(Payments.turn(method, question), (parts) => Payments.after(Prompt.make(question), parts))

/** The id of the approval that a call waits for. */
const approvalOf = (prompt: Prompt.Prompt, toolCallId: string): string => {
  const waiting = Approval.pending(prompt).find((pending) => pending.toolCallId === toolCallId)
  if (waiting === undefined) throw new Error(`no approval of ${toolCallId} is pending`)
  return waiting.approvalId
}

describe.each(Payments.methods)("an approval, with %s,", (method) => {
  const turnSpan = `LanguageModel.${method}`
  const requested = (
    ...ids: ReadonlyArray<string>
  ): Pick<ExpectedTree.ExpectedSpan, "name" | "kind" | "events"> => ({
    name: turnSpan,
    kind: "client",
    events: ids.map((id) => ({
      name: "toolspan.approval.requested",
      attributes: { "gen_ai.tool.call.id": id }
    }))
  })
  const answering = { name: turnSpan, events: [] }

  it.effect("that is given lets the call run in the trace that asked, linked to the turn that ran it", () =>
    Effect.gen(function* () {
      const prompt = yield* ask(method).pipe(Effect.withSpan("monday"))
      yield* TestClock.adjust("4 hours")
      const yes = yield* Approval.approve(approvalOf(prompt, "call_1"), { approver: "ada" })
      yield* TestClock.adjust("1 hour")
      const done = yield* Payments.turn(method, Payments.decided(prompt, yes)).pipe(
        Effect.withSpan("tuesday")
      )
      assert.deepStrictEqual(
        done.flatMap((part) => (part.type === "tool-result" ? [[part.id, part.result]] : [])),
        [["call_1", "paid 7"]]
      )
      const { byName } = yield* RecordedSpans.RecordedSpans
      const [running] = byName("tuesday")
      yield* expectTrees(
        {
          name: "monday",
          children: [
            {
              ...requested("call_1"),
              links: [],
              attributes: {
                "gen_ai.operation.name": "chat",
                "gen_ai.agent.name": "clerk",
                "gen_ai.conversation.id": "conv_1",
                "gen_ai.response.finish_reasons": ["tool-calls"]
              },
              children: [
                {
                  name: "tool_approval pay",
                  kind: "internal",
                  status: "ok",
                  exact: true,
                  links: [],
                  events: [],
                  attributes: {
                    "gen_ai.tool.name": "pay",
                    "gen_ai.tool.call.id": "call_1",
                    "gen_ai.agent.name": "clerk",
                    "gen_ai.conversation.id": "conv_1",
                    "toolspan.approval.id": yes.approvalId,
                    "toolspan.approval.decision": "approved",
                    "toolspan.approval.approver": "ada"
                  }
                },
                {
                  name: "execute_tool pay",
                  links: [{ to: spanOf(byName(turnSpan)[1]) }],
                  attributes: {
                    "gen_ai.tool.call.id": "call_1",
                    "gen_ai.tool.call.arguments": '{"amount":7}',
                    "gen_ai.agent.name": "clerk",
                    "gen_ai.conversation.id": "conv_1",
                    "toolspan.approval.id": yes.approvalId,
                    "toolspan.tool.outcome": "success",
                    "toolspan.tool.attempt": undefined
                  },
                  children: [{ name: "bank.transfer" }]
                }
              ]
            }
          ]
        },
        { name: "tuesday", children: [answering] }
      )
      assert.notStrictEqual(spanOf(running).traceId, spanOf(byName("execute_tool pay")[0]).traceId)
      // From the asking to the deciding: what came after is no waiting for anybody.
      const [approval] = byName("tool_approval pay")
      assert.strictEqual(durationOf(approval), 4 * 3600)
      assert.deepStrictEqual(yield* Metrics.values("toolspan.approval.wait"), { "pay/approved": 4 * 3600 })
      assert.deepStrictEqual(yield* Metrics.values("toolspan.approval.requests"), { pay: 1 })
      assert.deepStrictEqual(yield* Metrics.values("toolspan.approval.decisions"), { "pay/approved": 1 })
      assert.deepStrictEqual(yield* Metrics.values("gen_ai.execute_tool.duration"), {})
      assert.deepStrictEqual(yield* Metrics.values("toolspan.tool.calls"), { "pay/clerk/success": 1 })
    }).pipe(
      Effect.provideService(CurrentAgent, "clerk"),
      Effect.provideService(CurrentConversation, "conv_1"),
      Effect.provide(observed([asksToPay, answers]))
    )
  )

  it.effect("that is refused leaves the call without a span of its own, and is counted as denied", () =>
    Effect.gen(function* () {
      const prompt = yield* ask(method)
      yield* TestClock.adjust("90 seconds")
      const no = yield* Approval.deny(approvalOf(prompt, "call_1"), { approver: "bob", reason: "too much" })
      const done = yield* Payments.turn(method, Payments.decided(prompt, no))
      assert.deepStrictEqual(
        done.flatMap((part) => (part.type === "tool-result" ? [[part.id, part.result]] : [])),
        [["call_1", { type: "execution-denied", reason: "too much" }]]
      )
      yield* expectTrees(
        {
          ...requested("call_1"),
          children: [
            {
              name: "tool_approval pay",
              status: "ok",
              attributes: {
                "gen_ai.tool.call.id": "call_1",
                "toolspan.approval.decision": "denied",
                "toolspan.approval.approver": "bob",
                "toolspan.approval.reason": undefined
              }
            }
          ]
        },
        answering
      )
      assert.deepStrictEqual(yield* Metrics.values("toolspan.approval.wait"), { "pay/denied": 90 })
      assert.deepStrictEqual(yield* Metrics.values("toolspan.tool.calls"), { "pay/denied": 1 })
    }).pipe(Effect.provide(observed([asksToPay, answers])))
  )

  it.effect("says why it was decided so if the content policy lets reasons through, secrets masked", () =>
    Effect.gen(function* () {
      const prompt = yield* ask(method)
      const reason = "not with Bearer abcdefghijklmnopqrstuvwxyz0123456789"
      const no = yield* Approval.deny(approvalOf(prompt, "call_1"), { reason })
      yield* Payments.turn(method, Payments.decided(prompt, no))
      const [approval] = (yield* RecordedSpans.RecordedSpans).byName("tool_approval pay")
      assert.strictEqual(approval?.attributes.get("toolspan.approval.reason"), "not with Bearer [REDACTED]")
    }).pipe(Effect.provide(observed([asksToPay, answers], { content: { reasons: "redacted" } })))
  )

  it.effect("that nobody decides in time is expired, and the call is denied", () =>
    Effect.gen(function* () {
      const prompt = yield* ask(method)
      yield* TestClock.adjust("2 days")
      const late = yield* Approval.expire(approvalOf(prompt, "call_1"))
      yield* Payments.turn(method, Payments.decided(prompt, late))
      yield* expectTrees(
        {
          ...requested("call_1"),
          children: [
            {
              name: "tool_approval pay",
              status: "ok",
              attributes: {
                "toolspan.approval.decision": "expired",
                "toolspan.approval.approver": undefined
              }
            }
          ]
        },
        answering
      )
      assert.deepStrictEqual(yield* Metrics.values("toolspan.approval.decisions"), { "pay/expired": 1 })
      assert.deepStrictEqual(yield* Metrics.values("toolspan.tool.calls"), { "pay/denied": 1 })
    }).pipe(Effect.provide(observed([asksToPay, answers])))
  )

  it.effect("is of its own call, however many wait and in whatever order they are answered", () =>
    Effect.gen(function* () {
      const prompt = yield* ask(method)
      assert.deepStrictEqual(
        Approval.pending(prompt).map(({ params, toolCallId, toolName }) => [toolCallId, toolName, params]),
        [
          ["call_1", "pay", { amount: 1 }],
          ["call_2", "pay", { amount: 2 }],
          ["call_3", "refund", { amount: 300 }]
        ]
      )
      assert.deepStrictEqual(yield* Metrics.values("toolspan.approval.pending"), { pay: 2, refund: 1 })
      const idOf = (toolCallId: string) => approvalOf(prompt, toolCallId)
      yield* TestClock.adjust("1 minute")
      const third = yield* Approval.approve(idOf("call_3"), { approver: "cay" })
      yield* TestClock.adjust("1 minute")
      const second = yield* Approval.deny(idOf("call_2"), { approver: "bob" })
      yield* TestClock.adjust("1 minute")
      const first = yield* Approval.approve(idOf("call_1"), { approver: "ada" })
      yield* Payments.turn(method, Payments.decided(prompt, third, second, first))
      const approval = (name: string, id: string, decision: string, approver: string) => ({
        name: `tool_approval ${name}`,
        attributes: {
          "gen_ai.tool.call.id": id,
          "toolspan.approval.id": idOf(id),
          "toolspan.approval.decision": decision,
          "toolspan.approval.approver": approver
        }
      })
      const execution = (name: string, id: string, params: object, below: ReadonlyArray<string>) => ({
        name: `execute_tool ${name}`,
        attributes: {
          "gen_ai.tool.call.id": id,
          "gen_ai.tool.call.arguments": JSON.stringify(params),
          "toolspan.approval.id": idOf(id)
        },
        children: below.map((child) => ({ name: child }))
      })
      yield* expectTrees(
        {
          ...requested("call_1", "call_2", "call_3"),
          children: [
            {
              name: "execute_tool refund",
              attributes: { "gen_ai.tool.call.id": "call_4", "toolspan.approval.id": undefined }
            },
            approval("pay", "call_1", "approved", "ada"),
            approval("pay", "call_2", "denied", "bob"),
            approval("refund", "call_3", "approved", "cay"),
            execution("pay", "call_1", { amount: 1 }, ["bank.transfer"]),
            execution("refund", "call_3", { amount: 300 }, [])
          ]
        },
        answering
      )
      assert.deepStrictEqual(yield* Metrics.values("toolspan.approval.wait"), {
        "refund/approved": 60,
        "pay/denied": 120,
        "pay/approved": 180
      })
      assert.deepStrictEqual(yield* Metrics.values("toolspan.approval.pending"), {})
    }).pipe(
      Effect.provide(
        observed([
          [
            toolCall("call_1", "pay", { amount: 1 }),
            toolCall("call_2", "pay", { amount: 2 }),
            toolCall("call_3", "refund", { amount: 300 }),
            toolCall("call_4", "refund", { amount: 4 })
          ],
          answers
        ])
      )
    )
  )

  it.effect("of a call that then fails: the approval is no error, the call is", () =>
    Effect.gen(function* () {
      const prompt = yield* ask(method)
      const yes = yield* Approval.approve(approvalOf(prompt, "call_1"))
      const parts = yield* Payments.turn(method, Payments.decided(prompt, yes))
      // The model is told of the failure as it was.
      assert.deepInclude(
        parts.find((part) => part.type === "tool-result"),
        { id: "call_1", isFailure: true, encodedResult: { _tag: "Bounced", amount: 7 } }
      )
      yield* expectTrees(
        {
          ...requested("call_1"),
          status: "ok",
          children: [
            { name: "tool_approval bounce", status: "ok" },
            {
              name: "execute_tool bounce",
              status: "error",
              attributes: {
                "error.type": "Bounced",
                "gen_ai.tool.call.id": "call_1",
                "toolspan.approval.id": yes.approvalId
              }
            }
          ]
        },
        { ...answering, status: "ok" }
      )
    }).pipe(Effect.provide(observed([[toolCall("call_1", "bounce", { amount: 7 })], answers])))
  )

  it.effect(
    "that comes twice is recorded once; the second run, which upstream makes, is seen and counted",
    () =>
      Effect.gen(function* () {
        const prompt = yield* ask(method)
        const yes = yield* Approval.approve(approvalOf(prompt, "call_1"))
        yield* Payments.turn(method, Payments.decided(prompt, yes, yes))
        const execution = (attempt: number | undefined) => ({
          name: "execute_tool pay",
          attributes: {
            "gen_ai.tool.call.id": "call_1",
            "toolspan.approval.id": yes.approvalId,
            "toolspan.tool.attempt": attempt
          },
          children: [{ name: "bank.transfer" }]
        })
        yield* expectTrees(
          {
            ...requested("call_1"),
            children: [{ name: "tool_approval pay" }, execution(undefined), execution(2)]
          },
          answering
        )
        assert.deepStrictEqual(yield* Metrics.values("toolspan.approval.decisions"), { "pay/approved": 1 })
        assert.deepStrictEqual(yield* Metrics.values("toolspan.tool.calls"), { "pay/success": 2 })
      }).pipe(Effect.provide(observed([asksToPay, answers])))
  )

  it.effect("is recorded once, too, when the turn that acts on it fails and is tried again", () =>
    Effect.gen(function* () {
      const prompt = yield* ask(method)
      const no = yield* Approval.deny(approvalOf(prompt, "call_1"))
      const exit = yield* Effect.exit(Payments.turn(method, Payments.decided(prompt, no)))
      assert.isTrue(Exit.isFailure(exit))
      yield* Payments.turn(method, Payments.decided(prompt, no))
      yield* expectTrees(
        { ...requested("call_1"), children: [{ name: "tool_approval pay" }] },
        { ...answering, status: "error" },
        answering
      )
      assert.deepStrictEqual(yield* Metrics.values("toolspan.approval.decisions"), { "pay/denied": 1 })
      assert.deepStrictEqual(yield* Metrics.values("toolspan.tool.calls"), { "pay/denied": 1 })
    }).pipe(
      Effect.provide(observed([asksToPay, () => Effect.die(new Error("the provider is down")), answers]))
    )
  )

  for (const [what, change, reason] of [
    ["lost", () => ({}), "no_stamp"],
    ["damaged", () => ({ toolspan: { traceparent: "00-xyz", requestedAt: "yesterday" } }), "bad_stamp"]
  ] as const) {
    it.effect(`whose stamp was ${what} is traced where it is decided, and the loss is counted`, () =>
      Effect.gen(function* () {
        const prompt = withCallOptions(yield* ask(method).pipe(Effect.withSpan("monday")), change)
        yield* TestClock.adjust("1 hour")
        const yes = yield* Approval.approve(approvalOf(prompt, "call_1"))
        yield* TestClock.adjust("1 hour")
        yield* Payments.turn(method, Payments.decided(prompt, yes)).pipe(Effect.withSpan("tuesday"))
        yield* expectTrees(
          { name: "monday", children: [requested("call_1")] },
          {
            name: "tuesday",
            children: [
              {
                ...answering,
                children: [
                  { name: "tool_approval pay" },
                  {
                    name: "execute_tool pay",
                    links: [],
                    attributes: { "toolspan.approval.id": yes.approvalId },
                    children: [{ name: "bank.transfer" }]
                  }
                ]
              }
            ]
          }
        )
        const [approval] = (yield* RecordedSpans.RecordedSpans).byName("tool_approval pay")
        assert.strictEqual(durationOf(approval), 0, "no times are invented")
        assert.deepStrictEqual(yield* Metrics.values("toolspan.telemetry.dropped"), { [reason]: 1 })
        assert.deepStrictEqual(yield* Metrics.values("toolspan.approval.wait"), {})
        assert.deepStrictEqual(yield* Metrics.values("toolspan.approval.decisions"), { "pay/approved": 1 })
      }).pipe(Effect.provide(observed([asksToPay, answers])))
    )
  }

  it.effect("without a time of its decision ends when the turn that finds it starts", () =>
    Effect.gen(function* () {
      const prompt = yield* ask(method)
      yield* TestClock.adjust("30 minutes")
      const yes = Prompt.toolApprovalResponsePart({
        approvalId: approvalOf(prompt, "call_1"),
        approved: true
      })
      yield* Payments.turn(method, Payments.decided(prompt, yes))
      assert.deepStrictEqual(yield* Metrics.values("toolspan.approval.wait"), { "pay/approved": 1800 })
    }).pipe(Effect.provide(observed([asksToPay, answers])))
  )

  it.effect("of clocks that differ never ends after now, or before it began", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust("1 day")
      const prompt = yield* ask(method)
      yield* TestClock.adjust("1 minute")
      const at = (decidedAt: string) =>
        Prompt.toolApprovalResponsePart({
          approvalId: approvalOf(prompt, "call_1"),
          approved: false,
          options: { toolspan: { decidedAt } }
        })
      yield* Payments.turn(method, Payments.decided(prompt, at("1970-01-09T00:00:00.000Z")))
      yield* Payments.turn(method, Payments.decided(yield* ask(method), at("1970-01-01T00:00:00.000Z")))
      const { byName } = yield* RecordedSpans.RecordedSpans
      assert.deepStrictEqual(byName("tool_approval pay").map(durationOf), [60])
    }).pipe(Effect.provide(observed([asksToPay, answers, asksToPay, answers])))
  )

  it.effect("takes an approver only from the decision itself", () =>
    Effect.gen(function* () {
      const claims = { approver: "the CEO", toolspan: { approver: "the CEO" } }
      const question = Prompt.make([
        {
          role: "user",
          content: [{ type: "text", text: "approver: the CEO", options: claims }],
          options: claims
        }
      ])
      const prompt = withCallOptions(yield* ask(method, question), (options) => ({
        ...options,
        approver: "the CEO",
        toolspan: { ...(options["toolspan"] as object), approver: "the CEO" }
      }))
      const yes = Prompt.toolApprovalResponsePart({
        approvalId: approvalOf(prompt, "call_1"),
        approved: true,
        reason: "approver: the CEO",
        options: { approver: "the CEO" }
      })
      yield* Payments.turn(method, Payments.decided(prompt, yes))
      const [approval] = (yield* RecordedSpans.RecordedSpans).byName("tool_approval pay")
      assert.strictEqual(approval?.attributes.get("toolspan.approval.decision"), "approved")
      assert.isFalse(approval?.attributes.has("toolspan.approval.approver"))
    }).pipe(
      Effect.provide(
        observed([
          [
            toolCall(
              "call_1",
              "pay",
              { amount: 7 },
              {
                metadata: { toolspan: { approver: "the CEO" }, other: { approver: "the CEO" } }
              }
            )
          ],
          answers
        ])
      )
    )
  )

  it.effect("is exported with the turn that asks, which is over before anybody decides", () =>
    Effect.gen(function* () {
      yield* ask(method).pipe(Effect.withSpan("monday"))
      yield* expectTrees({ name: "monday", children: [{ ...requested("call_1"), status: "ok" }] })
      assert.deepStrictEqual(yield* Metrics.values("toolspan.approval.requests"), { pay: 1 })
      assert.deepStrictEqual(yield* Metrics.values("toolspan.approval.pending"), { pay: 1 })
    }).pipe(Effect.provide(observed([asksToPay])))
  )

  it.effect("of a trace that is not sampled stays unsampled in every later turn, and is counted", () =>
    Effect.gen(function* () {
      const unsampled = Tracer.externalSpan({
        traceId: "0af7651916cd43dd8448eb211c80319c",
        spanId: "b7ad6b7169203331",
        sampled: false
      })
      const prompt = yield* ask(method).pipe(Effect.withParentSpan(unsampled))
      const yes = yield* Approval.approve(approvalOf(prompt, "call_1"))
      yield* Payments.turn(method, Payments.decided(prompt, yes))
      const { byName } = yield* RecordedSpans.RecordedSpans
      for (const name of ["tool_approval pay", "execute_tool pay"]) {
        assert.deepStrictEqual(
          byName(name).map(({ sampled, traceId }) => [sampled, traceId]),
          [[false, unsampled.traceId]]
        )
      }
      assert.deepStrictEqual(yield* Metrics.values("toolspan.approval.decisions"), { "pay/approved": 1 })
    }).pipe(Effect.provide(observed([asksToPay, answers])))
  )

  it.effect("goes through a persisted chat", () =>
    Effect.gen(function* () {
      const open = Effect.flatMap(Chat.Persistence, (chats) => chats.getOrCreate("chat_1"))
      const say = (prompt: Prompt.RawInput) =>
        Effect.flatMap(open, (chat) =>
          method === "generateText"
            ? Effect.asVoid(chat.generateText({ prompt, toolkit: Payments.toolkit }))
            : Stream.runDrain(chat.streamText({ prompt, toolkit: Payments.toolkit }))
        )
      yield* say("pay").pipe(Effect.withSpan("monday"))
      yield* TestClock.adjust("1 hour")
      const [waiting] = Approval.pending(yield* Ref.get((yield* open).history))
      const yes = yield* Approval.approve(waiting?.approvalId ?? "")
      yield* say(Prompt.fromMessages([Prompt.toolMessage({ content: [yes] })])).pipe(
        Effect.withSpan("tuesday")
      )
      const { byName } = yield* RecordedSpans.RecordedSpans
      const [monday] = byName("monday")
      for (const name of ["tool_approval pay", "execute_tool pay", "bank.transfer"]) {
        assert.deepStrictEqual(
          byName(name).map(({ traceId }) => traceId),
          [spanOf(monday).traceId]
        )
      }
      assert.deepStrictEqual(yield* Metrics.values("toolspan.approval.wait"), { "pay/approved": 3600 })
      // The result is in the history now: nothing waits, and nothing runs again.
      yield* say("thank you").pipe(Effect.withSpan("wednesday"))
      assert.lengthOf(byName("execute_tool pay"), 1)
      assert.deepStrictEqual(Approval.pending(yield* Ref.get((yield* open).history)), [])
    }).pipe(
      Effect.provide(
        Chat.layerPersisted({ storeId: "chats" }).pipe(Layer.provide(Persistence.layerBackingMemory))
      ),
      Effect.provide(observed([asksToPay, answers, answers]))
    )
  )
})

/** The conversation with other options on its tool-call parts. */
const withCallOptions = (
  prompt: Prompt.Prompt,
  change: (options: Prompt.ProviderOptions) => Prompt.ProviderOptions
): Prompt.Prompt =>
  Prompt.fromMessages(
    prompt.content.map((message) =>
      message.role !== "assistant"
        ? message
        : Prompt.assistantMessage({
            options: message.options,
            content: message.content.map((part) =>
              part.type === "tool-call"
                ? Prompt.toolCallPart({ ...part, options: change(part.options) })
                : part
            )
          })
    )
  )

const spanOf = (span: Tracer.Span | undefined): Tracer.Span => {
  if (span === undefined) throw new Error("no such span")
  return span
}

/** In seconds. */
const durationOf = (span: Tracer.Span | undefined): number => {
  const { status } = spanOf(span)
  if (status._tag === "Started") throw new Error("the span has not ended")
  return Number(status.endTime - status.startTime) / 1e9
}
