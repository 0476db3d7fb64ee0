/**
 * An OpenTelemetry set-up in memory, registered globally for the length of a scope, as a program's own would be.
 */
import * as Otel from "@opentelemetry/api"
import { tracing } from "@opentelemetry/sdk-node"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

export interface Tracing {
  /** All ended spans, in the order of their ends. */
  readonly ended: () => ReadonlyArray<tracing.ReadableSpan>
  /** The one ended span of this name. */
  readonly named: (name: string) => tracing.ReadableSpan
}

export const make = (
  options: {
    readonly contextManager?: Otel.ContextManager
    readonly sampler?: tracing.Sampler
    readonly spanProcessors?: Array<tracing.SpanProcessor>
  } = {}
): Effect.Effect<Tracing, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const exporter = new tracing.InMemorySpanExporter()
      const provider = new tracing.BasicTracerProvider({
        ...(options.sampler && { sampler: options.sampler }),
        spanProcessors: [...(options.spanProcessors ?? []), new tracing.SimpleSpanProcessor(exporter)]
      })
      Otel.trace.setGlobalTracerProvider(provider)
      if (options.contextManager) Otel.context.setGlobalContextManager(options.contextManager.enable())
      const ended = () => exporter.getFinishedSpans()
      return {
        ended,
        named: (name: string) => {
          const [found, ...others] = ended().filter((span) => span.name === name)
          if (found === undefined || others.length > 0) {
            throw new Error(`${others.length + (found ? 1 : 0)} spans named ${name} instead of one`)
          }
          return found
        }
      }
    }),
    () =>
      Effect.sync(() => {
        Otel.trace.disable()
        Otel.context.disable()
      })
  )
