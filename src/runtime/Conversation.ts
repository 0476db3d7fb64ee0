/**
 * A conversation as the runtime keeps it: without approval parts, since its approvals stand in the store.
 *
 * Upstream runs every approved call of a prompt that has no result, once for each time it was approved. What it never sees it cannot run.
 */
import type * as Prompt from "effect/ai/Prompt"
import * as Result from "effect/Result"
import * as Approval from "../propagation/Approval.ts"
import * as ToolCallContext from "../propagation/ToolCallContext.ts"
import * as ApprovalRecord from "./ApprovalRecord.ts"
import * as OpenCalls from "./OpenCalls.ts"
import type { NewRun } from "./RunStore.ts"

/**
 * Takes in messages from elsewhere, of which some calls may wait for approvals or have been decided upon: a call of which that is said has
 * its approval in the store, and the first decision counts. Approvals of calls that have results, or that do not stand there, are dropped.
 * `now`: milliseconds since the epoch.
 */
export const take = (run: NewRun, now: number): NewRun => {
  const { messages } = run
  if (!messages.some(hasApprovals)) return run
  const requests = new Map<string, string>()
  const responses = new Map<string, Prompt.ToolApprovalResponsePart>()
  for (const message of messages) {
    if (message.role === "assistant") {
      for (const part of message.content) {
        if (part.type === "tool-approval-request") requests.set(part.toolCallId, part.approvalId)
      }
    } else if (message.role === "tool") {
      for (const part of message.content) {
        if (part.type === "tool-approval-response" && !responses.has(part.approvalId)) {
          responses.set(part.approvalId, part)
        }
      }
    }
  }
  const whole = messages.flatMap(withoutApprovals)
  const approvals = new Map<string, ApprovalRecord.Approval>()
  const asked: Record<string, string> = {}
  for (const [place, call] of OpenCalls.of(whole).entries()) {
    const approvalId = requests.get(call.id)
    if (approvalId === undefined) continue
    asked[place] = approvalId
    const context = ToolCallContext.read(call.options)
    const response = responses.get(approvalId)
    approvals.set(approvalId, {
      approvalId,
      runId: run.runId,
      conversation: run.conversation,
      agent: run.agent,
      toolName: call.name,
      toolCallId: call.id,
      params: call.params,
      requestedAt: (Result.isSuccess(context) ? context.success.requestedAt : undefined) ?? now,
      ...(response !== undefined && { decided: decisionOf(response, now) })
    })
  }
  return { ...run, messages: whole, approvals: [...approvals.values()], asked }
}

const decisionOf = (response: Prompt.ToolApprovalResponsePart, now: number): ApprovalRecord.Decided => {
  const { approver, decidedAt, decision } = Approval.read(response)
  return ApprovalRecord.decided(decision, decidedAt ?? now, { approver, reason: response.reason })
}

const isApproval = ({ type }: { readonly type: string }): boolean =>
  type === "tool-approval-request" || type === "tool-approval-response"

const hasApprovals = (message: Prompt.Message): boolean =>
  typeof message.content !== "string" && message.content.some(isApproval)

/** The message without them, and none if nothing else is in it. */
const withoutApprovals = (message: Prompt.Message): ReadonlyArray<Prompt.Message> => {
  if (message.role === "assistant") {
    const content = message.content.filter((part) => !isApproval(part))
    return content.length === 0 ? [] : [{ ...message, content }]
  }
  if (message.role === "tool") {
    const content = message.content.filter((part) => !isApproval(part))
    return content.length === 0 ? [] : [{ ...message, content }]
  }
  return [message]
}
