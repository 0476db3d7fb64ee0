/**
 * `toolspan approvals`: decides, in a durable store, what its agents wait for.
 */
import * as Command from "effect/cli/Command"
import * as Approvals from "./approvals/Approvals.ts"
import * as UnknownCalls from "./approvals/UnknownCalls.ts"

export const command = Command.make("approvals").pipe(
  Command.withDescription("Decide what agents wait for, in the store that they keep their runs in"),
  Command.withSubcommands([
    Approvals.list,
    Approvals.show,
    Approvals.approve,
    Approvals.deny,
    UnknownCalls.unknown,
    UnknownCalls.resolve
  ])
)
