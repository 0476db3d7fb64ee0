/**
 * Effect's `Tracer` over the OpenTelemetry API.
 *
 * Knows no SDK: it works with whatever provider is registered. Where that came from is `NodeSdk.ts`, or the program's own set-up.
 */
import { OtelTracer } from "@effect/opentelemetry/OtelTracer"
import * as Otel from "@opentelemetry/api"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Tracer from "effect/Tracer"
import * as Version from "effect/Version"
import * as ActiveContext from "./ActiveContext.ts"
import type { EnterableContextManager } from "./ContextManager.ts"
import * as Dropped from "./Dropped.ts"
import { OtelSpan, type Source } from "./OtelSpan.ts"

/** Makes the tracer. `manager`: the global context manager, if it is one of ours. */
export const make = (source: Source, manager?: EnterableContextManager): Tracer.Tracer =>
  Tracer.make({
    span: (options) => new OtelSpan(source, options),
    context: manager ? ActiveContext.entering(manager) : ActiveContext.calling
  })

/** The service with a tracer of the global provider, under the name that upstream gives it. */
export const layerOtelTracer: Layer.Layer<OtelTracer> = Layer.sync(OtelTracer, () =>
  Otel.trace.getTracer("effect", Version.getCurrentVersion())
)

/** Makes spans of Effect on the global provider, and has the service too. */
export const layer = (manager?: EnterableContextManager): Layer.Layer<OtelTracer> =>
  Layer.effect(
    Tracer.Tracer,
    Effect.gen(function* () {
      const tracer = yield* OtelTracer
      const count = Dropped.count(yield* Effect.context<never>())
      return make({ tracer, dropped: () => count("serialization", 1) }, manager)
    })
  ).pipe(Layer.provideMerge(layerOtelTracer))
