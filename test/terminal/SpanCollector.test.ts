import { assert, describe, it } from "@effect/vitest"
import * as Exit from "effect/Exit"
import * as Tracer from "effect/Tracer"
import * as fc from "fast-check"
import { type Limits, SpanCollector } from "../../src/terminal/SpanCollector.ts"
import * as Trace from "../../src/terminal/Trace.ts"
import * as Spans from "./Spans.ts"

const collect = (limits?: Limits) => {
  const traces: Array<Trace.Trace> = []
  const collector = new SpanCollector({ now: () => 99n, onTrace: (trace) => traces.push(trace), limits })
  const start = (...args: Parameters<typeof Spans.start>) => {
    const span = Spans.start(...args)
    collector.started(span)
    return span
  }
  return { collector, traces, start }
}

/** A trace as names and states: `a(b c?)`, `?` for unfinished. */
const shape = (nodes: ReadonlyArray<Trace.TraceNode>): string =>
  nodes
    .map(({ children, span }) => {
      const name = span.state === "unfinished" ? `${span.name}?` : span.name
      return children.length === 0 ? name : `${name}(${shape(children)})`
    })
    .join(" ")
const shapes = (traces: ReadonlyArray<Trace.Trace>) => traces.map((trace) => shape(trace.roots))

describe("SpanCollector", () => {
  it("gives out a trace when its last span has ended", () => {
    const { start, traces } = collect()
    const root = start("root")
    const turn = start("turn", { parent: root, start: 1 })
    const slow = start("slow", { parent: turn, start: 2 })
    const quick = start("quick", { parent: turn, start: 2 })
    Spans.end(quick)
    Spans.end(turn)
    Spans.end(root)
    assert.deepStrictEqual(shapes(traces), [])
    Spans.end(slow)
    assert.deepStrictEqual(shapes(traces), ["root(turn(slow quick))"])
    assert.strictEqual(traces[0]?.traceId, root.traceId)
    assert.isFalse(traces[0]?.continued)
  })

  it("orders children by their start, whenever they became known", () => {
    const { start, traces } = collect()
    const root = start("root")
    Spans.end(start("second", { parent: root, start: 5 }))
    Spans.end(start("first", { parent: root, start: 2 }))
    Spans.end(root)
    assert.deepStrictEqual(shapes(traces), ["root(first second)"])
  })

  it("keeps traces apart", () => {
    const { start, traces } = collect()
    const a = start("a")
    const b = start("b")
    Spans.end(start("a1", { parent: a }))
    Spans.end(b)
    Spans.end(a)
    assert.deepStrictEqual(shapes(traces), ["b", "a(a1)"])
  })

  it("takes a span with a parent elsewhere as a root that names its parent", () => {
    const { start, traces } = collect()
    const span = start("tool", { parent: Tracer.externalSpan({ traceId: "t", spanId: "p" }) })
    Spans.end(span)
    assert.strictEqual(traces[0]?.traceId, "t")
    assert.strictEqual(traces[0]?.roots[0]?.span.parentId, "p")
  })

  it("gives out what starts after its trace was given out as a continuation", () => {
    const { start, traces } = collect()
    const root = start("root")
    Spans.end(root)
    const late = start("late", { parent: root })
    Spans.end(start("later", { parent: late }))
    Spans.end(late)
    assert.deepStrictEqual(shapes(traces), ["root", "late(later)"])
    assert.deepStrictEqual(
      traces.map((trace) => trace.continued),
      [false, true]
    )
    assert.strictEqual(traces[1]?.roots[0]?.span.parentId, root.spanId)
  })

  it("passes over spans that are not sampled", () => {
    const { collector, start, traces } = collect()
    Spans.end(start("execute_tool quiet", { sampled: false }))
    collector.close()
    assert.lengthOf(traces, 0)
  })

  it("counts the events of a span, and keeps those of tool calls", () => {
    const { start, traces } = collect()
    const span = start("work")
    span.event("one", 1n)
    span.event("toolspan.tool.not_started", 2n, { "gen_ai.tool.name": "t" })
    span.event("two", 2n)
    Spans.end(span)
    const events = traces[0]?.roots[0]?.span.events
    assert.strictEqual(events?.otherCount, 2)
    assert.deepStrictEqual(
      events?.ofTools.map(({ kind, toolName }) => [kind, toolName]),
      [["notStarted", "t"]]
    )
  })

  it("shows decisions together with the calls that they let run, in a trace that was given out", () => {
    const { start, traces } = collect()
    const asking = Tracer.externalSpan({ traceId: "t", spanId: "p" })
    const turn = start("turn")
    Spans.end(start("tool_approval pay", { parent: asking }))
    Spans.end(start("tool_approval book", { parent: asking, start: 1 }))
    assert.deepStrictEqual(shapes(traces), [])
    Spans.end(start("execute_tool pay", { parent: asking, start: 2 }), 3)
    assert.deepStrictEqual(shapes(traces), ["tool_approval pay tool_approval book execute_tool pay"])
    Spans.end(turn)
    assert.lengthOf(traces, 2)
  })

  it("shows a decision that lets nothing run before the next trace, and at once where nothing runs", () => {
    const { collector, start, traces } = collect()
    const decide = (traceId: string) =>
      Spans.end(start("tool_approval pay", { parent: Tracer.externalSpan({ traceId, spanId: "p" }) }))
    decide("t")
    assert.lengthOf(traces, 1)
    const turn = start("turn")
    decide("u")
    decide("v")
    assert.lengthOf(traces, 1)
    Spans.end(turn)
    const last = start("last")
    decide("w")
    collector.close()
    Spans.end(last)
    assert.deepStrictEqual(
      traces.map(({ traceId }) => traceId),
      ["t", "u", "v", turn.traceId, "w", last.traceId]
    )
  })

  it("knows the tool calls that are running", () => {
    const { collector, start } = collect()
    const root = start("invoke_agent a")
    const call = start("execute_tool t", { parent: root })
    assert.deepStrictEqual(Array.from(collector.running), [call])
    Spans.end(call)
    assert.strictEqual(collector.running.size, 0)
  })

  it("gives out open traces as they are when closed, and nothing after that", () => {
    const { collector, start, traces } = collect()
    const root = start("root")
    const open = start("execute_tool open", { parent: root })
    Spans.end(start("done", { parent: root, start: 1 }))
    collector.close()
    assert.deepStrictEqual(shapes(traces), ["root?(execute_tool open? done)"])
    assert.strictEqual(traces[0]?.shownAt, 99n)
    assert.strictEqual(collector.running.size, 0)
    Spans.end(open)
    Spans.end(root)
    Spans.end(start("after"))
    collector.close()
    assert.lengthOf(traces, 1)
  })

  it("keeps the first spans of a very large trace and counts the rest", () => {
    const { start, traces } = collect({ spansPerTrace: 3, openTraces: 9, knownTraces: 9 })
    const root = start("root")
    for (const name of ["a", "b", "c", "d"]) Spans.end(start(name, { parent: root }))
    Spans.end(root)
    assert.deepStrictEqual(shapes(traces), ["root(a b)"])
    assert.strictEqual(traces[0]?.hiddenCount, 2)
  })

  it("gives out the oldest trace when too many are open, and its spans again as they end", () => {
    const { start, traces } = collect({ spansPerTrace: 9, openTraces: 2, knownTraces: 9 })
    const oldest = start("oldest")
    const child = start("child", { parent: oldest })
    const second = start("second")
    const third = start("third")
    assert.deepStrictEqual(shapes(traces), ["oldest?(child?)"])
    Spans.end(child)
    Spans.end(second)
    Spans.end(oldest)
    Spans.end(third)
    assert.deepStrictEqual(shapes(traces), ["oldest?(child?)", "child", "second", "oldest", "third"])
    assert.deepStrictEqual(
      traces.map((trace) => trace.continued),
      [false, true, false, true, false]
    )
    assert.strictEqual(traces[1]?.roots[0]?.span.parentId, oldest.spanId)
  })

  it("forgets the oldest of very many traces that it gave out", () => {
    const { start, traces } = collect({ spansPerTrace: 9, openTraces: 9, knownTraces: 2 })
    const [a, b, c] = [start("a"), start("b"), start("c")]
    for (const root of [a, b, c]) Spans.end(root)
    for (const parent of [b, c, a]) Spans.end(start("late", { parent }))
    assert.deepStrictEqual(
      traces.slice(3).map((trace) => trace.continued),
      [true, true, false]
    )
  })

  it("does not wait for the end of a span that cannot be listened to", () => {
    const { collector, start, traces } = collect()
    const root = start("root")
    const frozen = Spans.start("frozen", { parent: root })
    assert.notStrictEqual(frozen.traceId, frozen.spanId)
    collector.started(Object.freeze(frozen))
    Spans.end(root)
    assert.deepStrictEqual(shapes(traces), ["root"])
  })

  it("shows every span that ended exactly once as ended, in any order of starts and ends", () => {
    const step = fc.record({ end: fc.boolean(), pick: fc.nat(), root: fc.boolean() })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 4 }), (steps, openTraces) => {
        const { collector, start, traces } = collect({ spansPerTrace: 1000, openTraces, knownTraces: 1000 })
        const all: Array<Tracer.NativeSpan> = []
        for (const { end, pick, root } of steps) {
          const picked = all[pick % Math.max(1, all.length)]
          if (end && picked) picked.end(1n, Exit.void)
          else all.push(start(`${all.length}`, root || !picked ? {} : { parent: picked }))
        }
        collector.close()
        const shown = traces.flatMap((trace) => Array.from(Trace.spans(trace.roots)))
        const states = (name: string) => shown.filter((span) => span.name === name).map((span) => span.state)
        for (const span of all) {
          const ended = states(span.name).filter((state) => state === "success")
          assert.lengthOf(ended, span.status._tag === "Ended" ? 1 : 0)
          assert.isAtLeast(states(span.name).length, 1)
        }
      })
    )
  })
})
