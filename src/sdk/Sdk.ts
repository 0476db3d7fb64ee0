/**
 * Telemetry for a program, in one layer.
 *
 * What goes where is said by OpenTelemetry's own variables: `OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_SERVICE_NAME`, `OTEL_TRACES_SAMPLER` and
 * all the others mean what their documentation says, because `@opentelemetry/sdk-node` reads them. With none set, spans, metrics and
 * logs go to `http://localhost:4318` as OTLP/HTTP with JSON.
 *
 * The packages of OpenTelemetry are loaded when a layer is built, not when this module is.
 */
import type { OtelTracer } from "@effect/opentelemetry/OtelTracer"
import type { Resource } from "@effect/opentelemetry/Resource"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as MissingPackage from "./MissingPackage.ts"
import type { Options } from "./Options.ts"

export type { Options } from "./Options.ts"

/**
 * Turns telemetry on for as long as the layer lives.
 *
 * - Effect's spans become OpenTelemetry spans, its metrics and logs leave with OpenTelemetry's; other loggers stay. In the code of a
 *   span, also behind promises and timers, that span is the active one, so that spans made with the plain OpenTelemetry API belong
 *   under it.
 * - At the end everything is delivered, within `shutdownTimeout`. A dead, refusing or hanging endpoint never fails or slows the program;
 *   what is lost is counted in `toolspan.telemetry.dropped`.
 * - It prints nothing, unless `OTEL_*_EXPORTER=console` or `OTEL_LOG_LEVEL` asks for it. With `OTEL_SDK_DISABLED=true` it does nothing.
 * - If another OpenTelemetry SDK is registered already, it is {@link layerTracer}, with a warning on OpenTelemetry's diagnostics. So is a
 *   second one of these while the first is open: the first owns the set-up, and takes it along when it closes. Build one for a process.
 *
 * Dies, with a message that says what to do, on a bad option and on a package that is not installed.
 */
export const layer = (options: Options = {}): Layer.Layer<OtelTracer | Resource> =>
  Layer.unwrap(
    Effect.map(
      MissingPackage.load(() => import("./NodeSdk.ts")),
      (sdk) => sdk.layer(options)
    )
  )

/**
 * Effect's spans on the OpenTelemetry provider that your own set-up registered. Needs `@opentelemetry/api` and
 * `@effect/opentelemetry`; build it after the set-up.
 */
export const layerTracer: Layer.Layer<OtelTracer> = Layer.unwrap(
  Effect.map(
    MissingPackage.load(() => import("./Tracer.ts")),
    (tracer) => tracer.layer()
  )
)
