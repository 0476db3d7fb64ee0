/**
 * toolspan/sdk: get telemetry out of a Node program. Needs the optional peer dependencies of OpenTelemetry.
 */
export * as Sdk from "./Sdk.ts"
