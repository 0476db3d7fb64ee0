import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Tracer from "effect/Tracer"
import { RecordedSpans } from "../../src/testing/index.ts"
import { call, differences, mismatch, record, remote, resumed, type Trees, turn } from "./Recording.ts"

const accepted: Record<string, Trees> = {
  "the trees in the order recorded": [turn(call("c1"), call("c2")), resumed],
  "trees and children in another order": [resumed, turn(call("c2"), call("c1"))],
  "children in the order told": [{ ...turn(call("c1"), call("c2")), ordered: true }, resumed],
  "all that can be said of a span": [
    turn(
      call("c1", {
        kind: "internal",
        status: "ok",
        attributes: { "gen_ai.tool.call.id": "c1", list: [1, 2] },
        exact: true,
        events: [{ name: "progress", attributes: { step: 1 } }, { name: "progress" }],
        links: [{ to: remote, attributes: { why: "asked" } }],
        children: [{ name: "query", kind: "client", status: "ok" }]
      }),
      call("c2", { status: "error", children: [{ name: "query", status: "error", description: "no index" }] })
    ),
    resumed
  ],
  "predicates instead of values": [
    turn(
      call("c1", {
        attributes: { list: Array.isArray, "gen_ai.tool.call.id": (id: unknown) => id === "c1" }
      }),
      call("c2", { children: [{ name: "query", description: (text) => String(text).includes("index") }] })
    ),
    resumed
  ],
  "a vague child before an exact one that wants the same span": [
    turn(call("c1", { attributes: {} }), call("c1")),
    resumed
  ],
  "an attribute said to be absent": [
    turn(call("c1", { attributes: { "gen_ai.tool.call.id": "c1", secret: undefined } }), call("c2")),
    resumed
  ]
}

describe("expectTrees", () => {
  for (const [what, trees] of Object.entries(accepted)) {
    it.effect(`accepts ${what}`, () =>
      Effect.gen(function* () {
        assert.strictEqual(mismatch(yield* record, trees), "no difference")
      })
    )
  }

  it.effect("refuses a span that never ended, unless it is said to be open", () =>
    Effect.gen(function* () {
      const recorded = yield* RecordedSpans.make
      yield* Effect.makeSpan("leak").pipe(Effect.provideService(Tracer.Tracer, recorded.tracer))
      assert.deepStrictEqual(differences(recorded, [{ name: "leak" }]), ["leak: never ended"])
      assert.strictEqual(mismatch(recorded, [{ name: "leak", status: "open" }]), "no difference")
    })
  )

  it.effect("refuses a span that ended twice", () =>
    Effect.gen(function* () {
      const recorded = yield* RecordedSpans.make
      const span = yield* Effect.makeSpan("twice").pipe(Effect.provideService(Tracer.Tracer, recorded.tracer))
      span.end(1n, Exit.void)
      span.end(2n, Exit.void)
      assert.deepStrictEqual(differences(recorded, [{ name: "twice" }]), ["twice: ended 2 times"])
    })
  )

  it.effect("places a span under the recorded one that its parent stands in for", () =>
    Effect.gen(function* () {
      const recorded = yield* RecordedSpans.make
      const outer = yield* Effect.makeSpan("outer").pipe(
        Effect.provideService(Tracer.Tracer, recorded.tracer)
      )
      yield* Effect.withSpan(Effect.void, "inner").pipe(
        Effect.withParentSpan(new Proxy(outer, {})),
        Effect.provideService(Tracer.Tracer, recorded.tracer)
      )
      outer.end(1n, Exit.void)
      RecordedSpans.expectTrees(recorded, [{ name: "outer", children: [{ name: "inner" }] }])
    })
  )

  it.effect("finds the target of a link by the name of the recorded span, or by the span", () =>
    Effect.gen(function* () {
      const recorded = yield* RecordedSpans.make
      const asked = yield* Effect.gen(function* () {
        const span = yield* Effect.withSpan(Effect.currentSpan, "asked")
        yield* Effect.withSpan(Effect.void, "ran", { links: [{ span, attributes: {} }] })
        return span
      }).pipe(Effect.provideService(Tracer.Tracer, recorded.tracer))
      for (const to of ["asked", asked]) {
        RecordedSpans.expectTrees(recorded, [{ name: "asked" }, { name: "ran", links: [{ to }] }])
      }
    })
  )

  it.effect("accepts nothing for nothing, and refuses something for nothing", () =>
    Effect.gen(function* () {
      const recorded = yield* RecordedSpans.make
      RecordedSpans.expectTrees(recorded, [])
      assert.deepStrictEqual(differences(recorded, [{ name: "turn" }]), ["missing: turn"])
    })
  )

  it.effect("shows the differences and both sides", () =>
    Effect.gen(function* () {
      const foreign = `${"a".repeat(32)}/${"b".repeat(16)} (not recorded here)`
      assert.strictEqual(
        mismatch(yield* record, [
          turn(call("c1"), call("c2", { status: "ok", links: [{ to: remote }] })),
          resumed
        ]),
        `The recorded trace is not the expected one.

differences:
  - turn > execute_tool search: status: expected "ok", got "error"

expected:
  turn
    execute_tool search {gen_ai.tool.call.id: "c1"}
      query
    execute_tool search (ok) {gen_ai.tool.call.id: "c2"}
      > link to ${foreign}
      query
  resumed
    ^ child of ${foreign}

recorded:
  turn (internal, ok)
    execute_tool search (internal, ok) {gen_ai.tool.call.id: "c1", list: [1,2]}
      * progress {step: 1}
      * progress {step: 2}
      > link to ${foreign} {why: "asked"}
      query (client, ok)
    execute_tool search (internal, error: "no index") {gen_ai.tool.call.id: "c2", list: [1,2]}
      * progress {step: 1}
      * progress {step: 2}
      > link to ${foreign} {why: "asked"}
      query (client, error: "no index")
  resumed (internal, ok)
    ^ child of ${foreign}`
      )
    })
  )

  it.effect("matches a hundred parallel calls in any order", () =>
    Effect.gen(function* () {
      const recorded = yield* RecordedSpans.make
      const ids = Array.from({ length: 100 }, (_, n) => `c${n}`)
      yield* Effect.forEach(ids, (id) => Effect.withSpan(Effect.void, "call", { attributes: { id } })).pipe(
        Effect.withSpan("turn"),
        Effect.provideService(Tracer.Tracer, recorded.tracer)
      )
      RecordedSpans.expectTrees(recorded, [
        turn(...ids.toReversed().map((id) => ({ name: "call", attributes: { id } })))
      ])
    })
  )
})
