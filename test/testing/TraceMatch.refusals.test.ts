/** Each way in which a recorded trace can deviate from the expected one, and what is said about it. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { call, differences, record, remote, resumed, type Trees, turn } from "./Recording.ts"

const refused: Record<string, [trees: Trees, differences: ReadonlyArray<string>]> = {
  "an extra tree": [[turn(call("c1"), call("c2"))], ["unexpected: resumed"]],
  "an extra child": [[turn(call("c1")), resumed], ["unexpected: turn > execute_tool search"]],
  "an extra grandchild": [
    [turn(call("c1", { children: [] }), call("c2")), resumed],
    ["unexpected: turn > execute_tool search > query"]
  ],
  "a missing tree": [
    [turn(call("c1"), call("c2")), resumed, { name: "second turn" }],
    ["missing: second turn"]
  ],
  "a second span like the one recorded": [
    [turn(call("c1"), call("c2")), resumed, resumed],
    ["missing: resumed"]
  ],
  "a missing child": [
    [{ ...resumed, children: [{ name: "query" }] }, turn(call("c1"), call("c2"))],
    ["missing: resumed > query"]
  ],
  "a misplaced span": [
    [turn(call("c1", { children: [] }), call("c2"), { name: "query" }), resumed],
    ["unexpected: turn > execute_tool search > query", "missing: turn > query"]
  ],
  "a child expected as a root": [
    [turn(call("c1")), call("c2"), resumed],
    ["unexpected: turn > execute_tool search", "missing: execute_tool search"]
  ],
  "another name": [
    [{ ...turn(call("c1"), call("c2")), name: "chat" }, resumed],
    ["missing: chat", "unexpected: turn"]
  ],
  "another attribute value": [
    [turn(call("c1"), call("c3")), resumed],
    ['turn > execute_tool search: attribute gen_ai.tool.call.id: expected "c3", got "c2"']
  ],
  "an attribute that is not there": [
    [turn(call("c1"), call("c2")), { ...resumed, attributes: { n: 1 } }],
    ["resumed: attribute n: expected 1, got undefined"]
  ],
  "an attribute that should not be there": [
    [turn(call("c1"), call("c2", { attributes: { "gen_ai.tool.call.id": "c2", list: undefined } })), resumed],
    ["turn > execute_tool search: attribute list: expected undefined, got [1,2]"]
  ],
  "another attribute where the list is exact": [
    [turn(call("c1"), call("c2", { exact: true })), resumed],
    ["turn > execute_tool search: attribute list: expected undefined, got [1,2]"]
  ],
  "a predicate that says no": [
    [turn(call("c1"), call("c2", { attributes: { list: (list: unknown) => list === 3 } })), resumed],
    ["turn > execute_tool search: attribute list: expected <predicate>, got [1,2]"]
  ],
  "another kind": [
    [turn(call("c1"), call("c2")), { ...resumed, kind: "server" }],
    ['resumed: kind: expected "server", got "internal"']
  ],
  "another status": [
    [turn(call("c1"), call("c2")), { ...resumed, status: "error" }],
    ['resumed: status: expected "error", got "ok"']
  ],
  "another description": [
    [
      turn(call("c1"), call("c2", { children: [{ name: "query", status: "error", description: "no" }] })),
      resumed
    ],
    ['turn > execute_tool search > query: description: expected "no", got "no index"']
  ],
  "an extra event": [
    [turn(call("c1", { events: [{ name: "progress" }] }), call("c2")), resumed],
    ["turn > execute_tool search: events: expected 1, got 2"]
  ],
  "a missing event": [
    [turn(call("c1"), call("c2")), { ...resumed, events: [{ name: "progress" }] }],
    ["resumed: events: expected 1, got 0"]
  ],
  "events in another order": [
    [
      turn(
        call("c1", {
          events: [
            { name: "progress", attributes: { step: 2 } },
            { name: "progress", attributes: { step: 1 } }
          ]
        }),
        call("c2")
      ),
      resumed
    ],
    [
      "turn > execute_tool search: event 1: attribute step: expected 2, got 1",
      "turn > execute_tool search: event 2: attribute step: expected 1, got 2"
    ]
  ],
  "an event of another name": [
    [turn(call("c1", { events: [{ name: "start" }, { name: "progress" }] }), call("c2")), resumed],
    ['turn > execute_tool search: event 1: name: expected "start", got "progress"']
  ],
  "an extra link": [
    [turn(call("c1", { links: [] }), call("c2")), resumed],
    ["turn > execute_tool search: links: expected 0, got 1"]
  ],
  "a link to another span": [
    [turn(call("c1", { links: [{ to: "turn" }] }), call("c2")), resumed],
    [
      `turn > execute_tool search: link 1: expected target turn, got ${"a".repeat(32)}/${"b".repeat(16)} (not recorded here)`
    ]
  ],
  "a link with another attribute": [
    [turn(call("c1", { links: [{ to: remote, attributes: { why: "guess" } }] }), call("c2")), resumed],
    ['turn > execute_tool search: link 1: attribute why: expected "guess", got "asked"']
  ],
  "children in another order than told": [
    [{ ...turn(call("c2"), call("c1")), ordered: true }, resumed],
    [
      "turn: the children are the expected ones, but started in another order: execute_tool search, execute_tool search"
    ]
  ],
  "a foreign parent that was not told": [
    [turn(call("c1"), call("c2")), { name: "resumed" }],
    [`resumed: parent: expected none, got ${"a".repeat(32)}/${"b".repeat(16)} (not recorded here)`]
  ],
  "a foreign parent that is not there": [
    [{ ...turn(call("c1"), call("c2")), parent: remote }, resumed],
    [`turn: parent: expected ${"a".repeat(32)}/${"b".repeat(16)} (not recorded here), got none`]
  ]
}

describe("expectTrees", () => {
  for (const [what, [trees, expected]] of Object.entries(refused)) {
    it.effect(`refuses ${what}`, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(differences(yield* record, trees), expected)
      })
    )
  }
})
