/**
 * Attributes that a span should have when it is created, so that a sampler sees them.
 *
 * Effect's `Tracer.span` takes no attributes. The instrumentation hands them over in the span's annotations under
 * {@link InitialAttributes}; the tracer of the `sdk/` room reads them there. Other tracers do not, and get the attributes right after
 * the start.
 */
import * as Context from "effect/Context"

/** Attributes for the creation of a span. */
export class InitialAttributes extends Context.Service<
  InitialAttributes,
  Readonly<Record<string, string | number | boolean>>
>()("toolspan/semconv/InitialAttributes") {}
