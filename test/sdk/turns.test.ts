/** The span of a turn in OpenTelemetry's own terms: active where the provider works, whoever's tracer it is. */
import * as NodeSdk from "@effect/opentelemetry/NodeSdk"
import { assert, describe, it } from "@effect/vitest"
import * as Otel from "@opentelemetry/api"
import { tracing } from "@opentelemetry/sdk-node"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as LanguageModelInstrumentation from "../../src/instrumentation/LanguageModelInstrumentation.ts"
import * as ToolCallContext from "../../src/propagation/ToolCallContext.ts"
import * as ContextManager from "../../src/sdk/ContextManager.ts"
import * as SdkTracer from "../../src/sdk/Tracer.ts"
import * as ScriptedModel from "../../src/testing/ScriptedModel.ts"
import * as Payments from "../support/Payments.ts"
import * as Tracing from "./Tracing.ts"

const { finish, toolCall } = ScriptedModel

describe.each(Payments.methods)("with Sdk.layer, %s", (method) => {
  it.effect("has the turn active where the provider requests, and the call where its handler runs", () =>
    Effect.gen(function* () {
      const manager = new ContextManager.EnterableContextManager()
      const { named } = yield* Tracing.make({ contextManager: manager })
      const active: Array<string | undefined> = []
      const look = Effect.promise(async () => {
        active.push(Otel.trace.getActiveSpan()?.spanContext().spanId)
      })
      const answer = [toolCall("call_1", "balance", {}), finish("tool-calls")]
      const model = Layer.effect(
        LanguageModel.LanguageModel,
        LanguageModel.make({
          generateText: () => Effect.as(look, answer),
          streamText: () => Stream.unwrap(Effect.as(look, Stream.fromIterable(answer)))
        })
      )
      const handlers = Payments.toolkit.toLayer({
        pay: () => Effect.succeed(""),
        bounce: () => Effect.succeed(""),
        refund: () => Effect.succeed(""),
        audit: () => Effect.succeed(""),
        balance: () => Effect.as(look, "12 EUR")
      })
      yield* Payments.turn(method, "go").pipe(
        Effect.withSpan("request"),
        Effect.provide(Layer.merge(LanguageModelInstrumentation.layer(model), handlers)),
        Effect.provide(SdkTracer.layer(manager))
      )
      const turn = named(`LanguageModel.${method}`)
      const call = named("execute_tool balance")
      assert.deepStrictEqual(active, [turn.spanContext().spanId, call.spanContext().spanId])
      assert.deepStrictEqual(
        [turn.parentSpanContext?.spanId, call.parentSpanContext?.spanId],
        [named("request").spanContext().spanId, turn.spanContext().spanId]
      )
      assert.strictEqual(turn.status.code, Otel.SpanStatusCode.UNSET)
    })
  )

  it.effect("shows a sampler agent and operation of the turn, and carries the trace state on", () =>
    Effect.gen(function* () {
      const seen: Array<Otel.Attributes> = []
      const { named } = yield* Tracing.make({
        sampler: {
          shouldSample: (context, _trace, name, _kind, attributes) => {
            if (name.startsWith("LanguageModel")) seen.push(attributes)
            return {
              decision: tracing.SamplingDecision.RECORD_AND_SAMPLED,
              traceState: Otel.trace.getSpanContext(context)?.traceState ?? Otel.createTraceState("vendor=1")
            }
          },
          toString: () => "test"
        }
      })
      const [call] = yield* Payments.turn(method, "go").pipe(
        Effect.provide(
          Layer.merge(
            LanguageModelInstrumentation.layer(ScriptedModel.layer([[toolCall("call_1", "balance", {})]]), {
              agentName: "clerk"
            }),
            Payments.handlers
          )
        ),
        Effect.provide(SdkTracer.layer())
      )
      assert.deepStrictEqual(seen, [{ "gen_ai.operation.name": "chat", "gen_ai.agent.name": "clerk" }])
      const { spanId, traceId } = named(`LanguageModel.${method}`).spanContext()
      assert.include(call?.metadata[ToolCallContext.KEY], {
        traceparent: `00-${traceId}-${spanId}-01`,
        tracestate: "vendor=1"
      })
    })
  )
})

describe("without sdk/", () => {
  it.effect("the tracer of @effect/opentelemetry gets the same tree", () =>
    Effect.gen(function* () {
      const exporter = new tracing.InMemorySpanExporter()
      const processor = new tracing.SimpleSpanProcessor(exporter)
      const spans: Array<tracing.ReadableSpan> = []
      yield* Effect.provide(
        Effect.gen(function* () {
          for (const method of Payments.methods) {
            yield* Payments.turn(method, "go").pipe(Effect.withSpan("request"))
          }
          yield* Effect.promise(() => processor.forceFlush())
          spans.push(...exporter.getFinishedSpans())
        }).pipe(
          Effect.provide(
            Layer.merge(
              LanguageModelInstrumentation.layer(
                ScriptedModel.layer([
                  [toolCall("call_1", "balance", {})],
                  [toolCall("call_2", "balance", {})]
                ])
              ),
              Payments.handlers
            )
          )
        ),
        NodeSdk.layer(() => ({ spanProcessor: processor }))
      )
      const names = new Map(spans.map((span) => [span.spanContext().spanId, span.name]))
      assert.deepStrictEqual(
        spans.map(({ attributes, name, parentSpanContext }) => [
          name,
          names.get(parentSpanContext?.spanId ?? ""),
          attributes["gen_ai.response.finish_reasons"]
        ]),
        [
          ["execute_tool balance", "LanguageModel.generateText", undefined],
          ["LanguageModel.generateText", "request", ["tool-calls"]],
          ["request", undefined, undefined],
          ["execute_tool balance", "LanguageModel.streamText", undefined],
          ["LanguageModel.streamText", "request", ["tool-calls"]],
          ["request", undefined, undefined]
        ]
      )
    })
  )
})
