/**
 * `toolspan approvals list`, `show`, `approve` and `deny`: what waits for a decision in a store, and the decisions.
 */

import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Approval } from "../../runtime/ApprovalRecord.ts"
import * as Runtime from "../../runtime/Approvals.ts"
import * as Shown from "../Shown.ts"
import * as User from "../User.ts"
import * as Fields from "./Fields.ts"
import * as Stored from "./Stored.ts"
import * as Table from "./Table.ts"

const approvalId = Argument.String("ID").pipe(
  Argument.withDescription("The id of the approval, as list shows it")
)

export const list = Command.make(
  "list",
  { json: Stored.json, store: Stored.flag },
  Effect.fnUntraced(function* ({ json }) {
    const pending = yield* Runtime.pending
    if (json) return yield* Console.log(Shown.indented(pending))
    if (pending.length === 0) return yield* Console.log("No approval waits.")
    const now = yield* Clock.currentTimeMillis
    const table: ReadonlyArray<Table.Column<Approval>> = [
      { heading: "AGE", text: ({ requestedAt }) => Fields.age(requestedAt, now) },
      { heading: "AGENT", text: ({ agent }) => agent },
      { heading: "TOOL", text: ({ toolName }) => toolName },
      { heading: "CALL", text: ({ toolCallId }) => toolCallId },
      { heading: "APPROVAL", text: ({ approvalId }) => approvalId },
      { heading: "ARGUMENTS", text: ({ params }) => Shown.json(params) }
    ]
    yield* Console.log(Table.render(table, pending, Stored.columns()).join("\n"))
  }, Stored.provide)
).pipe(Command.withDescription("List the approvals that wait, oldest first"))

export const show = Command.make(
  "show",
  { id: approvalId, json: Stored.json, store: Stored.flag },
  Effect.fnUntraced(function* ({ id, json }) {
    const approval = yield* Runtime.get(id)
    yield* Console.log(
      json ? Shown.indented(approval) : Fields.render(fieldsOf(approval, yield* Clock.currentTimeMillis))
    )
  }, Stored.provide)
).pipe(Command.withDescription("Show one approval, waiting or decided, with its exact arguments"))

const deciding = (name: "approve" | "deny", description: string) => {
  const decide = name === "approve" ? Runtime.approve : Runtime.deny
  return Command.make(
    name,
    {
      id: approvalId,
      reason: Flag.String("reason").pipe(
        Flag.withMetavar("TEXT"),
        Flag.withDescription(name === "deny" ? "Why; the model is told" : "Why"),
        Flag.optional
      ),
      approver: Flag.String("approver").pipe(
        Flag.withMetavar("NAME"),
        Flag.withDescription("Who decides (default: the user of this machine)"),
        Flag.optional
      ),
      store: Stored.flag
    },
    Effect.fnUntraced(function* ({ approver, id, reason }) {
      // The decision is for exactly what is read, and said, here.
      const approval = yield* Runtime.get(id)
      const { decided } = yield* decide(approval, {
        approver: Option.getOrElse(approver, User.name),
        reason: Option.getOrUndefined(reason)
      })
      const { agent, params, toolCallId, toolName } = approval
      yield* Console.log(
        `${name === "approve" ? "Approved" : "Denied"}: ${Shown.name(toolName)} ${Shown.exact(params)}\n` +
          `call ${Shown.name(toolCallId)} of agent ${Shown.name(agent)}${by(decided)}`
      )
    }, Stored.provide)
  ).pipe(Command.withDescription(description))
}

export const approve = deciding("approve", "Let a call run")
export const deny = deciding("deny", "Refuse a call")

const by = (decided: Approval["decided"]): string =>
  (decided?.approver === undefined ? "" : `, by ${Shown.name(decided.approver)}`) +
  (decided?.reason === undefined ? "" : `: ${Shown.name(decided.reason)}`)

const fieldsOf = (approval: Approval, now: number): ReadonlyArray<Fields.Field> => {
  const { decided, expiresAt, requestedAt } = approval
  return [
    ["approval", approval.approvalId],
    ["agent", approval.agent],
    ["tool", approval.toolName],
    ["call", approval.toolCallId],
    ["conversation", approval.conversation],
    ["run", approval.runId],
    ["asked", Fields.time(requestedAt, now)],
    ["expires", expiresAt === undefined ? "never" : new Date(expiresAt).toISOString()],
    ["state", decided === undefined ? "waiting" : `${decided.decision} ${Fields.time(decided.at, now)}`],
    ["approver", decided?.approver],
    ["reason", decided?.reason],
    ["arguments", { json: approval.params }]
  ]
}
