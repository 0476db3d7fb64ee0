/**
 * Decides what agents wait for, from a process that knows neither agent nor tools: `decide-for-an-agent.ts FILE`. An approval is for exactly
 * the arguments that are shown here. `toolspan approvals --store FILE` does the same by hand.
 */
import { Effect, Layer } from "effect"
import { Approvals, SqlRunStore } from "toolspan/runtime"
import { SqliteClient } from "toolspan/sqlite"

const program = Effect.gen(function* () {
  for (const approval of yield* Approvals.pending) {
    const { agent, conversation, params, toolCallId, toolName } = approval
    console.log(`${agent} in ${conversation}: ${toolName} ${toolCallId} ${JSON.stringify(params)}`)
    const { decided } = yield* Approvals.approve(approval, { approver: "ada", reason: "it is due" })
    console.log(`${decided?.decision} by ${decided?.approver}`)
  }
})

await Effect.runPromise(
  program.pipe(
    Effect.provide(
      SqlRunStore.layer().pipe(Layer.provide(SqliteClient.layer({ filename: process.argv[2] ?? "runs.db" })))
    )
  )
)
