/**
 * The decided calls of a conversation that have no result yet: those that the next turn runs or denies.
 *
 * By the rules of upstream's `LanguageModel`: a decision counts if its request stands in the conversation, a later request or call of the
 * same id replaces an earlier one, and a result for the call settles it. What is read is looked at once, and only in a conversation with
 * decisions twice.
 */
import type * as Prompt from "effect/ai/Prompt"

/** One decision on a call that has no result. */
export interface Decided {
  readonly approvalId: string
  readonly toolCall: Prompt.ToolCallPart
  readonly response: Prompt.ToolApprovalResponsePart
}

const none: ReadonlyArray<Decided> = []

/** The decisions, in their order; one that comes twice is there twice, as upstream runs its call twice. */
export const decided = (messages: ReadonlyArray<Prompt.Message>): ReadonlyArray<Decided> => {
  const requests = new Map<string, string>()
  const responses: Array<Prompt.ToolApprovalResponsePart> = []
  for (const message of messages) {
    if (message.role === "assistant") {
      for (const part of message.content) {
        if (part.type === "tool-approval-request") requests.set(part.approvalId, part.toolCallId)
      }
    } else if (message.role === "tool") {
      for (const part of message.content) {
        if (part.type === "tool-approval-response") responses.push(part)
      }
    }
  }
  return responses.length === 0 || requests.size === 0 ? none : unsettled(messages, requests, responses)
}

const unsettled = (
  messages: ReadonlyArray<Prompt.Message>,
  requests: ReadonlyMap<string, string>,
  responses: ReadonlyArray<Prompt.ToolApprovalResponsePart>
): ReadonlyArray<Decided> => {
  const calls = new Map<string, Prompt.ToolCallPart>()
  const results = new Set<string>()
  for (const message of messages) {
    if (message.role === "assistant") {
      for (const part of message.content) {
        if (part.type === "tool-call") calls.set(part.id, part)
      }
    } else if (message.role === "tool") {
      for (const part of message.content) {
        if (part.type === "tool-result") results.add(part.id)
      }
    }
  }
  return responses.flatMap((response) => {
    const toolCallId = requests.get(response.approvalId)
    const toolCall = toolCallId === undefined || results.has(toolCallId) ? undefined : calls.get(toolCallId)
    return toolCall === undefined ? [] : { approvalId: response.approvalId, toolCall, response }
  })
}
