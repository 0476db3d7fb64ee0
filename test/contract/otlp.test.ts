import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Attributes from "../../src/semconv/Attributes.ts"
import { DURATION_BUCKETS } from "../../src/semconv/Instruments.ts"
import * as OtlpServer from "../support/OtlpServer.ts"
import * as Program from "../support/Program.ts"
import pinned from "./registry/genai-registry.json" with { type: "json" }
import head from "./registry/genai-registry-head.json" with { type: "json" }

/** The bytes that one run of the program sent, received once for all tests. */
class Received extends Context.Service<Received, OtlpServer.OtlpServer>()("test/Received") {}

const layer = Layer.effect(
  Received,
  Effect.gen(function* () {
    const server = yield* OtlpServer.make
    const ended = yield* Program.run("test/contract/programs/everything.ts", {
      environment: { OTEL_EXPORTER_OTLP_ENDPOINT: server.url }
    })
    assert.deepStrictEqual([ended.code, ended.stderr, ended.stdout], [0, "", ""])
    return server
  })
)

const toolSpans = Effect.map(Received, (server) =>
  server.spans().filter((span) => span.name.startsWith("execute_tool"))
)
/** Of tool calls, approvals, turns and runs. */
const ourSpans = Effect.map(Received, (server) =>
  server
    .spans()
    .filter((span) => /^(execute_tool|tool_approval|invoke_agent|LanguageModel\.)/.test(span.name))
)
const span = (callId: string) =>
  Effect.map(toolSpans, (spans) => {
    const [found, ...others] = spans.filter((span) => span.attributes["gen_ai.tool.call.id"] === callId)
    assert.lengthOf(others, 0)
    if (found === undefined) return assert.fail(`no span of ${callId}`)
    return found
  })
const metrics = Effect.map(Received, (server) => server.metrics())

const constants = Object.entries(Attributes).flatMap(([name, value]) =>
  name.startsWith("ATTR_") && typeof value === "string" ? [value] : []
)

describe.each([
  ["head", head],
  ["pinned", pinned]
])("names and values are those of the GenAI registry (%s)", (_, registry) => {
  const known = new Map(registry.attributes.map((attribute) => [attribute.id, attribute]))
  const typeOf = (value: unknown) =>
    Array.isArray(value) ? "string[]" : Number.isInteger(value) ? "int" : typeof value

  it.layer(layer)((it) => {
    it.effect("each gen_ai attribute that was received, on spans, events and metrics", () =>
      Effect.gen(function* () {
        const received = [
          ...(yield* ourSpans).flatMap((span) => [
            ...Object.entries(span.attributes),
            ...span.events.flatMap((event) => Object.entries(event.attributes))
          ]),
          ...(yield* metrics).flatMap((metric) =>
            metric.points.flatMap((point) => Object.entries(point.attributes))
          )
        ].filter(([name]) => name.startsWith("gen_ai.") || name === "error.type")
        assert.isAbove(received.length, 100)
        for (const [name, value] of received) {
          const attribute = known.get(name)
          if (attribute === undefined) assert.fail(`${name} is not in the registry`)
          const { type } = attribute
          if (type.startsWith("enum")) {
            const members = "members" in attribute ? attribute.members : undefined
            if (name !== "error.type") assert.include([...(members ?? [])], String(value))
            assert.typeOf(value, "string")
          } else if (type === "any") {
            const json: unknown = JSON.parse(String(value))
            if (name.startsWith("gen_ai.tool.call.")) assert.isObject(json, name)
            else assert.isArray(json, name)
          } else {
            assert.strictEqual(typeOf(value), type, name)
          }
        }
      })
    )

    it.effect("the duration metric: instrument, unit, buckets and attributes", () =>
      Effect.gen(function* () {
        const model = registry.metrics.find((metric) => metric.name === "gen_ai.execute_tool.duration")
        const received = (yield* metrics).find((metric) => metric.name === "gen_ai.execute_tool.duration")
        assert.deepStrictEqual(
          [received?.kind, received?.unit, received?.points[0]?.bounds],
          [model?.instrument, model?.unit, model?.advised_bucket_boundaries]
        )
        const allowed = new Set(model?.attributes.map((attribute) => attribute.id))
        for (const point of received?.points ?? []) {
          for (const name of Object.keys(point.attributes)) assert.isTrue(allowed.has(name), name)
        }
      })
    )
  })
})

it.layer(layer)("what arrives as OTLP", (it) => {
  it.effect("is every name of semconv/, and no other", () =>
    Effect.gen(function* () {
      const server = yield* Received
      const names = new Set([
        ...(yield* ourSpans).flatMap((span) => [
          ...Object.keys(span.attributes),
          ...span.events.flatMap((event) => Object.keys(event.attributes))
        ]),
        ...server
          .metrics()
          .flatMap((metric) => metric.points.flatMap((point) => Object.keys(point.attributes)))
      ])
      const upstreams = ["effect.ai.concurrency", "effect.ai.tool_choice", "gen_ai.output.type"]
      const interrupted = "effect.fiber.interrupted"
      assert.deepStrictEqual([...names].sort(), [...constants, ...upstreams, interrupted].sort())
    })
  )

  it.effect("a success: all of its attributes, status Unset, kind internal, child of the turn", () =>
    Effect.gen(function* () {
      const turn = (yield* Received).spans().find((span) => span.name === "turn")
      const success = yield* span("call_success")
      assert.deepStrictEqual(success.attributes, {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "greet",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": "call_success",
        "gen_ai.agent.name": "clerk",
        "gen_ai.conversation.id": "conv_1",
        "gen_ai.tool.call.arguments": '{"name":"Ada"}',
        "gen_ai.tool.call.result": '{"greeting":"Hello, Ada"}',
        "gen_ai.tool.description": "Greets somebody",
        "toolspan.tool.outcome": "success"
      })
      assert.deepStrictEqual(
        [success.name, success.kind, success.status.code, success.parentSpanId, success.traceId],
        ["execute_tool greet", "internal", "unset", turn?.spanId, turn?.traceId]
      )
    })
  )

  for (const [outcome, type, origin] of [
    ["failure", "OutOfStock", "handler"],
    ["invalid_arguments", "ToolParameterValidationError", "parameters"],
    ["invalid_result", "ToolResultEncodingError", "result"],
    ["defect", "RangeError", undefined],
    ["unknown_tool", "ToolNotFoundError", undefined]
  ] as const) {
    it.effect(`${outcome}: status Error, the same error.type on span and metric, no content`, () =>
      Effect.gen(function* () {
        const failed = yield* span(`call_${outcome}`)
        assert.deepStrictEqual(
          [
            failed.status.code,
            failed.attributes["toolspan.tool.outcome"],
            failed.attributes["error.type"],
            failed.attributes["toolspan.tool.failure.origin"]
          ],
          ["error", outcome, type, origin]
        )
        assert.notMatch(
          JSON.stringify([failed.status, failed.events.map((event) => event.attributes)]),
          /unobtainium|secret/
        )
        const tool = outcome === "unknown_tool" ? "_OTHER" : failed.attributes["gen_ai.tool.name"]
        const points = (yield* metrics)
          .filter((metric) => metric.name === "gen_ai.execute_tool.duration")
          .flatMap((metric) => metric.points)
        assert.isTrue(
          points.some(
            (point) =>
              point.attributes["gen_ai.tool.name"] === tool &&
              point.attributes["error.type"] === type &&
              point.count === 1
          )
        )
      })
    )
  }

  it.effect("cancelled and abandoned calls are no errors", () =>
    Effect.gen(function* () {
      for (const outcome of ["cancelled", "abandoned"]) {
        const { attributes, status } = yield* span(`call_${outcome}`)
        assert.deepStrictEqual(
          [attributes["toolspan.tool.outcome"], attributes["error.type"], status.code],
          [outcome, undefined, "unset"]
        )
      }
    })
  )

  it.effect("content that was cut stays JSON, and says what it was", () =>
    Effect.gen(function* () {
      const { attributes } = yield* span("call_long")
      assert.isAtMost(Buffer.byteLength(String(attributes["gen_ai.tool.call.arguments"])), 64)
      assert.isObject(JSON.parse(String(attributes["gen_ai.tool.call.arguments"])))
      assert.deepStrictEqual(attributes["toolspan.content.truncated"], [
        "gen_ai.tool.call.arguments:511",
        "gen_ai.tool.call.result:522"
      ])
    })
  )

  it.effect("preliminary results are events", () =>
    Effect.gen(function* () {
      const { attributes, events } = yield* span("call_progress")
      assert.strictEqual(attributes["toolspan.tool.preliminary.count"], 2)
      assert.deepStrictEqual(
        events.map((event) => [event.name, event.attributes]),
        [
          ["toolspan.preliminary", { "toolspan.preliminary.result": '{"step":0}' }],
          ["toolspan.preliminary", { "toolspan.preliminary.result": '{"step":1}' }]
        ]
      )
    })
  )

  it.effect("a call with an origin is in the trace that asked, linked to what runs it", () =>
    Effect.gen(function* () {
      const turn = (yield* Received).spans().find((span) => span.name === "turn")
      const approved = yield* span("call_approved")
      assert.deepStrictEqual([approved.traceId, approved.parentSpanId], ["a".repeat(32), "b".repeat(16)])
      assert.deepStrictEqual(
        approved.links.map((link) => [link.traceId, link.spanId]),
        [[turn?.traceId, turn?.spanId]]
      )
      assert.strictEqual(approved.attributes["toolspan.approval.id"], "appr_1")
      assert.strictEqual(approved.attributes["toolspan.tool.attempt"], 2)
    })
  )

  it.effect("an approval is a child of the turn that asked, and no error", () =>
    Effect.gen(function* () {
      const spans = yield* ourSpans
      const asked = spans.find((span) =>
        span.events.some((event) => event.attributes["gen_ai.tool.call.id"] === "call_denied")
      )
      const [paid, denied, lost] = spans.filter((span) => span.name.startsWith("tool_approval"))
      const paying = yield* span("call_paid")
      for (const child of [paid, denied, paying]) {
        assert.deepStrictEqual(
          [child?.parentSpanId, child?.traceId, child?.status.code, child?.kind],
          [asked?.spanId, asked?.traceId, "unset", "internal"]
        )
      }
      assert.deepStrictEqual(
        [paid, denied, lost].map((approval) => [
          approval?.name,
          approval?.attributes["toolspan.approval.decision"],
          approval?.attributes["toolspan.approval.approver"],
          approval?.attributes["toolspan.approval.reason"]
        ]),
        [
          ["tool_approval pay", "approved", "ada", undefined],
          ["tool_approval pay", "denied", undefined, "too much"],
          ["tool_approval pay", "expired", undefined, undefined]
        ]
      )
      assert.notStrictEqual(lost?.parentSpanId, asked?.spanId)
    })
  )

  it.effect("metrics: names, units, kinds; no unit as an attribute", () =>
    Effect.gen(function* () {
      const described = (yield* metrics)
        .map(({ kind, monotonic, name, unit }) => `${name} ${kind}${monotonic ? " monotonic" : ""} ${unit}`)
        .sort()
      assert.deepStrictEqual(described, [
        "gen_ai.execute_tool.duration histogram s",
        "gen_ai.invoke_agent.duration histogram s",
        "gen_ai.invoke_agent.inference_calls histogram {inference_call}",
        "gen_ai.invoke_agent.tool_calls histogram {tool_call}",
        "toolspan.approval.decisions sum monotonic {approval}",
        "toolspan.approval.pending gauge {approval}",
        "toolspan.approval.requests sum monotonic {approval}",
        "toolspan.approval.wait histogram s",
        "toolspan.telemetry.dropped sum monotonic {item}",
        "toolspan.tool.active sum {call}",
        "toolspan.tool.calls sum monotonic {call}",
        "toolspan.tool.streak histogram {call}"
      ])
      const duration = (yield* metrics).find((metric) => metric.name === "gen_ai.execute_tool.duration")
      assert.deepStrictEqual(duration?.points[0]?.bounds, DURATION_BUCKETS)
      for (const metric of yield* metrics) {
        for (const point of metric.points) assert.notProperty(point.attributes, "unit")
      }
    })
  )

  it.effect("metrics: what was counted", () =>
    Effect.gen(function* () {
      const points = (name: string) =>
        Effect.map(metrics, (all) =>
          all.filter((metric) => metric.name === name).flatMap(({ points }) => points)
        )
      const calls = Object.fromEntries(
        (yield* points("toolspan.tool.calls"))
          .filter((point) => point.value !== 0)
          .map(({ attributes, value }) => [
            `${attributes["gen_ai.tool.name"]} ${attributes["toolspan.tool.outcome"]} ${attributes["gen_ai.agent.name"]}`,
            value
          ])
      )
      assert.deepStrictEqual(calls, {
        "greet success clerk": 4,
        "progress abandoned clerk": 1,
        "progress success clerk": 1,
        "try_order failure clerk": 1,
        "order invalid_arguments clerk": 1,
        "count invalid_result clerk": 1,
        "crash defect clerk": 1,
        "_OTHER unknown_tool clerk": 1,
        "hang cancelled clerk": 1,
        "pay success clerk": 1,
        "pay denied clerk": 2,
        "balance not_started clerk": 1,
        "web_search success clerk": 2
      })
      assert.isTrue((yield* points("toolspan.tool.active")).every((point) => point.value === 0))
      assert.deepStrictEqual(
        (yield* points("toolspan.telemetry.dropped"))
          .filter((point) => point.value !== 0)
          .map(({ attributes, value }) => [attributes["toolspan.dropped.reason"], value]),
        [
          ["hook_failed", 1],
          ["no_stamp", 1]
        ]
      )
    })
  )
})
