import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as DisplayWidth from "../../src/terminal/DisplayWidth.ts"
import type { Trace, TraceNode } from "../../src/terminal/Trace.ts"
import * as TreeRenderer from "../../src/terminal/TreeRenderer.ts"
import * as Spans from "./Spans.ts"

const { events, MILLI, snapshot, toolCall } = Spans

const finished: Trace = {
  traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
  continued: false,
  hiddenCount: 0,
  shownAt: 4200n * MILLI,
  roots: [
    {
      span: snapshot("invoke_agent researcher", 0, 4200, { parentId: "53995c3f42cd8ad8" }),
      children: [
        {
          span: snapshot("LanguageModel.generateText", 10, 3100, { events: events(["exception"]) }),
          children: [
            {
              span: snapshot("execute_tool list_files", 1000, 1012, {
                toolCall: toolCall("list_files", "call_1", {
                  arguments: '{"path":"."}',
                  result: '{"files":["a","b"]}'
                })
              }),
              children: []
            },
            {
              span: snapshot("execute_tool search_text", 1000, 2200, {
                toolCall: toolCall("search_text", "call_2", {
                  arguments: '{"query":"TODO","glob":"src/**/*.ts","limit":20}',
                  preliminaryCount: 3
                })
              }),
              children: [{ span: snapshot("http GET", 1100, 2100), children: [] }]
            },
            {
              span: snapshot("execute_tool read_file", 1001, 1002, {
                state: "failed",
                toolCall: toolCall("read_file", "call_3", {
                  outcome: "failure",
                  arguments: '{"path":"missing.md"}'
                }),
                errorType: "PlatformError/NotFound",
                errorMessage: "The tool failed",
                links: [
                  { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7" },
                  { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" }
                ],
                linkCount: 5
              }),
              children: []
            },
            {
              span: snapshot("execute_tool fetch", 1002, 3000, {
                state: "cancelled",
                toolCall: toolCall("fetch", "call_4", { outcome: "cancelled" })
              }),
              children: []
            }
          ]
        },
        { span: snapshot("LanguageModel.generateText", 3100, undefined), children: [] }
      ]
    }
  ]
}

const render = (trace: Trace, columns: number, color = false) =>
  TreeRenderer.render(trace, { columns, color }).join("\n")

const expected = {
  40: `
invoke_agent researcher · 4.2 s
8 spans · 4 tool calls, 1 failed
unfinished
trace 4bf92f3577b34da6a3ce929d0e0e4736
✓ invoke_agent researcher          4.2 s
│ ↖ parent span 53995c3f42cd8ad8, not i…
├─ ✓ LanguageModel.generateTex…    3.1 s
│  ├─ ✓ list_files call_1        12.0 ms
│  ├─ ✓ search_text call_2 (3 …    1.2 s
│  │  └─ ✓ http GET                1.0 s
│  ├─ ✗ read_file call_3          1.0 ms
│  │    ! PlatformError/NotFound: The t…
│  │    ⇄ link to 00f067aa0ba902b7 in t…
│  │    ⇄ link to b7ad6b7169203331 in t…
│  │    ⇄ and 3 more
│  └─ ⊘ fetch call_4               2.0 s
└─ … LanguageModel.generateTex…    1.1 s`.slice(1),
  60: `
invoke_agent researcher · 4.2 s · 8 spans
4 tool calls, 1 failed · unfinished
trace 4bf92f3577b34da6a3ce929d0e0e4736
✓ invoke_agent researcher                              4.2 s
│ ↖ parent span 53995c3f42cd8ad8, not in this tree
├─ ✓ LanguageModel.generateText (1 event)              3.1 s
│  ├─ ✓ list_files call_1 {"path":"."}               12.0 ms
│  │    → {"files":["a","b"]}
│  ├─ ✓ search_text call_2 (3 preliminary) {"query…    1.2 s
│  │  └─ ✓ http GET                                    1.0 s
│  ├─ ✗ read_file call_3 {"path":"missing.md"}        1.0 ms
│  │    ! PlatformError/NotFound: The tool failed
│  │    ⇄ link to 00f067aa0ba902b7 in this trace
│  │    ⇄ link to b7ad6b7169203331 in trace 0af7651916cd43d…
│  │    ⇄ and 3 more
│  └─ ⊘ fetch call_4                                   2.0 s
└─ … LanguageModel.generateText (unfinished)           1.1 s`.slice(1),
  80: `
invoke_agent researcher · 4.2 s · 8 spans · 4 tool calls, 1 failed · unfinished
trace 4bf92f3577b34da6a3ce929d0e0e4736
✓ invoke_agent researcher                            4.2 s  ████████████████████
│ ↖ parent span 53995c3f42cd8ad8, not in this tree
├─ ✓ LanguageModel.generateText (1 event)            3.1 s  ██████████████▊
│  ├─ ✓ list_files call_1 {"path":"."}             12.0 ms      ▕
│  │    → {"files":["a","b"]}
│  ├─ ✓ search_text call_2 (3 preliminary)           1.2 s      ▕█████▌
│  │  └─ ✓ http GET                                  1.0 s       █████
│  ├─ ✗ read_file call_3 {"path":"missing.md"}      1.0 ms      ▕
│  │    ! PlatformError/NotFound: The tool failed
│  │    ⇄ link to 00f067aa0ba902b7 in this trace
│  │    ⇄ link to b7ad6b7169203331 in trace 0af7651916cd43dd8448eb211c80319c
│  │    ⇄ and 3 more
│  └─ ⊘ fetch call_4                                 2.0 s      ▕█████████▎
└─ … LanguageModel.generateText (unfinished)         1.1 s                ▕█████`.slice(1),
  120: `
invoke_agent researcher · 4.2 s · 8 spans · 4 tool calls, 1 failed · unfinished · trace 4bf92f3577b34da6a3ce929d0e0e4736
✓ invoke_agent researcher                                                          4.2 s  ██████████████████████████████
│ ↖ parent span 53995c3f42cd8ad8, not in this tree
├─ ✓ LanguageModel.generateText (1 event)                                          3.1 s  ██████████████████████▏
│  ├─ ✓ execute_tool list_files call_1 {"path":"."}                              12.0 ms         ▏
│  │    → {"files":["a","b"]}
│  ├─ ✓ execute_tool search_text call_2 (3 preliminary) {"query":"TODO","glob"…    1.2 s         ████████▊
│  │  └─ ✓ http GET                                                                1.0 s         ▕███████
│  ├─ ✗ execute_tool read_file call_3 {"path":"missing.md"}                       1.0 ms         ▏
│  │    ! PlatformError/NotFound: The tool failed
│  │    ⇄ link to 00f067aa0ba902b7 in this trace
│  │    ⇄ link to b7ad6b7169203331 in trace 0af7651916cd43dd8448eb211c80319c
│  │    ⇄ and 3 more
│  └─ ⊘ execute_tool fetch call_4                                                  2.0 s         ██████████████▍
└─ … LanguageModel.generateText (unfinished)                                       1.1 s                        ████████`.slice(
    1
  )
}

const hostile = fc.string({
  unit: fc.oneof(
    fc.constantFrom(
      "\u001b[2J",
      "\u009b",
      "\r",
      "\n",
      "\u202e",
      "\ud800",
      "日本",
      "👩‍👩‍👧",
      "🇩🇪",
      "e\u0301",
      " ",
      "│",
      "✓"
    ),
    fc.string({ unit: "binary", minLength: 1, maxLength: 1 })
  ),
  maxLength: 40
})
const time = fc.bigInt({ min: 0n, max: 2n ** 62n })
const maybe = <A>(arbitrary: fc.Arbitrary<A>) => fc.option(arbitrary, { nil: undefined })
const approvalId = fc.constantFrom("one", "two", "three")
const anySpan = fc.record({
  // The header starts with the name of the root, which must not look like a mark.
  name: hostile.map((text) => `n${text}`),
  spanId: hostile,
  parentId: maybe(hostile),
  startTime: time,
  endTime: maybe(time),
  state: fc.constantFrom("success", "failed", "cancelled", "denied", "abandoned", "unfinished"),
  toolCall: maybe(
    fc.record({
      name: maybe(hostile),
      callId: maybe(hostile),
      outcome: maybe(hostile),
      arguments: maybe(hostile),
      result: maybe(hostile),
      preliminaryCount: fc.nat()
    })
  ),
  approval: maybe(
    fc.record({
      toolName: maybe(hostile),
      callId: maybe(hostile),
      approvalId: maybe(approvalId),
      decision: maybe(fc.oneof(fc.constantFrom("approved", "denied", "expired"), hostile)),
      approver: maybe(hostile),
      reason: maybe(hostile)
    })
  ),
  errorType: maybe(hostile),
  errorMessage: maybe(hostile),
  events: fc.record({
    ofTools: fc.array(
      fc.record({
        kind: fc.constantFrom("approvalRequested", "notStarted", "providerExecuted"),
        toolName: maybe(hostile),
        callId: maybe(hostile),
        approvalId: maybe(approvalId),
        outcome: maybe(fc.oneof(fc.constantFrom("success", "failure"), hostile))
      }),
      { maxLength: 12 }
    ),
    moreOfTools: fc.nat(3),
    otherCount: fc.nat()
  }),
  links: fc.array(fc.record({ traceId: hostile, spanId: hostile }), { maxLength: 4 }),
  linkCount: fc.nat(9)
})
const anyNode = fc.letrec<{ node: TraceNode }>((tie) => ({
  node: fc.record({
    span: anySpan,
    children: fc.oneof({ depthSize: "small" }, fc.constant([]), fc.array(tie("node"), { maxLength: 4 }))
  })
})).node
const anyTrace: fc.Arbitrary<Trace> = fc.record({
  traceId: hostile,
  roots: fc.array(anyNode, { minLength: 1, maxLength: 3 }),
  continued: fc.boolean(),
  hiddenCount: fc.nat(3),
  shownAt: time
})

// biome-ignore lint/suspicious/noControlCharactersInRegex: the colours are what it finds
const colors = /\u001b\[(?:1|2|31|32|33|36|0)m/g
/** What is told below a row can begin with a mark, too, but not at a branch. */
const row = /^(?:[│├└─⋯ ]*─ )?[✓✗⊘…] /u
const count = (nodes: ReadonlyArray<TraceNode>): number =>
  nodes.reduce((sum, node) => sum + 1 + count(node.children), 0)

describe("TreeRenderer.render", () => {
  for (const columns of [40, 60, 80, 120] as const) {
    it(`draws an agent's trace at ${columns} columns`, () => {
      assert.strictEqual(render(finished, columns), expected[columns])
    })
  }

  it("colours without moving anything", () => {
    assert.strictEqual(render(finished, 80, true).replaceAll(colors, ""), expected[80])
  })

  it("colours the marks by outcome and the bars of tool calls", () => {
    const rows = render(finished, 80, true).split("\n")
    const line = (name: string) => rows.find((row) => row.includes(name))
    assert.include(line("read_file"), "\u001b[31m✗\u001b[0m")
    assert.include(line("read_file"), "\u001b[1mread_file\u001b[0m")
    assert.include(line("read_file"), "\u001b[31m    ▕\u001b[0m")
    assert.include(line("fetch"), "\u001b[33m⊘\u001b[0m")
    assert.include(line("http GET"), "\u001b[2m     █████\u001b[0m")
  })

  it("never draws wider than the terminal, never sends a control sequence but colours, and gives each span one row", () => {
    fc.assert(
      fc.property(anyTrace, fc.integer({ min: 40, max: 200 }), fc.boolean(), (trace, columns, color) => {
        const lines = TreeRenderer.render(trace, { columns, color })
        const texts = lines.map((line) => (color ? line.replaceAll(colors, "") : line))
        for (const text of texts) {
          assert.isAtMost(DisplayWidth.of(text), columns)
          assert.notMatch(text, /[\p{Control}\p{Surrogate}\p{Bidi_Control}]/u)
        }
        assert.lengthOf(
          texts.filter((text) => row.test(text)),
          count(trace.roots)
        )
      })
    )
  })

  it("stays within a terminal narrower than any layout", () => {
    for (const columns of [1, 5, 20]) {
      for (const line of TreeRenderer.render(finished, { columns, color: false })) {
        assert.isAtMost(DisplayWidth.of(line), columns)
      }
    }
  })

  it("gives a thousand spans, each in the next, a row of their own", () => {
    let node: TraceNode = { span: snapshot("innermost", 0, 1), children: [] }
    for (let depth = 0; depth < 999; depth++) node = { span: snapshot("around", 0, 1), children: [node] }
    const lines = TreeRenderer.render({ ...finished, roots: [node] }, { columns: 80, color: false })
    assert.lengthOf(
      lines.filter((line) => row.test(line)),
      1000
    )
    assert.match(lines.at(-1) ?? "", /^⋯ +└─ ✓ innermost +1.0 ms/)
  })

  it("tells an error once, where it came from", () => {
    const failed = { state: "failed", errorType: "Timeout", errorMessage: "no answer in 5 s" } as const
    const child = { span: snapshot("child", 0, 1, failed), children: [] }
    const trace = { ...finished, roots: [{ span: snapshot("parent", 0, 1, failed), children: [child] }] }
    assert.strictEqual(render(trace, 80).match(/no answer/g)?.length, 1)
  })

  it("tells the types of errors that have no message, each for itself", () => {
    const failed = (errorType: string) => ({ state: "failed", errorType }) as const
    const child = { span: snapshot("child", 0, 1, failed("NotFound")), children: [] }
    const roots = [{ span: snapshot("parent", 0, 1, failed("Timeout")), children: [child] }]
    const text = render({ ...finished, roots }, 80)
    assert.include(text, "! Timeout")
    assert.include(text, "! NotFound")
  })

  it("does not say the type of an error twice", () => {
    const failed = { state: "failed", errorType: "Timeout", errorMessage: "Timeout after 5 s" } as const
    const trace = { ...finished, roots: [{ span: snapshot("root", 0, 1, failed), children: [] }] }
    assert.include(render(trace, 80), "! Timeout after 5 s")
    assert.notInclude(render(trace, 80), "Timeout: Timeout")
  })

  it("says which outcome a mark stands for, where it stands for several", () => {
    const call = (outcome: string) =>
      snapshot("execute_tool t", 0, 1, {
        state: outcome === "abandoned" ? "abandoned" : "failed",
        toolCall: toolCall("t", "call_1", { outcome })
      })
    const roots = ["abandoned", "invalid_arguments", "defect"].map((outcome) => ({
      span: call(outcome),
      children: []
    }))
    const text = render({ ...finished, roots }, 80)
    for (const row of ["… t call_1 (abandoned)", "✗ t call_1 (invalid arguments)", "✗ t call_1 (defect)"]) {
      assert.include(text, row)
    }
  })

  it("says that a trace goes on from what was shown, and how many spans are missing", () => {
    const lines = render({ ...finished, continued: true, hiddenCount: 12 }, 120).split("\n")
    assert.include(lines[0], "20 spans")
    assert.include(lines[0], "continued")
    assert.strictEqual(lines.at(-1), "+ 12 more spans, not kept")
  })
})
