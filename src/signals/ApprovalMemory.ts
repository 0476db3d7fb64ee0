/**
 * What this process has seen of approvals: which it asked for and which it saw decided, so that each is said once.
 *
 * Bounded: the oldest are forgotten first. Nothing that matters rests on it: decisions and their times are in the conversation.
 */
import * as Context from "effect/Context"

const LIMIT = 10_000

export class ApprovalMemory {
  readonly #limit: number
  /** How to count each as pending no more, by key. */
  readonly #pending = new Map<string, () => void>()
  readonly #decided = new Set<string>()

  constructor(limit = LIMIT) {
    this.#limit = limit
  }

  /** An approval was asked for. `settled` runs when it is decided here, or forgotten. */
  asked(key: string, settled: () => void): void {
    this.#pending.set(key, settled)
    const [oldest] = this.#pending.keys()
    if (oldest !== undefined && this.#pending.size > this.#limit) this.#settle(oldest)
  }

  /** An approval was decided. Whether that is new: upstream acts on a yes and on a no, if both are there. */
  decided(key: string, approved: boolean): boolean {
    const decision = `${key}/${approved}`
    if (this.#decided.has(decision)) return false
    this.#decided.add(decision)
    const [oldest] = this.#decided
    if (oldest !== undefined && this.#decided.size > this.#limit) this.#decided.delete(oldest)
    this.#settle(key)
    return true
  }

  #settle(key: string): void {
    this.#pending.get(key)?.()
    this.#pending.delete(key)
  }
}

/** The memory of the process. */
export const CurrentApprovals = Context.Reference<ApprovalMemory>("toolspan/signals/CurrentApprovals", {
  defaultValue: () => new ApprovalMemory()
})
