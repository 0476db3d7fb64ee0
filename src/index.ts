/**
 * toolspan: OpenTelemetry for AI tool calls. This entry needs `effect` alone.
 */
export * as ContentPolicy from "./content/ContentPolicy.ts"
export * as SensitiveSchema from "./content/SensitiveSchema.ts"
export * as ToolkitInstrumentation from "./instrumentation/ToolkitInstrumentation.ts"
export * as Origin from "./propagation/Origin.ts"
export * as Attributes from "./semconv/Attributes.ts"
export * as Instruments from "./semconv/Instruments.ts"
