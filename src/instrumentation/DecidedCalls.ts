/**
 * The decided calls of the conversation that a turn was given: their decisions, and where each approved call comes from.
 *
 * Upstream runs an approved call once for each decision that lets it run, before it asks the model.
 */
import * as Result from "effect/Result"
import type * as ApprovalHistory from "../propagation/ApprovalHistory.ts"
import type { Origin } from "../propagation/Origin.ts"
import * as ToolCallContext from "../propagation/ToolCallContext.ts"

export class DecidedCalls {
  /** Origins of the approved calls that are still to run, by call id. */
  readonly #origins = new Map<string, Array<Origin>>()

  constructor(decided: ReadonlyArray<ApprovalHistory.Decided>) {
    for (const { approvalId, response, toolCall } of decided) {
      if (!response.approved) continue
      const asked = ToolCallContext.read(toolCall.options)
      const origins = this.#origins.get(toolCall.id) ?? []
      origins.push({
        approvalId,
        ...(Result.isSuccess(asked) && { parent: asked.success.span }),
        // The same call again: a decision that came twice runs it twice.
        ...(origins.length > 0 && { attempt: origins.length + 1 })
      })
      this.#origins.set(toolCall.id, origins)
    }
  }

  /** The origin of the next run of this call; undefined if it is not an approved one of the conversation, or all its runs are taken. */
  take(toolCallId: string | undefined): Origin | undefined {
    return toolCallId === undefined ? undefined : this.#origins.get(toolCallId)?.shift()
  }
}
