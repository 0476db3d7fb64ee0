/**
 * `toolspan approvals unknown` and `resolve`: calls whose worker was lost before it said how they ended, for an operator to find out.
 */

import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import type { UnknownCall } from "../../runtime/RunStore.ts"
import * as Runtime from "../../runtime/UnknownCalls.ts"
import * as Refusal from "../Refusal.ts"
import * as Shown from "../Shown.ts"
import * as Switch from "../Switch.ts"
import * as Fields from "./Fields.ts"
import * as Stored from "./Stored.ts"
import * as Table from "./Table.ts"

export const unknown = Command.make(
  "unknown",
  {
    all: Switch.make("all", "Also those that were resolved"),
    json: Stored.json,
    store: Stored.flag
  },
  Effect.fnUntraced(function* ({ all, json }) {
    const calls = (yield* Runtime.list).filter(({ resolved }) => all || resolved === undefined)
    if (json) return yield* Console.log(Shown.indented(calls))
    if (calls.length === 0) return yield* Console.log("The outcome of every call is known.")
    const now = yield* Clock.currentTimeMillis
    const table: ReadonlyArray<Table.Column<UnknownCall>> = [
      { heading: "AGE", text: ({ startedAt }) => Fields.age(startedAt, now) },
      { heading: "TOOL", text: ({ toolName }) => toolName },
      { heading: "CONVERSATION", text: ({ conversation }) => conversation },
      { heading: "CALL", text: ({ toolCallId }) => toolCallId },
      { heading: "STATE", text: ({ resolved }) => (resolved === undefined ? "unknown" : "resolved") },
      { heading: "ARGUMENTS", text: ({ arguments: params }) => Shown.json(JSON.parse(params)) }
    ]
    yield* Console.log(Table.render(table, calls, Stored.columns()).join("\n"))
  }, Stored.provide)
).pipe(Command.withDescription("List the calls whose outcome is unknown: their process died while they ran"))

export const resolve = Command.make(
  "resolve",
  {
    conversation: Argument.String("CONVERSATION").pipe(
      Argument.withDescription("The conversation of the call, as unknown shows it")
    ),
    callId: Argument.String("CALL_ID").pipe(Argument.withDescription("The id of the call")),
    result: Flag.String("result").pipe(
      Flag.withMetavar("JSON"),
      Flag.withDescription("What the call came to, as its tool would have given it")
    ),
    failed: Switch.make("failed", "It is the result of a failure"),
    store: Stored.flag
  },
  Effect.fnUntraced(function* ({ callId, conversation, failed, result }) {
    const value = yield* Effect.try({
      try: (): unknown => JSON.parse(result),
      catch: (error) =>
        Refusal.make(`--result is no JSON: ${Refusal.messageOf(error)}. A text needs quotes: '"done"'`, error)
    })
    yield* Runtime.resolve({ conversation, toolCallId: callId }, { result: value, isFailure: failed })
    yield* Console.log(
      `Resolved: call ${Shown.name(callId)} ${failed ? "failed with" : "came to"} ${Shown.exact(value)}`
    )
  }, Stored.provide)
).pipe(Command.withDescription("Say what a call came to whose outcome is unknown"))
