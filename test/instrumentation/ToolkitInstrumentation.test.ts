import { assert, describe, it } from "@effect/vitest"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Tracer from "effect/Tracer"
import * as ContentPolicy from "../../src/content/ContentPolicy.ts"
import * as ToolkitInstrumentation from "../../src/instrumentation/ToolkitInstrumentation.ts"
import { CurrentAgent, CurrentConversation, ToolCallOrigin } from "../../src/propagation/Origin.ts"
import { InitialAttributes } from "../../src/semconv/SpanStart.ts"
import { ToolType } from "../../src/signals/InstrumentedTool.ts"
import * as RecordedSpans from "../../src/testing/RecordedSpans.ts"
import { collect, handlers, toolkit } from "../support/Toolkits.ts"

const instrumented = ToolkitInstrumentation.instrument(toolkit)
const environment = Layer.merge(handlers, RecordedSpans.layer)

describe("one span a call", () => {
  it.effect("names the tool, the call, the parameters and the outcome", () =>
    Effect.gen(function* () {
      const { handle } = yield* instrumented
      const results = yield* collect(handle("greet", { name: "Ada" }, "call_1"))
      assert.deepStrictEqual(
        results.map((result) => result.encodedResult),
        [{ greeting: "Hello, Ada" }]
      )
      RecordedSpans.expectTrees(yield* RecordedSpans.RecordedSpans, [
        {
          name: "execute_tool greet",
          kind: "internal",
          status: "ok",
          exact: true,
          attributes: {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "greet",
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.id": "call_1",
            "gen_ai.tool.call.arguments": '{"name":"Ada"}',
            "toolspan.tool.outcome": "success"
          },
          events: [],
          links: []
        }
      ])
    }).pipe(Effect.provide(environment))
  )

  it.effect("is a child of the current span, and the parent of what the handler does", () =>
    Effect.gen(function* () {
      const Nested = Tool.make("nested", { success: Schema.Void })
      const kit = Toolkit.make(Nested)
      const { handle } = yield* ToolkitInstrumentation.instrument(kit).pipe(
        Effect.provide(
          kit.toLayer({
            nested: () =>
              Effect.log("at work").pipe(
                Effect.withSpan("query"),
                Effect.andThen(Effect.annotateCurrentSpan("rows", 3))
              )
          })
        )
      )
      yield* Effect.withSpan(collect(handle("nested", {}, "call_1")), "turn")
      RecordedSpans.expectTrees(yield* RecordedSpans.RecordedSpans, [
        {
          name: "turn",
          children: [{ name: "execute_tool nested", attributes: { rows: 3 }, children: [{ name: "query" }] }]
        }
      ])
    }).pipe(Effect.provide(environment))
  )

  it.effect("has no call id when none was given", () =>
    Effect.gen(function* () {
      const { handle } = yield* instrumented
      yield* collect(handle("greet", { name: "Ada" }))
      RecordedSpans.expectTrees(yield* RecordedSpans.RecordedSpans, [
        { name: "execute_tool greet", attributes: { "gen_ai.tool.call.id": undefined } }
      ])
    }).pipe(Effect.provide(environment))
  )

  it.effect("is opened once, however often the toolkit is instrumented", () =>
    Effect.gen(function* () {
      const outer = ToolkitInstrumentation.instrument(
        ToolkitInstrumentation.instrument(toolkit, { agentName: "inner" }),
        { agentName: "outer" }
      )
      const { handle } = ToolkitInstrumentation.instrument(yield* outer)
      yield* collect(handle("greet", { name: "Ada" }))
      RecordedSpans.expectTrees(yield* RecordedSpans.RecordedSpans, [
        { name: "execute_tool greet", attributes: { "gen_ai.agent.name": "inner" } }
      ])
    }).pipe(Effect.provide(environment))
  )

  it.effect("has its attributes at hand when the tracer creates it", () =>
    Effect.gen(function* () {
      const { tracer } = yield* RecordedSpans.RecordedSpans
      let initial: unknown
      const sampler = Tracer.make({
        span: (options) => {
          initial = Context.getUnsafe(options.annotations, InitialAttributes).attributes
          return tracer.span(options)
        }
      })
      const { handle } = yield* instrumented
      yield* collect(handle("greet", { name: "Ada" }, "call_1")).pipe(
        Effect.provideService(Tracer.Tracer, sampler),
        Effect.provideService(CurrentAgent, "clerk"),
        Effect.provideService(CurrentConversation, "conv_1")
      )
      assert.deepStrictEqual(initial, {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "greet",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": "call_1",
        "gen_ai.agent.name": "clerk",
        "gen_ai.conversation.id": "conv_1"
      })
    }).pipe(Effect.provide(environment))
  )
})

describe("outcomes", () => {
  const outcome = (
    name: string,
    attributes: Readonly<Record<string, unknown>>,
    call: (handle: Toolkit.WithHandler<typeof toolkit.tools>["handle"]) => Effect.Effect<unknown, unknown>,
    description: string,
    spanName = `execute_tool ${name}`
  ) =>
    it.effect(`${attributes["toolspan.tool.outcome"]}: ${description}`, () =>
      Effect.gen(function* () {
        const plain = yield* Effect.exit(call((yield* toolkit).handle))
        const exit = yield* Effect.exit(call((yield* instrumented).handle))
        assert.deepStrictEqual(Exit.isSuccess(exit), Exit.isSuccess(plain))
        if (Exit.isFailure(exit) && Exit.isFailure(plain)) {
          assert.deepStrictEqual(Cause.squash(exit.cause), Cause.squash(plain.cause))
        }
        const recorded = yield* RecordedSpans.RecordedSpans
        RecordedSpans.expectTrees(recorded, [
          {
            name: spanName,
            status: "error",
            attributes,
            description: (text) => typeof text === "string" && !/unobtainium|secret/.test(text)
          }
        ])
      }).pipe(Effect.provide(environment))
    )

  outcome(
    "order",
    {
      "toolspan.tool.outcome": "failure",
      "error.type": "OutOfStock",
      "toolspan.tool.failure.origin": "handler"
    },
    (handle) => collect(handle("order", { item: "unobtainium" }, "call_1")),
    "the handler fails in the error channel"
  )
  outcome(
    "try_order",
    {
      "toolspan.tool.outcome": "failure",
      "error.type": "OutOfStock",
      "toolspan.tool.failure.origin": "handler"
    },
    (handle) => collect(handle("try_order", { item: "unobtainium" }, "call_1")),
    "the handler fails in the success channel"
  )
  outcome(
    "order",
    {
      "toolspan.tool.outcome": "invalid_arguments",
      "error.type": "ToolParameterValidationError",
      "toolspan.tool.failure.origin": "parameters"
    },
    (handle) => collect(handle("order", { item: 1 } as never, "call_1")),
    "the parameters do not decode"
  )
  outcome(
    "try_order",
    {
      "toolspan.tool.outcome": "invalid_arguments",
      "error.type": "ToolParameterValidationError",
      "toolspan.tool.failure.origin": "parameters"
    },
    (handle) => collect(handle("try_order", { item: 1 } as never, "call_1")),
    "the parameters do not decode, and that is returned"
  )
  outcome(
    "count",
    {
      "toolspan.tool.outcome": "invalid_result",
      "error.type": "ToolResultEncodingError",
      "toolspan.tool.failure.origin": "result"
    },
    (handle) => collect(handle("count", { result: -1 }, "call_1")),
    "the result does not encode"
  )
  outcome(
    "crash",
    {
      "toolspan.tool.outcome": "defect",
      "error.type": "RangeError",
      "toolspan.tool.failure.origin": undefined
    },
    (handle) => collect(handle("crash", {}, "call_1")),
    "the handler dies"
  )
  outcome(
    "nothing",
    {
      "toolspan.tool.outcome": "unknown_tool",
      "error.type": "ToolNotFoundError",
      "gen_ai.tool.name": "nothing",
      "gen_ai.tool.type": undefined
    },
    (handle) => collect(handle("nothing" as "greet", { name: "" }, "call_1")),
    "the toolkit has no such tool",
    "execute_tool"
  )
})

describe("the toolkit stays the same toolkit", () => {
  it.effect("has the same tools, and everything else that it had", () =>
    Effect.gen(function* () {
      assert.strictEqual(instrumented.tools, toolkit.tools)
      assert.strictEqual((yield* instrumented).tools, toolkit.tools)
      assert.deepStrictEqual(JSON.stringify(instrumented), JSON.stringify(toolkit))
      assert.strictEqual(instrumented.of, toolkit.of)
      class Extended extends (instrumented as unknown as new () => object) {}
      assert.isTrue("tools" in Extended)
    }).pipe(Effect.provide(environment))
  )

  it.effect("a WithHandler keeps its properties", () =>
    Effect.gen(function* () {
      const withHandler = Object.assign(yield* toolkit, { extra: 1 })
      assert.strictEqual(ToolkitInstrumentation.instrument(withHandler).extra, 1)
    }).pipe(Effect.provide(environment))
  )

  it.effect("merging reads only the tools, so a merge is instrumented after it", () =>
    Effect.gen(function* () {
      const Other = Tool.make("other", { success: Schema.Void })
      const other = Toolkit.make(Other)
      const lost = Toolkit.merge(instrumented, other)
      const kept = ToolkitInstrumentation.instrument(Toolkit.merge(toolkit, other))
      const layer = other.toLayer({ other: () => Effect.void })
      yield* collect((yield* Effect.provide(lost, layer)).handle("greet", { name: "Ada" }))
      const recorded = yield* RecordedSpans.RecordedSpans
      RecordedSpans.expectTrees(recorded, [])
      yield* collect((yield* Effect.provide(kept, layer)).handle("greet", { name: "Ada" }))
      RecordedSpans.expectTrees(recorded, [{ name: "execute_tool greet" }])
    }).pipe(Effect.provide(environment))
  )

  it.effect("works with dynamic and with provider-defined tools", () =>
    Effect.gen(function* () {
      const Dynamic = Tool.dynamic("dynamic", {
        parameters: { type: "object", properties: { q: { type: "string" } } }
      }).annotate(ToolType, "datastore")
      const Memory = Tool.providerDefined({
        id: "anthropic.memory_20250818",
        customName: "AnthropicMemory",
        providerName: "memory",
        requiresHandler: true,
        parameters: Schema.Struct({ command: Schema.String })
      })({})
      const kit = Toolkit.make(Dynamic, Memory)
      const { handle } = yield* ToolkitInstrumentation.instrument(kit).pipe(
        Effect.provide(
          kit.toLayer({ dynamic: () => Effect.succeed("found"), AnthropicMemory: () => Effect.void })
        )
      )
      yield* collect(handle("dynamic", { q: "x" }, "call_1"))
      yield* collect(handle("AnthropicMemory", { command: "view" }, "call_2"))
      RecordedSpans.expectTrees(yield* RecordedSpans.RecordedSpans, [
        {
          name: "execute_tool dynamic",
          attributes: { "gen_ai.tool.type": "datastore", "gen_ai.tool.call.arguments": '{"q":"x"}' }
        },
        {
          name: "execute_tool AnthropicMemory",
          attributes: { "gen_ai.tool.call.arguments": '{"command":"view"}' }
        }
      ])
    }).pipe(Effect.provide(environment))
  )
})

describe("where the call comes from", () => {
  it.effect("the scope names agent and conversation, else the options do", () =>
    Effect.gen(function* () {
      const { handle } = yield* ToolkitInstrumentation.instrument(toolkit, {
        agentName: "option",
        conversationId: "conv_option"
      })
      yield* collect(handle("greet", { name: "Ada" }))
      yield* collect(handle("greet", { name: "Ada" })).pipe(
        Effect.provideService(CurrentAgent, "scope"),
        Effect.provideService(CurrentConversation, "conv_scope")
      )
      RecordedSpans.expectTrees(yield* RecordedSpans.RecordedSpans, [
        {
          name: "execute_tool greet",
          attributes: { "gen_ai.agent.name": "option", "gen_ai.conversation.id": "conv_option" }
        },
        {
          name: "execute_tool greet",
          attributes: { "gen_ai.agent.name": "scope", "gen_ai.conversation.id": "conv_scope" }
        }
      ])
    }).pipe(Effect.provide(environment))
  )

  it.effect("an origin gives the parent, and a link to where it runs; the handler does not see it", () =>
    Effect.gen(function* () {
      const Nested = Tool.make("nested", { success: Schema.Boolean })
      const kit = Toolkit.make(Nested)
      const { handle } = yield* ToolkitInstrumentation.instrument(kit).pipe(
        Effect.provide(
          kit.toLayer({ nested: () => Effect.map(ToolCallOrigin, (origin) => origin === undefined) })
        )
      )
      const asked = Tracer.externalSpan({ traceId: "a".repeat(32), spanId: "b".repeat(16) })
      const [result] = yield* collect(handle("nested", {}, "call_1")).pipe(
        Effect.provideService(ToolCallOrigin, { parent: asked, approvalId: "appr_1", attempt: 2 }),
        Effect.withSpan("turn")
      )
      assert.isTrue(result?.result)
      const turn = { name: "turn" }
      RecordedSpans.expectTrees(yield* RecordedSpans.RecordedSpans, [
        turn,
        {
          name: "execute_tool nested",
          parent: asked,
          attributes: { "toolspan.approval.id": "appr_1", "toolspan.tool.attempt": 2 },
          links: [{ to: "turn" }]
        }
      ])
    }).pipe(Effect.provide(environment))
  )

  it.effect("an origin that is the current span makes no link", () =>
    Effect.gen(function* () {
      const { handle } = yield* instrumented
      yield* Effect.flatMap(Effect.currentSpan, (parent) =>
        collect(handle("greet", { name: "Ada" })).pipe(Effect.provideService(ToolCallOrigin, { parent }))
      ).pipe(Effect.withSpan("turn"))
      RecordedSpans.expectTrees(yield* RecordedSpans.RecordedSpans, [
        { name: "turn", children: [{ name: "execute_tool greet", links: [] }] }
      ])
    }).pipe(Effect.provide(environment))
  )
})

describe("options", () => {
  it.effect("generateCallId gives the handler an id, and the span none", () =>
    Effect.gen(function* () {
      const Id = Tool.make("id", { success: Schema.UndefinedOr(Schema.String) })
      const kit = Toolkit.make(Id)
      const layer = kit.toLayer({ id: (_, { toolCallId }) => Effect.succeed(toolCallId) })
      const { handle } = yield* Effect.provide(
        ToolkitInstrumentation.instrument(kit, { generateCallId: () => "made_up" }),
        layer
      )
      const ids = yield* Effect.forEach([undefined, "call_1"], (id) => collect(handle("id", {}, id)))
      assert.deepStrictEqual(
        ids.flat().map((result) => result.result),
        ["made_up", "call_1"]
      )
      const without = yield* Effect.provide(ToolkitInstrumentation.instrument(kit), layer)
      assert.isUndefined((yield* collect(without.handle("id", {})))[0]?.result)
      const recorded = yield* RecordedSpans.RecordedSpans
      assert.deepStrictEqual(
        recorded.spans.map((span) => span.attributes.get("gen_ai.tool.call.id")),
        [undefined, "call_1", undefined]
      )
    }).pipe(Effect.provide(environment))
  )

  it.effect("attributes adds what the hook gives", () =>
    Effect.gen(function* () {
      const { handle } = yield* ToolkitInstrumentation.instrument(toolkit, {
        attributes: ({ toolCallId, toolName, params }) => ({
          "app.call": `${toolName}/${toolCallId}`,
          "app.params": JSON.stringify(params)
        })
      })
      yield* collect(handle("greet", { name: "Ada" }, "call_1"))
      RecordedSpans.expectTrees(yield* RecordedSpans.RecordedSpans, [
        {
          name: "execute_tool greet",
          attributes: { "app.call": "greet/call_1", "app.params": '{"name":"Ada"}' }
        }
      ])
    }).pipe(Effect.provide(environment))
  )

  it.effect("content governs arguments, results, descriptions and error texts", () =>
    Effect.gen(function* () {
      const { handle } = yield* ToolkitInstrumentation.instrument(toolkit, {
        content: { arguments: "off", results: "full", descriptions: "full", errors: "full" }
      })
      yield* collect(handle("greet", { name: "Ada" }))
      yield* collect(handle("order", { item: "ink" }))
      yield* Effect.exit(collect(handle("crash", {})))
      RecordedSpans.expectTrees(yield* RecordedSpans.RecordedSpans, [
        {
          name: "execute_tool greet",
          attributes: {
            "gen_ai.tool.call.arguments": undefined,
            "gen_ai.tool.call.result": '{"greeting":"Hello, Ada"}',
            "gen_ai.tool.description": "Greets somebody"
          }
        },
        {
          name: "execute_tool order",
          attributes: { "gen_ai.tool.call.result": '{"result":"ordered ink"}' }
        },
        { name: "execute_tool crash", status: "error", description: "secret detail" }
      ])
    }).pipe(Effect.provide(environment))
  )

  for (const [options, message] of [
    [{ agent: "x" }, 'unknown option "agent"; allowed: agentName, conversationId'],
    [{ agentName: "" }, 'option "agentName" is ""; allowed: a non-empty string'],
    [{ attributes: 1 }, 'option "attributes" is 1; allowed: a function'],
    [{ metrics: "yes" }, 'option "metrics" is "yes"; allowed: true or false'],
    [{ content: "full" }, 'option "content" is "full"; allowed: an object'],
    [{ content: { arguments: "some" } }, "some"],
    [{ content: { maxBytes: -1 } }, "-1"]
  ] as const) {
    it(`refuses ${JSON.stringify(options)}`, () => {
      assert.throws(
        () => ToolkitInstrumentation.instrument(toolkit, options as ToolkitInstrumentation.Options),
        message
      )
    })
  }

  it("refuses a tool with wrong content options, by its name", () => {
    const Wrong = Tool.make("wrong").annotate(ContentPolicy.ToolContent, { results: "some" as "off" })
    assert.throws(
      () => ToolkitInstrumentation.instrument(Toolkit.make(Wrong)),
      'Tool "wrong": ContentPolicy: option "results" is "some"'
    )
  })
})
