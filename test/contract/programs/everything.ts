/**
 * Emits every attribute, event and metric of a tool call that toolspan knows, through `Sdk.layer`.
 */

import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import { Origin, ToolkitInstrumentation } from "toolspan"
import { Sdk } from "toolspan/sdk"
import { collect, handlers, toolkit } from "../../support/Toolkits.ts"

const content = { results: "redacted", descriptions: "full", maxBytes: 64 } as const

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
}).pipe(
  Effect.withSpan("turn"),
  Effect.provideService(Origin.CurrentAgent, "clerk"),
  Effect.provideService(Origin.CurrentConversation, "conv_1"),
  Effect.provide(handlers)
)

await Effect.runPromise(Effect.provide(program, Sdk.layer({ serviceName: "everything" })))
