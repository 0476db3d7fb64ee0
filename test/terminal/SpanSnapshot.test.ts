import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import * as Tracer from "effect/Tracer"
import * as PlainText from "../../src/terminal/PlainText.ts"
import * as SpanEvents from "../../src/terminal/SpanEvents.ts"
import * as SpanSnapshot from "../../src/terminal/SpanSnapshot.ts"
import * as Spans from "./Spans.ts"

const ended = (
  exit: Exit.Exit<unknown, unknown>,
  attributes: Record<string, unknown> = {},
  name = "work"
) => {
  const span = Spans.start(name, { start: 1, attributes })
  Spans.end(span, 3, exit)
  return SpanSnapshot.of(span, exit, SpanEvents.none)
}

describe("SpanSnapshot", () => {
  it("tells how a span ended by its exit", () => {
    assert.strictEqual(ended(Exit.void).state, "success")
    assert.strictEqual(ended(Exit.fail("no")).state, "failed")
    assert.strictEqual(ended(Exit.die("no")).state, "failed")
    assert.strictEqual(ended(Exit.interrupt()).state, "cancelled")
    assert.strictEqual(ended(Exit.void, { "error.type": "Timeout" }).state, "failed")
    assert.strictEqual(SpanSnapshot.of(Spans.start("work"), undefined, SpanEvents.none).state, "unfinished")
  })

  it("tells how a tool call ended by its outcome, where the exit alone does not say", () => {
    const state = (outcome: string, exit: Exit.Exit<unknown, unknown>) =>
      ended(exit, { "toolspan.tool.outcome": outcome }, "execute_tool t").state
    assert.strictEqual(state("abandoned", Exit.void), "abandoned")
    assert.strictEqual(state("cancelled", Exit.void), "cancelled")
    assert.strictEqual(state("success", Exit.void), "success")
    assert.strictEqual(state("outcome_unknown", Exit.fail("?")), "failed")
    assert.strictEqual(state("constructor", Exit.void), "success")
  })

  it("reads what a tool call says of itself", () => {
    const span = Spans.start("execute_tool read_file", {
      attributes: {
        "gen_ai.tool.name": "read_file",
        "gen_ai.tool.call.id": "call_1",
        "gen_ai.tool.call.arguments": '{"path":"a"}',
        "gen_ai.tool.call.result": '{"text":"b"}',
        "toolspan.tool.outcome": "success",
        "toolspan.tool.preliminary.count": 2
      }
    })
    assert.deepStrictEqual(SpanSnapshot.of(span, Exit.void, SpanEvents.none).toolCall, {
      name: "read_file",
      callId: "call_1",
      outcome: "success",
      arguments: '{"path":"a"}',
      result: '{"text":"b"}',
      preliminaryCount: 2
    })
  })

  it("reads what an approval says of its decision", () => {
    const span = Spans.start("tool_approval pay", {
      attributes: {
        "gen_ai.tool.name": "pay",
        "gen_ai.tool.call.id": "call_1",
        "toolspan.approval.id": "approval_1",
        "toolspan.approval.decision": "denied",
        "toolspan.approval.approver": "ada",
        "toolspan.approval.reason": "too expensive"
      }
    })
    assert.deepStrictEqual(SpanSnapshot.of(span, Exit.void, SpanEvents.none).approval, {
      toolName: "pay",
      callId: "call_1",
      approvalId: "approval_1",
      decision: "denied",
      approver: "ada",
      reason: "too expensive"
    })
    assert.isUndefined(SpanSnapshot.of(Spans.start("tool_approvals"), Exit.void, SpanEvents.none).approval)
    assert.strictEqual(
      SpanSnapshot.of(Spans.start("tool_approval pay"), Exit.void, SpanEvents.none).approval?.toolName,
      "pay"
    )
  })

  it("takes a denial for no error and no success, and leaves an unknown decision to the exit", () => {
    const state = (decision: string, exit: Exit.Exit<unknown, unknown> = Exit.void) =>
      ended(exit, { "toolspan.approval.decision": decision }, "tool_approval pay").state
    assert.strictEqual(state("approved"), "success")
    assert.strictEqual(state("denied"), "denied")
    assert.strictEqual(state("expired"), "denied")
    assert.strictEqual(state("denied", Exit.fail("no")), "denied")
    assert.strictEqual(state("constructor"), "success")
    assert.strictEqual(state("escalated", Exit.fail("no")), "failed")
    const waiting = Spans.start("tool_approval pay")
    assert.strictEqual(SpanSnapshot.of(waiting, undefined, SpanEvents.none).state, "unfinished")
  })

  it("makes do with the span name, and with attributes of other types", () => {
    const span = Spans.start("execute_tool read_file", {
      attributes: { "gen_ai.tool.call.id": 7, "gen_ai.tool.call.arguments": { path: "a" }, "error.type": "" }
    })
    const { errorType, toolCall } = SpanSnapshot.of(span, Exit.void, SpanEvents.none)
    assert.strictEqual(toolCall?.name, "read_file")
    assert.isUndefined(toolCall?.callId)
    assert.isUndefined(toolCall?.arguments)
    assert.isUndefined(errorType)
    assert.isUndefined(
      SpanSnapshot.of(Spans.start("execute_tool"), Exit.void, SpanEvents.none).toolCall?.name
    )
    assert.isUndefined(SpanSnapshot.of(Spans.start("execute_tools"), Exit.void, SpanEvents.none).toolCall)
  })

  it("takes type and message of a failure from the cause, the attribute first", () => {
    const own = ended(Exit.fail(new TypeError("not a number")))
    assert.strictEqual(own.errorType, "TypeError")
    assert.strictEqual(own.errorMessage, "not a number")
    assert.strictEqual(
      ended(Exit.fail(new TypeError("x")), { "error.type": "NotFound" }).errorType,
      "NotFound"
    )
    assert.isUndefined(ended(Exit.interrupt()).errorMessage)
  })

  it("survives an error that cannot be read", () => {
    const hostile = {
      get message(): string {
        throw new Error("no message for you")
      }
    }
    const snapshot = ended(Exit.failCause(Cause.fail(hostile)))
    assert.strictEqual(snapshot.state, "failed")
    assert.isUndefined(snapshot.errorMessage)
  })

  it("masks secrets in the message of an error", () => {
    const key = "sk-proj-abcdefghijklmnopqrstuvwxyz"
    const message = ended(Exit.fail(new Error(`401 for ${key}`))).errorMessage
    assert.match(message ?? "", /^401 for /)
    assert.notInclude(message, key.slice(0, 12))
  })

  it("keeps short strings only", () => {
    const long = "x".repeat(100_000)
    const snapshot = ended(
      Exit.fail(new Error(long)),
      { "gen_ai.tool.call.arguments": long },
      `execute_tool ${long}`
    )
    for (const text of [
      snapshot.name,
      snapshot.errorMessage,
      snapshot.toolCall?.arguments,
      snapshot.toolCall?.name
    ]) {
      assert.strictEqual(text?.length, PlainText.LIMIT)
    }
  })

  it("keeps the first links and counts all", () => {
    const span = Spans.start("work")
    const link = Tracer.externalSpan({ traceId: "t", spanId: "s" })
    span.addLinks(Array.from({ length: 9 }, () => ({ span: link, attributes: {} })))
    const { linkCount, links } = SpanSnapshot.of(span, Exit.void, SpanEvents.none)
    assert.strictEqual(linkCount, 9)
    assert.deepStrictEqual(
      links,
      Array.from({ length: 4 }, () => ({ traceId: "t", spanId: "s" }))
    )
  })
})
