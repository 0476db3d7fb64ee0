/**
 * The W3C `tracestate` of a span of another process, as text.
 *
 * Effect's spans have no place for it. Whoever makes an external span from a carrier puts the text into its annotations under
 * {@link TraceState}; the `sdk/` room hands it on to OpenTelemetry. Other tracers leave it alone.
 */
import * as Context from "effect/Context"

/** The annotation that carries it: up to 512 printable ASCII characters. */
export class TraceState extends Context.Service<TraceState, string>()("toolspan/semconv/TraceState") {}
