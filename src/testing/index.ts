/**
 * Test kit: a scripted language model, recorded spans, and the assertion that a trace is the expected one and nothing else.
 *
 * Needs `effect` alone and works with every test runner.
 */
export type * as ExpectedTree from "./ExpectedTree.ts"
export * as RecordedSpan from "./RecordedSpan.ts"
export * as RecordedSpans from "./RecordedSpans.ts"
export * as ScriptedModel from "./ScriptedModel.ts"
