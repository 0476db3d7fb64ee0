/**
 * toolspan: OpenTelemetry for AI tool calls. This entry needs only `effect`.
 */
export * as ContentPolicy from "./content/ContentPolicy.ts"
export * as ToolkitInstrumentation from "./instrumentation/ToolkitInstrumentation.ts"
export * as Origin from "./propagation/Origin.ts"
export * as Attributes from "./semconv/Attributes.ts"
