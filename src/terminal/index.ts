/**
 * Traces as trees in the terminal: `Terminal.layer()`. Needs `effect` alone.
 */
export * as Terminal from "./Terminal.ts"
