/**
 * The open calls of a conversation: those that the client is to run and that have no result.
 */
import type * as Prompt from "effect/ai/Prompt"

/** In their order. Of calls with one id, results close the earliest. */
export const of = (messages: ReadonlyArray<Prompt.Message>): ReadonlyArray<Prompt.ToolCallPart> => {
  const open: Array<Prompt.ToolCallPart> = []
  for (const message of messages) {
    if (message.role === "assistant") open.push(...callsOf(message))
    else if (message.role === "tool") {
      for (const part of message.content) {
        if (part.type !== "tool-result") continue
        const index = open.findIndex(({ id }) => id === part.id)
        if (index >= 0) open.splice(index, 1)
      }
    }
  }
  return open
}

/** The calls that one message asks the client for. */
export const callsOf = (message: Prompt.AssistantMessage): ReadonlyArray<Prompt.ToolCallPart> =>
  message.content
    .filter((part) => part.type === "tool-call")
    .filter(({ providerExecuted }) => !providerExecuted)

/** How often each tool was called since the user last said something. */
export const sinceUser = (messages: ReadonlyArray<Prompt.Message>): Map<string, number> => {
  const counts = new Map<string, number>()
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index]
    if (message?.role === "user") break
    if (message?.role !== "assistant") continue
    for (const { name } of callsOf(message)) counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return counts
}
