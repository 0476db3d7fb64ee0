/**
 * Attributes that a span should have when it is created, so that a sampler sees them.
 *
 * Effect's `Tracer.span` takes no attributes. Whoever opens a span hands them over in the span's annotations under
 * {@link InitialAttributes}; the tracer of the `sdk/` room takes them from there. Other tracers do not, and get the attributes right
 * after the start.
 */
import * as Context from "effect/Context"

/** Attributes for the creation of one span. */
export class StartAttributes {
  readonly attributes: Readonly<Record<string, string | number | boolean>>
  /** Whether a tracer made the span with them. */
  taken = false

  constructor(attributes: Readonly<Record<string, string | number | boolean>>) {
    this.attributes = attributes
  }
}

/** The annotation that carries them. */
export class InitialAttributes extends Context.Service<InitialAttributes, StartAttributes>()(
  "toolspan/semconv/InitialAttributes"
) {}
