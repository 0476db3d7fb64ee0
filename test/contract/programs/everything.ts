/**
 * Emits every attribute, event and metric that toolspan knows, through `Sdk.layer`.
 */
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import { Approval, LanguageModelInstrumentation, Origin, ToolkitInstrumentation } from "toolspan"
import { Agent, AgentRuntime, RunStore } from "toolspan/runtime"
import { Sdk } from "toolspan/sdk"
import { ScriptedModel } from "toolspan/testing"
import * as Payments from "../../support/Payments.ts"
import { collect, handlers, toolkit } from "../../support/Toolkits.ts"

const content = { results: "redacted", descriptions: "full", maxBytes: 64 } as const

const { finish, text, toolCall, toolResult } = ScriptedModel

const usage = { inputTokens: { total: 9, cacheRead: 4 }, outputTokens: { total: 5, reasoning: 2 } }

const model = LanguageModelInstrumentation.layer(
  ScriptedModel.layer([
    [
      text("I pay."),
      toolCall("call_paid", "pay", { amount: 1 }),
      toolCall("call_denied", "pay", { amount: 2 }),
      finish("tool-calls", usage)
    ],
    [text("Done.")],
    [
      toolCall("call_search", "web_search", { query: "rates" }, { providerExecuted: true }),
      toolResult("call_search", "web_search", { hits: 1 }),
      toolCall("call_cut_off", "balance", {}),
      finish("length")
    ],
    [
      toolCall("call_search_again", "web_search", { query: "rates" }, { providerExecuted: true }),
      toolResult("call_search_again", "web_search", { hits: 1 })
    ]
  ]),
  { content: { messages: "redacted", descriptions: "full", reasons: "redacted" } }
)

/** Turns of a model: approvals given, refused and lost, calls that the provider runs, and one that is cut off. */
const turns = Effect.gen(function* () {
  const question = Prompt.make([
    { role: "system", content: "Pay." },
    { role: "user", content: "Now." }
  ])
  const prompt = Payments.after(question, yield* Payments.turn("streamText", question))
  const lost = Prompt.assistantMessage({
    content: [
      Prompt.toolCallPart({ id: "call_lost", name: "pay", params: { amount: 3 }, providerExecuted: false }),
      Prompt.toolApprovalRequestPart({ approvalId: "lost", toolCallId: "call_lost" })
    ]
  })
  const [paid, denied] = Approval.pending(prompt)
  const decisions = [
    yield* Approval.approve(paid?.approvalId ?? "", { approver: "ada" }),
    yield* Approval.deny(denied?.approvalId ?? "", { reason: "too much" }),
    yield* Approval.expire("lost")
  ]
  yield* Payments.turn(
    "generateText",
    Payments.decided(Prompt.concat(prompt, Prompt.fromMessages([lost])), ...decisions)
  )
  yield* LanguageModel.generateText({ prompt: "go", toolkit: Payments.searchable })
  yield* Stream.runDrain(LanguageModel.streamText({ prompt: "go", toolkit: Payments.searchable }))
}).pipe(Effect.orDie, Effect.provide([model, Payments.handlers]))

const clerk = Agent.make({ name: "clerk", toolkit: Payments.toolkit })

/** A run that was left by a worker that is lost. */
const run = Effect.gen(function* () {
  const store = yield* RunStore.RunStore
  const runId = yield* clerk.start({ prompt: "go" })
  const { run } = yield* store.claim(runId)
  yield* store.release(runId, run.epoch)
  yield* Stream.runDrain(clerk.resume(runId))
}).pipe(
  Effect.orDie,
  Effect.provide(
    clerk.layer.pipe(
      Layer.provide([ScriptedModel.layer([[text("Done.")]]), Payments.handlers]),
      Layer.provideMerge(AgentRuntime.layerMemory)
    )
  )
)

const program = Effect.gen(function* () {
  const { handle } = yield* ToolkitInstrumentation.instrument(toolkit, { content })
  const broken = yield* ToolkitInstrumentation.instrument(toolkit, {
    attributes: () => {
      throw new Error("hook down")
    }
  })
  yield* collect(handle("greet", { name: "Ada" }, "call_success"))
  yield* collect(handle("greet", { name: "A".repeat(500) }, "call_long"))
  yield* collect(handle("progress", { steps: 2 }, "call_progress"))
  yield* collect(handle("try_order", { item: "unobtainium" }, "call_failure"))
  yield* Effect.exit(collect(handle("order", { item: 1 } as never, "call_invalid_arguments")))
  yield* Effect.exit(collect(handle("count", { result: -1 }, "call_invalid_result")))
  yield* Effect.exit(collect(handle("crash", {}, "call_defect")))
  yield* Effect.exit(handle("nothing" as "crash", {}, "call_unknown_tool"))
  yield* Stream.runDrain(Stream.take(yield* handle("progress", { steps: 2 }, "call_abandoned"), 1))
  const cancelled = yield* Effect.forkChild(collect(handle("hang", {}, "call_cancelled")))
  yield* Effect.yieldNow
  yield* Fiber.interrupt(cancelled)
  yield* collect(broken.handle("greet", { name: "Ada" }, "call_hook"))
  yield* collect(handle("greet", { name: "Ada" }, "call_approved")).pipe(
    Effect.provideService(Origin.ToolCallOrigin, {
      parent: Tracer.externalSpan({ traceId: "a".repeat(32), spanId: "b".repeat(16) }),
      approvalId: "appr_1",
      attempt: 2
    })
  )
  yield* turns
  yield* run
}).pipe(
  Effect.withSpan("turn"),
  Effect.provideService(Origin.CurrentAgent, "clerk"),
  Effect.provideService(Origin.CurrentConversation, "conv_1"),
  Effect.provide(handlers)
)

await Effect.runPromise(Effect.provide(program, Sdk.layer({ serviceName: "everything" })))
