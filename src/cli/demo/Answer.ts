/**
 * Who answers when a tool of the demo needs an approval: a flag, the person at the terminal, or nobody.
 */
import { userInfo } from "node:os"
import type * as Ai from "effect/ai/Prompt"
import * as Console from "effect/Console"
import * as Prompt from "effect/cli/Prompt"
import * as Effect from "effect/Effect"
import type * as Terminal from "effect/Terminal"
import * as Approval from "../../propagation/Approval.ts"

/** Answers the calls that wait; no answers: they wait on. */
export type Answer = (
  pending: ReadonlyArray<Approval.Pending>
) => Effect.Effect<ReadonlyArray<Ai.ToolApprovalResponsePart>, Terminal.QuitError, Prompt.Environment>

/** What was said beforehand. */
export type Given = "yes" | "no" | "later" | undefined

/** By flag if there is one; by asking at a terminal; elsewhere nobody can be asked, and nothing is allowed. */
export const make =
  (given: Given, isTerminal: boolean): Answer =>
  (pending) =>
    given === "later" ? Effect.succeed([]) : Effect.all(pending.map((call) => one(call, given, isTerminal)))

const one = (call: Approval.Pending, given: "yes" | "no" | undefined, isTerminal: boolean) =>
  given === undefined ? (isTerminal ? ask(call) : refuse(call)) : answer(call, given === "yes")

const ask = (pending: Approval.Pending) =>
  Effect.flatMap(Prompt.run(Prompt.Confirm({ message: `Allow ${described(pending)}?` })), (allowed) =>
    answer(pending, allowed)
  )

const answer = ({ approvalId }: Approval.Pending, allowed: boolean) =>
  (allowed ? Approval.approve : Approval.deny)(approvalId, { approver: user() })

const refuse = (pending: Approval.Pending) => {
  const reason = "nobody could be asked: this is no terminal"
  return Effect.andThen(
    Console.log(`Denied: ${described(pending)}. ${reason}; --yes allows it, --later saves it.`),
    Approval.deny(pending.approvalId, { reason })
  )
}

const described = ({ params, toolName }: Approval.Pending): string => {
  const text = JSON.stringify(params)
  return `${toolName} ${text.length <= 200 ? text : `${text.slice(0, 200).toWellFormed()}…`}`
}

/** The demo's authentication is that of the machine. */
const user = (): string | undefined => {
  try {
    return userInfo().username || undefined
  } catch {
    return undefined
  }
}
