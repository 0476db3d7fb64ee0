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
/** Why the model stopped, one reason a choice. */
export const ATTR_GEN_AI_RESPONSE_FINISH_REASONS = "gen_ai.response.finish_reasons"
/** Tokens of the prompt, cached ones included. */
export const ATTR_GEN_AI_USAGE_INPUT_TOKENS = "gen_ai.usage.input_tokens"
/** Tokens of the answer. */
export const ATTR_GEN_AI_USAGE_OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
/** Tokens of the prompt that were read from the provider's cache. */
export const ATTR_GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS = "gen_ai.usage.cache_read.input_tokens"
/** Tokens of the answer that the model thought with. */
export const ATTR_GEN_AI_USAGE_REASONING_OUTPUT_TOKENS = "gen_ai.usage.reasoning.output_tokens"
/** The latest messages that the model was given, as JSON. Content. */
export const ATTR_GEN_AI_INPUT_MESSAGES = "gen_ai.input.messages"
/** The message that the model answered with, as JSON. Content. */
export const ATTR_GEN_AI_OUTPUT_MESSAGES = "gen_ai.output.messages"
/** The system message, as JSON. Content. */
export const ATTR_GEN_AI_SYSTEM_INSTRUCTIONS = "gen_ai.system_instructions"
/** The tools that the model was given, with descriptions and parameters, as JSON. Content. */
export const ATTR_GEN_AI_TOOL_DEFINITIONS = "gen_ai.tool.definitions"
/** Class of the failure, low in cardinality; {@link OTHER} where none is known. */
export const ATTR_ERROR_TYPE = "error.type"
/** Class of an error, on the exception event of a failed span. */
export const ATTR_EXCEPTION_TYPE = "exception.type"
/** Text of an error, on the exception event of a failed span. Content. */
export const ATTR_EXCEPTION_MESSAGE = "exception.message"
/** Stack of an error, on the exception event of a failed span. Content. */
export const ATTR_EXCEPTION_STACKTRACE = "exception.stacktrace"

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
/** How an approval was decided: `approved`, `denied` or `expired`. */
export const ATTR_TOOLSPAN_APPROVAL_DECISION = "toolspan.approval.decision"
/** Who decided, as the application's own authentication knows them. */
export const ATTR_TOOLSPAN_APPROVAL_APPROVER = "toolspan.approval.approver"
/** Why it was decided so. Content. */
export const ATTR_TOOLSPAN_APPROVAL_REASON = "toolspan.approval.reason"
/** The provider ran the tool, not this program. */
export const ATTR_TOOLSPAN_TOOL_PROVIDER_EXECUTED = "toolspan.tool.provider_executed"
/** Which content was cut to its cap: one `{name}:{bytes}` each, with the original size in bytes (at least). */
export const ATTR_TOOLSPAN_CONTENT_TRUNCATED = "toolspan.content.truncated"
/** Content of a preliminary result, on the event {@link EVENT_TOOLSPAN_PRELIMINARY}. */
export const ATTR_TOOLSPAN_PRELIMINARY_RESULT = "toolspan.preliminary.result"
/** How a stretch of a run ended: one of {@link RunState}. On the span of an agent's run. */
export const ATTR_TOOLSPAN_RUN_STATE = "toolspan.run.state"
/** The stretch before this one was lost: its worker was killed, or could not go on. */
export const ATTR_TOOLSPAN_RUN_RECOVERED = "toolspan.run.recovered"
/** Why telemetry was dropped: one of {@link DroppedReason}. On the counter only. */
export const ATTR_TOOLSPAN_DROPPED_REASON = "toolspan.dropped.reason"

/** Event on a tool span: the handler gave a preliminary result. At most {@link PRELIMINARY_EVENT_LIMIT} a span. */
export const EVENT_TOOLSPAN_PRELIMINARY = "toolspan.preliminary"
/** How many preliminary results become events; the rest are only counted. */
export const PRELIMINARY_EVENT_LIMIT = 16

/** Event on the span of a turn: a tool call waits for a decision. With tool name, call id and approval id. */
export const EVENT_TOOLSPAN_APPROVAL_REQUESTED = "toolspan.approval.requested"
/** Event on the span of a turn: the answer ended, incomplete, before the call ran. With tool name and call id. */
export const EVENT_TOOLSPAN_TOOL_NOT_STARTED = "toolspan.tool.not_started"
/** Event on the span of a turn that was not streamed: the provider ran a tool. With tool name, call id and outcome. */
export const EVENT_TOOLSPAN_TOOL_PROVIDER_EXECUTED = "toolspan.tool.provider_executed"

/** Event on the span of a run: a stored result was given again in place of a second run. With tool name and call id. */
export const EVENT_TOOLSPAN_TOOL_REPLAYED = "toolspan.tool.replayed"

/** First word of the name of the span that lasts from the asking for an approval to its decision. */
export const SPAN_TOOL_APPROVAL = "tool_approval"

/** Value of `gen_ai.operation.name` on the span of a model's turn. */
export const OPERATION_CHAT = "chat"
/** Value of `gen_ai.operation.name` and first word of the span name. */
export const OPERATION_EXECUTE_TOOL = "execute_tool"
/** Value of `gen_ai.operation.name` and first word of the span name of an agent's run. */
export const OPERATION_INVOKE_AGENT = "invoke_agent"
/** Value of `gen_ai.tool.type` for a tool that the client runs. */
export const TOOL_TYPE_FUNCTION = "function"
/** Value of `gen_ai.tool.type` for a tool that the provider executes. */
export const TOOL_TYPE_EXTENSION = "extension"
/** Stands for every value that has no bounded name: unknown tools on metrics, errors without a class. */
export const OTHER = "_OTHER"

/** How a stretch of a run ended. `lost`: it could not go on, and another one will. */
export type RunState = "finished" | "waiting" | "limit_reached" | "failed" | "cancelled" | "lost"

/**
 * How a tool call ended. `denied` and `not_started`: it never began, and has no span. `outcome_unknown`: it began, and nobody recorded how it
 * ended.
 */
export type ToolOutcome =
  | "success"
  | "failure"
  | "invalid_arguments"
  | "invalid_result"
  | "defect"
  | "unknown_tool"
  | "cancelled"
  | "abandoned"
  | "denied"
  | "not_started"
  | "outcome_unknown"

/** Why a piece of telemetry was dropped. */
export type DroppedReason =
  | "serialization"
  | "hook_failed"
  | "bad_stamp"
  | "no_stamp"
  | "queue_full"
  | "export_failed"
