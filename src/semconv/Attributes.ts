/**
 * The attribute, event and span names that toolspan emits.
 *
 * `gen_ai.*` and `error.type` follow the OpenTelemetry GenAI conventions (schema URL
 * `https://opentelemetry.io/schemas/gen-ai-dev/1.42.0-dev`; a test checks each name and type against the registry).
 * `toolspan.*` is ours. A change of the conventions is one diff, here. Instruments are in `Instruments.ts`.
 */

/** Name of the operation; always {@link OPERATION_EXECUTE_TOOL} on a tool span. */
export const ATTR_GEN_AI_OPERATION_NAME = "gen_ai.operation.name"
/** Name of the tool, as its toolkit knows it. */
export const ATTR_GEN_AI_TOOL_NAME = "gen_ai.tool.name"
/** `function` (client code runs it), `extension` (the provider runs it), or what the tool says. */
export const ATTR_GEN_AI_TOOL_TYPE = "gen_ai.tool.type"
/** The tool's description for the model. Content: only when the policy allows. */
export const ATTR_GEN_AI_TOOL_DESCRIPTION = "gen_ai.tool.description"
/** Id of the tool call, made by the model. Only when one was given. */
export const ATTR_GEN_AI_TOOL_CALL_ID = "gen_ai.tool.call.id"
/** The call's parameters, as the text of a JSON object. Content. */
export const ATTR_GEN_AI_TOOL_CALL_ARGUMENTS = "gen_ai.tool.call.arguments"
/** The encoded result of a successful call, as the text of a JSON object. Content. */
export const ATTR_GEN_AI_TOOL_CALL_RESULT = "gen_ai.tool.call.result"
/** Name of the agent that called. */
export const ATTR_GEN_AI_AGENT_NAME = "gen_ai.agent.name"
/** Id of the conversation that the call belongs to. Never on a metric. */
export const ATTR_GEN_AI_CONVERSATION_ID = "gen_ai.conversation.id"
/** Class of the failure, low in cardinality; {@link OTHER} where none is known. */
export const ATTR_ERROR_TYPE = "error.type"

/** How the call ended: one of {@link ToolOutcome}. On every tool span. */
export const ATTR_TOOLSPAN_TOOL_OUTCOME = "toolspan.tool.outcome"
/** Where a failure came from: `parameters`, `handler` or `result`. */
export const ATTR_TOOLSPAN_TOOL_FAILURE_ORIGIN = "toolspan.tool.failure.origin"
/** How many preliminary results the call gave; absent when none. */
export const ATTR_TOOLSPAN_TOOL_PRELIMINARY_COUNT = "toolspan.tool.preliminary.count"
/** Which attempt at the same call this is, from 1; absent where nobody counts. */
export const ATTR_TOOLSPAN_TOOL_ATTEMPT = "toolspan.tool.attempt"
/** Id of the approval that let this call run. */
export const ATTR_TOOLSPAN_APPROVAL_ID = "toolspan.approval.id"
/** Which content was cut to its cap: one `{name}:{bytes}` each, with the original size in bytes (at least). */
export const ATTR_TOOLSPAN_CONTENT_TRUNCATED = "toolspan.content.truncated"
/** Content of a preliminary result, on the event {@link EVENT_TOOLSPAN_PRELIMINARY}. */
export const ATTR_TOOLSPAN_PRELIMINARY_RESULT = "toolspan.preliminary.result"
/** Why telemetry was dropped: one of {@link DroppedReason}. On the counter only. */
export const ATTR_TOOLSPAN_DROPPED_REASON = "toolspan.dropped.reason"

/** Event on a tool span: the handler gave a preliminary result. At most {@link PRELIMINARY_EVENT_LIMIT} a span. */
export const EVENT_TOOLSPAN_PRELIMINARY = "toolspan.preliminary"
/** How many preliminary results become events; the rest are only counted. */
export const PRELIMINARY_EVENT_LIMIT = 16

/** Value of `gen_ai.operation.name` and first word of the span name. */
export const OPERATION_EXECUTE_TOOL = "execute_tool"
/** Value of `gen_ai.operation.name` and first word of the span name of an agent's run. */
export const OPERATION_INVOKE_AGENT = "invoke_agent"
/** Value of `gen_ai.tool.type` for a tool that the client runs. */
export const TOOL_TYPE_FUNCTION = "function"
/** Stands for every value that has no bounded name: unknown tools on metrics, errors without a class. */
export const OTHER = "_OTHER"

/** How a call of `handle` ended. */
export type ToolOutcome =
  | "success"
  | "failure"
  | "invalid_arguments"
  | "invalid_result"
  | "defect"
  | "unknown_tool"
  | "cancelled"
  | "abandoned"

/** Why a piece of telemetry was dropped. */
export type DroppedReason = "serialization" | "hook_failed" | "queue_full" | "export_failed"
