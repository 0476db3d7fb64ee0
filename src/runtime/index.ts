/**
 * The tool-calling runtime: agents that survive crashes, ask before they act, and never act twice. Needs `effect` alone.
 */
export * as Agent from "./Agent.ts"
export * as AgentError from "./AgentError.ts"
export * as AgentEvent from "./AgentEvent.ts"
export * as AgentRuntime from "./AgentRuntime.ts"
export type { Approval } from "./ApprovalRecord.ts"
export * as Approvals from "./Approvals.ts"
export * as DurableRuntime from "./DurableRuntime.ts"
export * as MemoryRunStore from "./MemoryRunStore.ts"
export * as Outcome from "./Outcome.ts"
export * as RunStore from "./RunStore.ts"
export * as SqlRunStore from "./SqlRunStore.ts"
export * as UnknownCalls from "./UnknownCalls.ts"
