/**
 * What this process has seen of approvals: which it asked for and which it saw decided, so that each is said once.
 *
 * Bounded: the oldest are forgotten first. Nothing that matters rests on it: decisions and their times are in the conversation.
 */
import * as Context from "effect/Context"

const LIMIT = 10_000

export class ApprovalMemory {
  readonly #limit: number
  /** Tool names as on metrics, by key. */
  readonly #pending = new Map<string, string>()
  readonly #decided = new Set<string>()

  constructor(limit = LIMIT) {
    this.#limit = limit
  }

  /** An approval was asked for. Gives the tool of one that was forgotten for it, if one was. */
  asked(key: string, toolName: string): string | undefined {
    this.#pending.set(key, toolName)
    if (this.#pending.size <= this.#limit) return undefined
    const [oldest] = this.#pending
    if (oldest === undefined) return undefined
    this.#pending.delete(oldest[0])
    return oldest[1]
  }

  /** An approval was decided. Undefined if that is known already; else the tool that it was asked for here, if it was. */
  decided(key: string): { readonly askedFor: string | undefined } | undefined {
    if (this.#decided.has(key)) return undefined
    this.#decided.add(key)
    const [oldest] = this.#decided
    if (oldest !== undefined && this.#decided.size > this.#limit) this.#decided.delete(oldest)
    const askedFor = this.#pending.get(key)
    this.#pending.delete(key)
    return { askedFor }
  }
}

/** The memory of the process. */
export const CurrentApprovals = Context.Reference<ApprovalMemory>(
  "toolspan/instrumentation/CurrentApprovals",
  { defaultValue: () => new ApprovalMemory() }
)
