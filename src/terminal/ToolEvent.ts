/**
 * An event on the span of a model's turn that tells of a tool call which has no span of its own: it waits for an approval, never
 * began, or was run by the provider.
 */
import {
  ATTR_GEN_AI_TOOL_CALL_ID,
  ATTR_GEN_AI_TOOL_NAME,
  ATTR_TOOLSPAN_APPROVAL_ID,
  ATTR_TOOLSPAN_TOOL_OUTCOME,
  EVENT_TOOLSPAN_APPROVAL_REQUESTED,
  EVENT_TOOLSPAN_TOOL_NOT_STARTED,
  EVENT_TOOLSPAN_TOOL_PROVIDER_EXECUTED
} from "../semconv/Attributes.ts"
import * as ShortText from "./ShortText.ts"

const kinds = {
  [EVENT_TOOLSPAN_APPROVAL_REQUESTED]: "approvalRequested",
  [EVENT_TOOLSPAN_TOOL_NOT_STARTED]: "notStarted",
  [EVENT_TOOLSPAN_TOOL_PROVIDER_EXECUTED]: "providerExecuted"
} as const

type Name = keyof typeof kinds

export interface ToolEvent {
  readonly kind: (typeof kinds)[Name]
  readonly toolName: string | undefined
  readonly callId: string | undefined
  /** Of a request for an approval. */
  readonly approvalId: string | undefined
  /** Of a call that the provider ran. */
  readonly outcome: string | undefined
}

/** What the event tells of a tool call; undefined if it is none of these. */
export const read = (
  name: string,
  attributes: Readonly<Record<string, unknown>> = {}
): ToolEvent | undefined => {
  if (!isName(name)) return undefined
  return {
    kind: kinds[name],
    toolName: ShortText.of(attributes[ATTR_GEN_AI_TOOL_NAME]),
    callId: ShortText.of(attributes[ATTR_GEN_AI_TOOL_CALL_ID]),
    approvalId: ShortText.of(attributes[ATTR_TOOLSPAN_APPROVAL_ID]),
    outcome: ShortText.of(attributes[ATTR_TOOLSPAN_TOOL_OUTCOME])
  }
}

const isName = (name: string): name is Name => Object.hasOwn(kinds, name)
