/**
 * toolspan: OpenTelemetry for AI tool calls. This entry needs `effect` alone.
 */
export * as ContentPolicy from "./content/ContentPolicy.ts"
export * as SensitiveSchema from "./content/SensitiveSchema.ts"
export * as LanguageModelInstrumentation from "./instrumentation/LanguageModelInstrumentation.ts"
export * as ToolkitInstrumentation from "./instrumentation/ToolkitInstrumentation.ts"
export * as Approval from "./propagation/Approval.ts"
export * as Origin from "./propagation/Origin.ts"
export * as ToolCallContext from "./propagation/ToolCallContext.ts"
export * as TraceContext from "./propagation/TraceContext.ts"
export * as Attributes from "./semconv/Attributes.ts"
export * as Instruments from "./semconv/Instruments.ts"
