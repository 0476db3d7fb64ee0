/**
 * The embedded default: traces as trees in the terminal, with nothing else installed or running.
 *
 * A tracer that hands every span to the tracer beneath and prints each trace when its last span has ended. It sees the spans that are
 * made through Effect, not those that other libraries make with the OpenTelemetry API. It prints arguments and results as the spans hold
 * them, captured by the content policy or not at all; of the errors of other spans it masks what looks like a secret.
 *
 * ```ts
 * program.pipe(Effect.provide(Terminal.layer()))
 * // with a tracer beneath:
 * program.pipe(Effect.provide(Terminal.layer().pipe(Layer.provideMerge(NodeSdk.layer(…)))))
 * ```
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Tracer from "effect/Tracer"
import { type Options, validate } from "./Options.ts"
import * as Output from "./Output.ts"
import * as Process from "./Process.ts"
import { Progress } from "./Progress.ts"
import { quietly } from "./Quietly.ts"
import { SpanCollector } from "./SpanCollector.ts"
import * as TreeRenderer from "./TreeRenderer.ts"

export type { Options } from "./Options.ts"

/**
 * Prints each finished trace as a tree, and delegates to the tracer of the context that the layer is built in (Effect's own if there is
 * none). A trace that is not finished when the layer is released is printed as it is. Dies with an `Error` that names the option where
 * one is not valid.
 */
export const layer = (options: Options = {}): Layer.Layer<never> =>
  Layer.effect(
    Tracer.Tracer,
    Effect.gen(function* () {
      validate(options)
      const { color = "auto", columns, progress = "auto" } = options
      const stream = options.stream ?? Process.standardError()
      if (stream === undefined) {
        throw new Error('Terminal.layer: no process.stderr here; give the option "stream"')
      }
      const output = Output.make(stream, { color, columns, environment: Process.environment() })
      const base = yield* Tracer.Tracer
      const clock = yield* Clock.Clock
      const now = () => clock.currentTimeNanosUnsafe()
      const collector = new SpanCollector({
        now,
        onTrace: (trace) =>
          quietly(() => {
            running?.clear()
            const lines = TreeRenderer.render(trace, { columns: output.columns(), color: output.color })
            // The empty line also ends a line that the program has begun.
            output.write(`\n${lines.join("\n")}\n`)
          })
      })
      const running =
        progress === false
          ? undefined
          : new Progress({
              output,
              redraw: progress === true || output.redraws,
              now,
              running: collector.running
            })
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          running?.close()
          collector.close()
        })
      )
      return observed(base, (span) => {
        collector.started(span)
        if (collector.running.size > 0) running?.started()
      })
    })
  )

/** The tracer beneath, unchanged but for somebody who sees each span once it has started. */
const observed = (base: Tracer.Tracer, started: (span: Tracer.Span) => void): Tracer.Tracer =>
  Tracer.make({
    context: base.context,
    span(options) {
      const span = base.span(options)
      quietly(() => started(span))
      return span
    }
  })
