/**
 * The model turn from outside: its span, the trace context of its request, and what an interruption does.
 */
import { assert, describe, it } from "@effect/vitest"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import * as MessagesServer from "../../support/MessagesServer.ts"
import { message, text } from "../../support/MessagesServer.ts"
import { ask, model, modes, replyWith, scripted } from "./Scripted.ts"

/** Runs `use` with a tracer, and gives the spans that it made. */
const traced = <A, E, R>(use: Effect.Effect<A, E, R>) => {
  const spans: Array<Tracer.NativeSpan> = []
  const tracer = Tracer.make({
    span(options) {
      const span = new Tracer.NativeSpan(options)
      spans.push(span)
      return span
    }
  })
  return Effect.as(Effect.provideService(use, Tracer.Tracer, tracer), spans)
}

const attributes = (span: Tracer.NativeSpan | undefined) =>
  Object.fromEntries([...(span?.attributes ?? [])].filter(([name]) => name.startsWith("gen_ai.")))

describe.each(modes)("a turn of %s", (mode) => {
  it.effect("says on its span what was asked, who answered, why it ended and what it cost", () =>
    scripted(
      [
        replyWith(
          mode,
          message([text("Ok")], {
            usage: {
              ...MessagesServer.usage,
              cache_read_input_tokens: 90,
              output_tokens_details: { thinking_tokens: 3 }
            }
          })
        )
      ],
      () =>
        Effect.gen(function* () {
          const [span, ...others] = yield* traced(ask(mode, { prompt: "Hi" }))
          assert.isEmpty(others)
          assert.strictEqual(span?.name, `LanguageModel.${mode}`)
          assert.deepStrictEqual(attributes(span), {
            "gen_ai.output.type": "text",
            "gen_ai.provider.name": "anthropic",
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": model,
            "gen_ai.request.max_tokens": 100,
            "gen_ai.request.temperature": 0.5,
            "gen_ai.request.stop_sequences": ["."],
            "gen_ai.response.id": "msg_1",
            "gen_ai.response.model": "claude-test-1-20260101",
            "gen_ai.response.finish_reasons": ["end_turn"],
            "gen_ai.usage.input_tokens": 100,
            "gen_ai.usage.output_tokens": 5,
            "gen_ai.usage.cache_read.input_tokens": 90,
            "gen_ai.usage.reasoning.output_tokens": 3
          })
        }),
      { config: { max_tokens: 100, temperature: 0.5, stop_sequences: ["."] } }
    )
  )

  it.effect("sends its span's trace context, unless that is turned off", () =>
    scripted([replyWith(mode, message([text("Ok")])), replyWith(mode, message([text("Ok")]))], (server) =>
      Effect.gen(function* () {
        const [span] = yield* traced(ask(mode, { prompt: "Hi" }))
        yield* Effect.provideService(ask(mode, { prompt: "Hi" }), Tracer.DisablePropagation, true)
        const [first, second] = server.requests
        assert.strictEqual(first?.headers["traceparent"], `00-${span?.traceId}-${span?.spanId}-01`)
        assert.isUndefined(first?.headers["b3"])
        assert.isUndefined(second?.headers["traceparent"])
      })
    )
  )

  it.effect("ends its request when it is interrupted before the answer, and while it comes", () =>
    Effect.forEach(
      [
        { before: Effect.never },
        { text: '{"type":', after: "hang" },
        { text: "event: ping\n\n", after: "hang" }
      ] as const,
      (reply) =>
        scripted([reply], (server) =>
          Effect.gen(function* () {
            const fiber = yield* Effect.forkChild(ask(mode, { prompt: "Hi" }))
            yield* server.asked
            yield* Fiber.interrupt(fiber)
            yield* server.left
          })
        )
    )
  )
})

it.effect("an interrupted stream says on its span what it cost so far", () =>
  scripted(
    [{ events: MessagesServer.events(message([text("Hello")])).slice(0, 4), after: "hang" }],
    (server) =>
      Effect.gen(function* () {
        const [span] = yield* traced(
          LanguageModel.streamText({ prompt: "Hi" }).pipe(
            Stream.takeUntil((part) => part.type === "text-delta"),
            Stream.runDrain
          )
        )
        yield* server.left
        const {
          "gen_ai.response.finish_reasons": reasons,
          "gen_ai.response.id": id,
          "gen_ai.usage.input_tokens": input
        } = attributes(span)
        assert.deepStrictEqual([id, input, reasons], ["msg_1", 10, undefined])
      })
  )
)
