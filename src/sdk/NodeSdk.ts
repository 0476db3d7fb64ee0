/**
 * Turns telemetry on: `NodeSDK` of `@opentelemetry/sdk-node` with pipelines and a context manager of ours, and Effect's tracer, metrics
 * and logs connected to it.
 *
 * NodeSDK does sampler, span limits, propagators, the log level of the diagnostics and all registration. `Sdk.ts` is the public face.
 */
import * as OtelLogger from "@effect/opentelemetry/OtelLogger"
import type { OtelTracer } from "@effect/opentelemetry/OtelTracer"
import { Resource, layerEmpty as resourceLayerEmpty } from "@effect/opentelemetry/Resource"
import { DiagConsoleLogger, diag } from "@opentelemetry/api"
import { logs as logsApi } from "@opentelemetry/api-logs"
import { core, NodeSDK } from "@opentelemetry/sdk-node"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { EnterableContextManager } from "./ContextManager.ts"
import * as Dropped from "./Dropped.ts"
import * as Globals from "./Globals.ts"
import * as Options from "./Options.ts"
import * as Pipelines from "./Pipelines.ts"
import * as Requests from "./Requests.ts"
import * as SdkResource from "./SdkResource.ts"
import * as Shutdown from "./Shutdown.ts"
import * as Signals from "./Signals.ts"
import * as Tracer from "./Tracer.ts"

/** The layer of `Sdk.layer`. Dies on a bad option. */
export const layer = (options: Options.Options): Layer.Layer<OtelTracer | Resource> =>
  Layer.unwrap(
    Effect.gen(function* () {
      Options.validate(options)
      if (core.getBooleanFromEnv("OTEL_SDK_DISABLED")) {
        return Layer.merge(Tracer.layerOtelTracer, resourceLayerEmpty)
      }
      if (Globals.isTracing()) {
        diag.warn(
          "toolspan: an OpenTelemetry SDK is registered already; spans go there, and nothing else is set up"
        )
        return Layer.merge(Tracer.layer(), resourceLayerEmpty)
      }
      const resource = SdkResource.make(options)
      const { logRecords, manager, spans } = yield* start(options).pipe(
        Effect.provideService(Resource, resource)
      )
      return Layer.mergeAll(
        spans.stages.length > 0 ? Tracer.layer(manager) : Tracer.layerOtelTracer,
        logRecords.stages.length > 0 ? layerLogger : Layer.empty,
        Layer.succeed(Resource, resource)
      )
    })
  )

const start = Effect.fnUntraced(function* (options: Options.Options) {
  const millis = Duration.toMillis(options.shutdownTimeout ?? "5 seconds")
  const count = Dropped.count(yield* Effect.context<never>())
  const requests = Requests.make()
  const stopDiagnostics = yield* Effect.acquireRelease(Effect.sync(startDiagnostics), (stop) =>
    Effect.sync(stop)
  )

  const spans = yield* Pipelines.spans(requests, count, options.spanProcessors ?? [])
  const logRecords = yield* Pipelines.logRecords(requests, count)
  const measures = yield* Pipelines.measures(requests)
  const resource = yield* Resource

  const { manager, running } = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const manager = new EnterableContextManager()
      // NodeSDK sets the diagnostics again, and warns where they are set already.
      stopDiagnostics()
      const sdk = new NodeSDK({
        resource,
        autoDetectResources: false,
        contextManager: manager,
        spanProcessors: spans.stages,
        logRecordProcessors: logRecords.stages,
        metricReaders: measures.stages
      })
      const unregister = Globals.registering(manager, () => sdk.start())
      return { manager, running: { requests, spans, logRecords, measures }, unregister }
    }),
    ({ running, unregister }) =>
      Effect.ignoreCause(Effect.promise(() => Shutdown.shutdown(running, millis))).pipe(
        Effect.andThen(Effect.sync(unregister))
      )
  )
  if (options.handleSignals === true) {
    yield* Effect.acquireRelease(
      Effect.sync(() => Signals.reraiseAfter(() => Shutdown.flush(running, millis))),
      (stop) => Effect.sync(stop)
    )
  }
  return { spans, logRecords, ...(Globals.isActive(manager) && { manager }) }
})

/** `OTEL_LOG_LEVEL` while the exporters are made, before NodeSDK reads it. Returns how to turn it off. */
const startDiagnostics = (): (() => void) => {
  const level = core.getStringFromEnv("OTEL_LOG_LEVEL")
  if (level === undefined) return () => undefined
  const logLevel = core.diagLogLevelFromString(level)
  diag.setLogger(new DiagConsoleLogger(), { ...(logLevel !== undefined && { logLevel }) })
  return () => diag.disable()
}

/** Effect's logs as OpenTelemetry log records, next to whatever loggers there are. A record that cannot be made is left out. */
const layerLogger = Logger.layer(
  [
    Effect.map(OtelLogger.make, (logger) =>
      Logger.make((options) => {
        try {
          logger.log(options)
        } catch (error) {
          diag.error("toolspan: a log record could not be made", error)
        }
      })
    )
  ],
  { mergeWithExisting: true }
).pipe(
  Layer.provide(
    Layer.sync(
      OtelLogger.OtelLoggerProvider,
      // Upstream names the SDK's class but uses no more of it than the API has.
      () => logsApi.getLoggerProvider() as typeof OtelLogger.OtelLoggerProvider.Service
    )
  )
)
