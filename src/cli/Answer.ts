/**
 * Who decides when a call needs an approval: a flag, the person at the terminal, or nobody.
 */
import * as Effect from "effect/Effect"
import * as AgentError from "../runtime/AgentError.ts"
import type { Approval } from "../runtime/ApprovalRecord.ts"
import * as Approvals from "../runtime/Approvals.ts"
import type { RunStore } from "../runtime/RunStore.ts"
import * as Shown from "./Shown.ts"
import * as User from "./User.ts"

/** What was said beforehand. */
export type Given = "yes" | "no" | undefined

export interface Options<E, R> {
  readonly given: Given
  /** Asks the person at the terminal; undefined where there is none. */
  readonly ask: ((question: string) => Effect.Effect<boolean, E, R>) | undefined
  /** Says something to the user. */
  readonly say: (text: string) => Effect.Effect<void>
  /** What to do where nobody can be asked. */
  readonly otherwise: string
}

/** By flag if there is one; by asking at a terminal; elsewhere nobody can be asked, and nothing is allowed. */
export const decide = <E, R>(
  approvals: ReadonlyArray<Approval>,
  options: Options<E, R>
): Effect.Effect<void, AgentError.AgentError | E, RunStore | R> =>
  Effect.forEach(approvals, (approval) => one(approval, options), { discard: true })

const one = <E, R>(approval: Approval, { ask, given, otherwise, say }: Options<E, R>) => {
  const tool = Shown.name(approval.toolName)
  const called = `${tool} ${Shown.exact(approval.params)}`
  const decided = (allowed: boolean) =>
    (allowed ? Approvals.approve : Approvals.deny)(approval, { approver: User.name() })
  const reason = "nobody could be asked: this is no terminal"
  const deciding: Effect.Effect<unknown, AgentError.AgentError | E, RunStore | R> =
    given !== undefined
      ? decided(given === "yes")
      : ask === undefined
        ? Effect.andThen(
            say(`Denied: ${called}. ${reason}; ${otherwise}`),
            Approvals.deny(approval, { reason })
          )
        : say(`The agent asks to call ${called}`).pipe(
            Effect.andThen(ask(`Allow ${tool}?`)),
            Effect.flatMap(decided)
          )
  return Effect.catchIf(
    deciding,
    // Somebody else was faster, or its time is over: that stands.
    (error): error is AgentError.AgentError => AgentError.is(error, "AlreadyDecided"),
    (error) => say(Shown.text(error.message))
  )
}
