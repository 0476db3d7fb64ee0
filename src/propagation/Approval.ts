/**
 * Approvals of tool calls in a conversation: which calls wait for one, and the parts that answer them, with who decided and when.
 *
 * The answer is upstream's `tool-approval-response` part; what it lacks stands among its options as
 * `toolspan: { decidedAt, approver?, expired? }`. It is read from there and nowhere else: nothing that a model writes can name an approver.
 * Make the part where you have authenticated who answers, and take no such part from a client as it is.
 */
import * as Prompt from "effect/ai/Prompt"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Check from "../options/Check.ts"
import * as ToolCallContext from "./ToolCallContext.ts"

/** What is said of a decision. */
export interface By {
  /**
   * Who decided, as your own authentication knows them; becomes `toolspan.approval.approver`, as it is, cut at 256 characters. Left out:
   * not known, or nobody (a rule, a timer).
   */
  readonly approver?: string | undefined
  /** Why. The model is told the reason of a denial; telemetry shows reasons by content policy. */
  readonly reason?: string | undefined
}

/** A tool call that waits for a decision. */
export interface Pending {
  readonly approvalId: string
  readonly toolCallId: string
  readonly toolName: string
  /** The exact parameters, encoded, as the model made them. */
  readonly params: unknown
  /** When the model asked, in milliseconds since the epoch; undefined if the call was not traced. */
  readonly requestedAt: number | undefined
}

/** How an approval was decided. `expired`: nobody did in time, and the call is denied. */
export type Decision = "approved" | "denied" | "expired"

/** Lets the call run. Fails as a defect, with an `Error` that names it, if what is said of the decision is not valid. */
export const approve = (approvalId: string, by: By = {}): Effect.Effect<Prompt.ToolApprovalResponsePart> =>
  answer("approve", approvalId, true, by)

/** Refuses the call: the model gets the result `execution-denied`, with the reason. Defects as for {@link approve}. */
export const deny = (approvalId: string, by: By = {}): Effect.Effect<Prompt.ToolApprovalResponsePart> =>
  answer("deny", approvalId, false, by)

/** Refuses the call because nobody has decided in time. Defects as for {@link approve}. */
export const expire = (approvalId: string, by: By = {}): Effect.Effect<Prompt.ToolApprovalResponsePart> =>
  answer("expire", approvalId, false, by, { expired: true })

/** The calls that wait for a decision, in the order in which they were asked for. */
export const pending = (prompt: Prompt.Prompt): ReadonlyArray<Pending> => {
  const requests = new Map<string, string>()
  const calls = new Map<string, Prompt.ToolCallPart>()
  const answered = new Set<string>()
  const results = new Set<string>()
  for (const message of prompt.content) {
    if (message.role !== "assistant" && message.role !== "tool") continue
    for (const part of message.content) {
      if (part.type === "tool-call") calls.set(part.id, part)
      else if (part.type === "tool-approval-request") requests.set(part.approvalId, part.toolCallId)
      else if (part.type === "tool-approval-response") answered.add(part.approvalId)
      else if (part.type === "tool-result") results.add(part.id)
    }
  }
  return Array.from(requests).flatMap(([approvalId, toolCallId]) => {
    const call = calls.get(toolCallId)
    if (call === undefined || answered.has(approvalId) || results.has(toolCallId)) return []
    const context = ToolCallContext.read(call.options)
    return {
      approvalId,
      toolCallId,
      toolName: call.name,
      params: call.params,
      requestedAt: Result.isSuccess(context) ? context.success.requestedAt : undefined
    }
  })
}

/** What an answer says of itself. Never throws. */
export const read = (
  part: Prompt.ToolApprovalResponsePart
): {
  readonly decision: Decision
  readonly approver: string | undefined
  /** Milliseconds since the epoch. */
  readonly decidedAt: number | undefined
} => {
  let said: unknown
  try {
    said = part.options[ToolCallContext.KEY]
  } catch {
    // Whatever that object is, it is none that we made.
  }
  return {
    decision: part.approved ? "approved" : field(said, "expired") === true ? "expired" : "denied",
    approver: bounded(field(said, "approver")),
    decidedAt: ToolCallContext.time(field(said, "decidedAt"))
  }
}

const APPROVER_LIMIT = 256

const bounded = (approver: unknown): string | undefined =>
  typeof approver === "string" && approver !== ""
    ? approver.slice(0, APPROVER_LIMIT).toWellFormed()
    : undefined

const field = (said: unknown, name: string): unknown => {
  try {
    return Predicate.hasProperty(said, name) ? said[name] : undefined
  } catch {
    return undefined
  }
}

const checks: Check.Checks<By> = {
  approver: ["a non-empty string", Check.isText],
  reason: ["a non-empty string", Check.isText]
}

const answer = (
  method: string,
  approvalId: string,
  approved: boolean,
  by: By,
  more?: { readonly expired: true }
): Effect.Effect<Prompt.ToolApprovalResponsePart> =>
  Effect.map(Clock.currentTimeMillis, (now) => {
    Check.validate(`Approval.${method}`, checks, by)
    return Prompt.toolApprovalResponsePart({
      approvalId,
      approved,
      ...(by.reason !== undefined && { reason: by.reason }),
      options: {
        [ToolCallContext.KEY]: {
          decidedAt: new Date(now).toISOString(),
          ...(by.approver !== undefined && { approver: by.approver }),
          ...more
        }
      }
    })
  })
