import { assert, describe, it } from "@effect/vitest"
import type { Trace } from "../../src/terminal/Trace.ts"
import * as TreeRenderer from "../../src/terminal/TreeRenderer.ts"
import * as Spans from "./Spans.ts"

const { approval, asked, events, node, snapshot, toolCall, trace } = Spans

const HOUR = 3_600_000
const decidedAt = 2000 + 4 * HOUR

const render = (trace: Trace, columns = 100, color = false) =>
  TreeRenderer.render(trace, { columns, color }).join("\n")

const parent = { parentId: "53995c3f42cd8ad8" }
const written = (rest: Partial<Parameters<typeof snapshot>[3]> = {}) =>
  snapshot("execute_tool write_report", decidedAt + 10, decidedAt + 190, {
    toolCall: toolCall("write_report", "call_7", { arguments: '{"title":"Report"}' }),
    ...rest
  })
const turn = (...asking: ReadonlyArray<Spans.Event>) =>
  snapshot("LanguageModel.generateText", 0, 2000, { events: events(...asking) })
const answer = snapshot("LanguageModel.generateText", decidedAt + 200, decidedAt + 2000)

describe("An approval", () => {
  it("stands between the turn that asked and the call that it let run, with bars that still say something", () => {
    const asking = node(
      turn(asked("write_report", "call_7")),
      node(approval("write_report", "call_7", [1999, decidedAt], { approver: "ada" })),
      node(written())
    )
    const agent = node(snapshot("invoke_agent clerk", 0, decidedAt + 2000), asking, node(answer))
    assert.strictEqual(
      render(trace(agent), 100),
      `
invoke_agent clerk · 4 h · 5 spans · 1 tool call · trace 4bf92f3577b34da6a3ce929d0e0e4736
✓ invoke_agent clerk                                                  4 h  ██████████┄┄┄┄┄██████████
├─ ✓ LanguageModel.generateText                                     2.0 s  ███████████
│  ├─ ✓ approval write_report call_7 (approved by ada)                4 h            ┄┄┄┄┄
│  └─ ✓ write_report call_7 {"title":"Report"}                     180 ms                █▏
└─ ✓ LanguageModel.generateText                                     1.8 s                 ██████████`.slice(1)
    )
  })

  it("says who decided what, and why, where that is known", () => {
    const rows = [
      approval("pay", "call_1", [0, 9], { decision: "denied", approver: "ada", reason: "too expensive" }),
      approval("pay", "call_2", [0, 9], { decision: "expired" }),
      approval("pay", "call_3", [0, 9], { decision: "approved" }),
      approval("pay", "call_4", [0, 9], { decision: "denied", reason: "no\nmoney" }),
      approval("pay", "call_5", [0, 9], { decision: undefined }),
      approval("pay", "call_6", [0, 9], { decision: undefined }, { state: "unfinished" })
    ]
    const text = render(trace(...rows.map((span) => node(span))))
    for (const row of [
      "⊘ approval pay call_1 (denied by ada: too expensive) ",
      "⊘ approval pay call_2 (expired) ",
      "✓ approval pay call_3 (approved) ",
      "⊘ approval pay call_4 (denied: no money) ",
      "✓ approval pay call_5  ",
      "… approval pay call_6 (unfinished) "
    ]) {
      assert.include(text, row)
    }
  })

  it("that is denied looks neither like an error nor like a success", () => {
    const text = render(trace(node(approval("pay", "call_1", [0, 9], { decision: "denied" }))), 100, true)
    assert.include(text, "\u001b[33m⊘\u001b[0m")
    for (const color of [31, 32]) assert.notInclude(text, `\u001b[${color}m`)
  })

  it("is counted in the header where it was denied or nobody decided", () => {
    const denied = node(approval("pay", "call_1", [0, 9], { decision: "denied" }))
    const expired = node(approval("pay", "call_2", [0, 9], { decision: "expired" }))
    const approved = node(approval("pay", "call_3", [0, 9]))
    const header = (...children: ReadonlyArray<typeof denied>) =>
      render(trace(node(turn(), ...children)), 160).split("\n")[0] ?? ""
    assert.include(header(denied, expired, approved), " · 4 spans · 2 denied · trace ")
    assert.include(header(denied, node(written())), " · 1 tool call · 1 denied · trace ")
    assert.notInclude(header(approved), "denied")
  })

  it("rather says the decision than the id of the call, where there is no room for both", () => {
    const id = "toolu_01A09q90qw90lq917835lq9"
    const rest = { decision: "denied", approver: "ada", reason: "it is too expensive for a report" }
    const text = (columns: number) => render(trace(node(approval("pay", id, [0, 9], rest))), columns)
    assert.include(text(120), `⊘ approval pay ${id} (denied by ada: it is too expensiv…`)
    assert.include(text(80), "⊘ approval pay (denied by ada: it is too expensiv…")
    assert.include(text(40), "⊘ approval pay (denied by ada: …")
  })

  it("keeps its row within its cells, whatever the approver and the reason are", () => {
    const hostile = `\u001b[2J\u202e${"日本".repeat(500)}`
    const rest = { approver: hostile, reason: hostile, decision: hostile }
    const [, row = ""] = render(trace(node(approval(hostile, hostile, [0, 9], rest))), 60).split("\n")
    assert.notMatch(row, /[\p{Control}\p{Bidi_Control}]/u)
  })
})

describe("Approvals of a run that is resumed elsewhere", () => {
  const roots = [
    node(approval("write_report", "call_7", [1999, decidedAt], { approver: "ada" }, parent)),
    node(
      snapshot("invoke_agent clerk", decidedAt, decidedAt + 2000, { parentId: "b588fc79ee8ff1c6" }),
      node(answer)
    ),
    node(written(parent))
  ]

  it("stand with the calls that they let run, and name the parent that they share once", () => {
    assert.strictEqual(
      render(trace(...roots), 80),
      `
invoke_agent clerk · 4 h · 4 spans · 1 tool call
trace 4bf92f3577b34da6a3ce929d0e0e4736
✓ approval write_report call_7 (approved by ada)       4 h  ┄┄┄
  ↖ parent span 53995c3f42cd8ad8 of these 2, not in this tree
✓ write_report call_7 {"title":"Report"}            180 ms    ▐█▏
✓ invoke_agent clerk                                 2.0 s    ▐█████████████████
│ ↖ parent span b588fc79ee8ff1c6, not in this tree
└─ ✓ LanguageModel.generateText                      1.8 s      ▐███████████████`.slice(1)
    )
  })

  it("do not give the trace its title, unless there is nothing else", () => {
    assert.match(render(trace(...roots)), /^invoke_agent clerk · /)
    assert.match(render(trace(...roots.slice(0, 1))), /^tool_approval write_report · 4 h · 1 span /)
  })
})

describe("Tool calls without a span", () => {
  const notStarted = (callId: string): Spans.Event => [
    "toolspan.tool.not_started",
    { "gen_ai.tool.name": "read_file", "gen_ai.tool.call.id": callId }
  ]
  const provided = (callId: string, outcome: string): Spans.Event => [
    "toolspan.tool.provider_executed",
    { "gen_ai.tool.name": "web_search", "gen_ai.tool.call.id": callId, "toolspan.tool.outcome": outcome }
  ]

  it("have a line below the turn that made them, and are no mere events", () => {
    const span = turn(
      asked("pay", "call_1"),
      notStarted("call_3"),
      provided("srv_1", "success"),
      ["exception"],
      provided("srv_2", "failure"),
      provided("srv_3", "invalid_result"),
      provided("srv_4", "cancelled"),
      provided("srv_5", "abandoned")
    )
    assert.strictEqual(
      render(trace(node(span, node(snapshot("http POST", 0, 1000)))), 60),
      `
LanguageModel.generateText · 2.0 s · 2 spans
trace 4bf92f3577b34da6a3ce929d0e0e4736
✓ LanguageModel.generateText (1 event)                 2.0 s
│ ? pay call_1 waits for approval
│ … read_file call_3 not started
│ ✓ web_search srv_1 run by the provider
│ ✗ web_search srv_2 run by the provider (failure)
│ ✗ web_search srv_3 run by the provider (invalid result)
│ ⊘ web_search srv_4 run by the provider (cancelled)
│ … web_search srv_5 run by the provider (abandoned)
└─ ✓ http POST                                         1.0 s`.slice(1)
    )
  })

  it("wait no more once the decision is in the same tree, wherever it stands", () => {
    const asking = node(turn(asked("pay", "call_1"), asked("pay", "call_2")))
    const decision = approval("pay", "call_1", [1, 2], { decision: "expired" })
    const text = render(trace(asking, node(answer, node(decision))))
    assert.notInclude(text, "call_1 waits")
    assert.include(text, "? pay call_2 waits for approval")
    const open = render(trace(asking, node({ ...decision, state: "unfinished" })))
    assert.include(open, "? pay call_1 waits for approval")
  })

  it("are told up to eight, and the rest counted", () => {
    const lines = (count: number) => {
      const span = turn(...Array.from({ length: count }, (_, index) => notStarted(`call_${index}`)))
      return render(trace(node(span)))
        .split("\n")
        .slice(2)
    }
    assert.lengthOf(lines(8), 8)
    assert.strictEqual(lines(9).at(-1), "    and 1 more")
    assert.lengthOf(lines(1000), 9)
    assert.strictEqual(lines(1000).at(-1), "    and 992 more")
  })

  it("are told as far as they say what they are", () => {
    const bare = turn(
      ["toolspan.approval.requested"],
      ["toolspan.tool.provider_executed", { "gen_ai.tool.name": 7 }]
    )
    assert.deepStrictEqual(
      render(trace(node(bare)))
        .split("\n")
        .slice(2),
      ["  ? waits for approval", "  ✓ run by the provider"]
    )
  })
})
