/** A recorded trace for tests of the comparison, and short ways to describe it. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Tracer from "effect/Tracer"
import { type ExpectedTree, RecordedSpans } from "../../src/testing/index.ts"

export type Trees = ReadonlyArray<ExpectedTree.ExpectedTree>

export const remote = Tracer.externalSpan({ traceId: "a".repeat(32), spanId: "b".repeat(16) })

/** A turn with two tool calls, the second of which fails, and a span under a foreign parent: all that can be said of spans. */
export const record = Effect.gen(function* () {
  const recorded = yield* RecordedSpans.make
  const tool = (call: string, effect: Effect.Effect<unknown, unknown>) =>
    Effect.gen(function* () {
      const span = yield* Effect.currentSpan
      span.event("progress", 0n, { step: 1 })
      span.event("progress", 0n, { step: 2 })
      yield* Effect.withSpan(effect, "query", { kind: "client" })
    }).pipe(
      Effect.withSpan("execute_tool search", {
        attributes: { "gen_ai.tool.call.id": call, list: [1, 2] },
        links: [{ span: remote, attributes: { why: "asked" } }]
      }),
      Effect.exit
    )
  yield* tool("c1", Effect.void).pipe(
    Effect.andThen(tool("c2", Effect.fail(new Error("no index")))),
    Effect.withSpan("turn"),
    Effect.andThen(Effect.void.pipe(Effect.withSpan("resumed"), Effect.withParentSpan(remote))),
    Effect.provideService(Tracer.Tracer, recorded.tracer)
  )
  return recorded
})

export const call = (id: string, more?: Partial<ExpectedTree.ExpectedSpan>): ExpectedTree.ExpectedSpan => ({
  name: "execute_tool search",
  attributes: { "gen_ai.tool.call.id": id },
  children: [{ name: "query" }],
  ...more
})
export const turn = (...children: ReadonlyArray<ExpectedTree.ExpectedSpan>): ExpectedTree.ExpectedTree => ({
  name: "turn",
  children
})
export const resumed: ExpectedTree.ExpectedTree = { name: "resumed", parent: remote }

export const mismatch = (recorded: RecordedSpans.RecordedSpans["Service"], trees: Trees): string => {
  try {
    RecordedSpans.expectTrees(recorded, trees)
  } catch (error) {
    assert.instanceOf(error, RecordedSpans.TraceMismatch)
    return error.message
  }
  return "no difference"
}

/** The lines below "differences". */
export const differences = (
  recorded: RecordedSpans.RecordedSpans["Service"],
  trees: Trees
): ReadonlyArray<string> =>
  Array.from(mismatch(recorded, trees).matchAll(/^ {2}- (.*)$/gm), ([, line]) => line ?? "")
