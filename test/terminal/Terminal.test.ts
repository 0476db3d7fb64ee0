import * as OtelTracer from "@effect/opentelemetry/OtelTracer"
import { afterEach, assert, describe, it, vi } from "@effect/vitest"
import { tracing } from "@opentelemetry/sdk-node"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Tracer from "effect/Tracer"
import * as TestClock from "effect/testing/TestClock"
import { Terminal } from "../../src/terminal/index.ts"
import { INTERVAL } from "../../src/terminal/Progress.ts"
import { Screen } from "./Screen.ts"

/** A stream that keeps what is printed to it. */
const recording = () => {
  const stream = { text: "", write: (text: string) => (stream.text += text) }
  return stream
}

/** What was printed, without what differs from run to run. */
const printed = ({ text }: { readonly text: string }) =>
  text
    .replaceAll(/[0-9a-f]{32}/g, "<trace>")
    .replaceAll(/[0-9a-f]{16}/g, "<span>")
    .trim()

const toolCall = (name: string, callId: string) => ({
  attributes: {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": name,
    "gen_ai.tool.call.id": callId,
    "gen_ai.tool.call.arguments": `{"name":"${callId}"}`
  }
})

const agent = Effect.gen(function* () {
  yield* Effect.sleep(200)
  yield* Effect.all(
    [
      Effect.sleep(100).pipe(Effect.withSpan("execute_tool list_files", toolCall("list_files", "call_1"))),
      Effect.sleep(300).pipe(
        Effect.andThen(Effect.fail(new TypeError("no such file"))),
        Effect.withSpan("execute_tool read_file", toolCall("read_file", "call_2")),
        Effect.ignore
      ),
      Effect.never.pipe(
        Effect.withSpan("execute_tool fetch", toolCall("fetch", "call_3")),
        Effect.timeoutOption(600)
      )
    ],
    { concurrency: "unbounded" }
  ).pipe(Effect.withSpan("LanguageModel.generateText", { kind: "client" }))
}).pipe(Effect.withSpan("invoke_agent researcher"))

/** Runs the effect while the test clock goes on by itself. */
const inTime = <A, E, R>(effect: Effect.Effect<A, E, R>, duration = 1000) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(effect)
    yield* TestClock.adjust(duration)
    return yield* Fiber.join(fiber)
  })

const print = (stream: ReturnType<typeof recording>) =>
  Terminal.layer({ stream, columns: 80, progress: false })

afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

describe("Terminal.layer", () => {
  it.effect("prints the trace of an agent when it has ended", () =>
    Effect.gen(function* () {
      const stream = recording()
      yield* inTime(agent).pipe(Effect.provide(print(stream)))
      assert.strictEqual(
        printed(stream),
        `
invoke_agent researcher · 800 ms · 5 spans · 3 tool calls, 1 failed
trace <trace>
✓ invoke_agent researcher                           800 ms  ████████████████████
└─ ✓ LanguageModel.generateText                     600 ms       ███████████████
   ├─ ✓ list_files call_1 {"name":"call_1"}         100 ms       ██▌
   ├─ ✗ read_file call_2 {"name":"call_2"}          300 ms       ███████▌
   │    ! TypeError: no such file
   └─ ⊘ fetch call_3 {"name":"call_3"}              600 ms       ███████████████`.slice(1)
      )
    })
  )

  it.effect("prints each trace by itself, after an empty line", () =>
    Effect.gen(function* () {
      const stream = recording()
      yield* Effect.void
        .pipe(Effect.withSpan("first"), Effect.andThen(Effect.void.pipe(Effect.withSpan("second"))))
        .pipe(Effect.provide(print(stream)))
      assert.match(stream.text, /^\nfirst · .*\n✓ first .*\n\nsecond · .*\n✓ second .*\n$/)
    })
  )

  it.effect("does not print a tree into a line that the program has begun", () =>
    Effect.gen(function* () {
      const screen = new Screen(80, 30)
      screen.write("thinking…")
      yield* Effect.void.pipe(
        Effect.withSpan("root"),
        Effect.provide(Terminal.layer({ stream: screen, color: false }))
      )
      assert.match(screen.text, /^thinking…\nroot · /)
    })
  )

  it.effect("prints what starts after its trace was printed, as its continuation", () =>
    Effect.gen(function* () {
      const stream = recording()
      const gate = yield* Deferred.make<void>()
      yield* Effect.gen(function* () {
        const late = yield* Deferred.await(gate).pipe(
          Effect.andThen(Effect.void.pipe(Effect.withSpan("late"))),
          Effect.forkDetach,
          Effect.withSpan("root")
        )
        yield* Deferred.succeed(gate, undefined)
        yield* Fiber.join(late)
      }).pipe(Effect.provide(print(stream)))
      const [, continuation] = printed(stream).split("\n\n")
      assert.match(
        continuation ?? "",
        /^late · 0 ns · 1 span · continued · trace <trace>\n✓ late .*\n {2}↖ parent span <span>, not in this tree$/
      )
    })
  )

  it.effect("prints a trace that does not end when it is released itself", () =>
    Effect.gen(function* () {
      const stream = recording()
      const span = yield* Effect.makeSpan("never ended").pipe(
        Effect.tap(() => TestClock.adjust(1500)),
        Effect.provide(print(stream))
      )
      assert.match(
        printed(stream),
        /^never ended · 1.5 s · 1 span · unfinished\n.*\n… never ended \(unfinished\) +1.5 s/
      )
      const before = stream.text
      span.end(0n, Exit.void)
      assert.strictEqual(stream.text, before)
    })
  )

  it.effect("prints nothing of spans that are not sampled", () =>
    Effect.gen(function* () {
      const stream = recording()
      const remote = Tracer.externalSpan({
        traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
        spanId: "00f067aa0ba902b7",
        sampled: false
      })
      yield* Effect.void.pipe(
        Effect.withSpan("child"),
        Effect.withSpan("root", { parent: remote }),
        Effect.provide(print(stream))
      )
      assert.strictEqual(stream.text, "")
    })
  )

  it.effect("prints to standard error unless told otherwise", () =>
    Effect.gen(function* () {
      const write = vi.spyOn(process.stderr, "write").mockReturnValue(true)
      yield* Effect.void.pipe(Effect.withSpan("root"), Effect.provide(Terminal.layer({ color: false })))
      assert.include(String(write.mock.calls[0]?.[0]), "✓ root")
    })
  )

  it.effect("dies with the name of an option that is not valid", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(Effect.provide(Effect.void, Terminal.layer({ columns: 0 })))
      assert.isTrue(Exit.hasDies(exit))
      assert.include(String(exit), 'option "columns" is 0')
    })
  )
})

describe("A program under Terminal.layer", () => {
  it.effect("gets what it gets without, from a stream that throws too", () =>
    Effect.gen(function* () {
      const stream = {
        write() {
          throw new Error("terminal on fire")
        }
      }
      const fails = Effect.flip(Effect.fail("no").pipe(Effect.withSpan("fails")))
      const succeeds = Effect.succeed(1).pipe(Effect.withSpan("succeeds"))
      const results = yield* Effect.all([fails, succeeds]).pipe(Effect.provide(Terminal.layer({ stream })))
      assert.deepStrictEqual(results, ["no", 1])
    })
  )

  it.effect("has the very spans of the tracer beneath, and its context hook", () =>
    Effect.gen(function* () {
      const made: Array<Tracer.Span> = []
      let entered = 0
      const base: Tracer.Tracer = {
        span(options) {
          assert.strictEqual(this, base)
          const span = new Tracer.NativeSpan(options)
          made.push(span)
          return span
        },
        context: (primitive, fiber) => {
          entered++
          return primitive["~effect/Effect/evaluate"](fiber)
        }
      }
      const seen = yield* Effect.currentSpan.pipe(
        Effect.withSpan("root"),
        Effect.provide(print(recording())),
        Effect.withTracer(base)
      )
      assert.strictEqual(seen, made[0])
      assert.isAbove(entered, 0)
    })
  )

  const exported = (print: Layer.Layer<never>) =>
    Effect.gen(function* () {
      const exporter = new tracing.InMemorySpanExporter()
      const provider = new tracing.BasicTracerProvider({
        spanProcessors: [new tracing.SimpleSpanProcessor(exporter)]
      })
      const program = Effect.gen(function* () {
        const otelSpan = yield* OtelTracer.currentOtelSpan
        otelSpan.setAttribute("set.through.otel", true)
        const span = yield* Effect.currentSpan
        span.addLinks([
          { span: Tracer.externalSpan({ traceId: "1".repeat(32), spanId: "2".repeat(16) }), attributes: {} }
        ])
        span.event("happened", 5n, { key: "value" })
        yield* Effect.annotateCurrentSpan("annotated", "yes")
        yield* Effect.fail(new TypeError("no")).pipe(Effect.withSpan("fails"), Effect.ignore)
        yield* Effect.interrupt.pipe(Effect.withSpan("interrupted"), Effect.exit)
        return otelSpan.constructor.name
      }).pipe(Effect.withSpan("inner", { kind: "client", attributes: { given: 1 } }), Effect.withSpan("root"))
      const spanClass = yield* program.pipe(
        Effect.provide(
          print.pipe(
            Layer.provideMerge(OtelTracer.layer),
            Layer.provide(Layer.succeed(OtelTracer.OtelTracerProvider, provider))
          )
        )
      )
      const spans = exporter.getFinishedSpans()
      const nameOf = (spanId: string | undefined) =>
        spans.find((span) => span.spanContext().spanId === spanId)?.name
      return {
        spanClass,
        spans: spans.map((span) => ({
          name: span.name,
          kind: span.kind,
          parent: nameOf(span.parentSpanContext?.spanId),
          attributes: span.attributes,
          status: span.status,
          links: span.links,
          events: span.events.map(({ name, time }) => ({ name, time }))
        }))
      }
    })

  it.effect("exports the same through OpenTelemetry, and has its current OpenTelemetry span", () =>
    Effect.gen(function* () {
      const stream = recording()
      const without = yield* exported(Layer.empty)
      const withTrees = yield* exported(print(stream))
      assert.lengthOf(without.spans, 4)
      assert.strictEqual(without.spanClass, "SpanImpl")
      assert.deepStrictEqual(withTrees, without)
      assert.match(
        printed(stream),
        /✓ root .*\n└─ ✓ inner \(1 event\) .*\n +│ ⇄ link to <span> in trace <trace>\n +├─ ✗ fails .*\n +│ +! TypeError: no\n +└─ ⊘ interrupted /
      )
    })
  )
})

describe("Running tool calls under Terminal.layer", () => {
  it.effect("are shown on a terminal until the trace is printed", () =>
    Effect.gen(function* () {
      vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] })
      const screen = new Screen(80, 30)
      yield* Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(agent)
        yield* TestClock.adjust(400)
        vi.advanceTimersByTime(INTERVAL)
        assert.strictEqual(screen.text, "\n⠋ read_file call_2  200 ms\n⠋ fetch call_3  200 ms")
        yield* TestClock.adjust(400)
        yield* Fiber.join(fiber)
      }).pipe(Effect.provide(Terminal.layer({ stream: screen, color: false })))
      assert.match(screen.text, /^\ninvoke_agent researcher · 800 ms/)
      assert.notInclude(screen.text, "⠋")
      assert.strictEqual(vi.getTimerCount(), 0)
    })
  )

  it.effect("are told elsewhere when they run for long", () =>
    Effect.gen(function* () {
      vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] })
      const stream = recording()
      yield* Effect.gen(function* () {
        yield* Effect.forkChild(
          Effect.never.pipe(Effect.withSpan("execute_tool fetch", toolCall("fetch", "call_1")))
        )
        yield* TestClock.adjust(2000)
        vi.advanceTimersByTime(INTERVAL)
        assert.strictEqual(stream.text, "… fetch call_1 running 2.0 s\n")
      }).pipe(Effect.provide(Terminal.layer({ stream })))
    })
  )

  it.effect("do not keep the process alive, and are not watched when progress is off", () =>
    Effect.gen(function* () {
      const timers = vi.spyOn(globalThis, "setInterval")
      const call = Effect.void.pipe(Effect.withSpan("execute_tool t"))
      yield* call.pipe(Effect.provide(print(recording())))
      assert.lengthOf(timers.mock.calls, 0)
      yield* call.pipe(Effect.provide(Terminal.layer({ stream: recording() })))
      assert.lengthOf(timers.mock.results, 1)
      assert.isFalse(timers.mock.results[0]?.value.hasRef())
    })
  )
})
