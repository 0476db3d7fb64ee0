/**
 * Effect's cluster keeps its messages and runners in a file through the client.
 */

import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, it } from "@effect/vitest"
import * as ClusterWorkflowEngine from "effect/cluster/ClusterWorkflowEngine"
import * as SingleRunner from "effect/cluster/SingleRunner"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import * as Activity from "effect/workflow/Activity"
import * as DurableDeferred from "effect/workflow/DurableDeferred"
import * as Workflow from "effect/workflow/Workflow"
import * as SqliteClient from "../../src/sqlite/SqliteClient.ts"
import * as DatabaseFile from "./DatabaseFile.ts"

const Approval = DurableDeferred.make("approval", { success: Schema.String })

const Pay = Workflow.make("Pay", {
  payload: { invoice: Schema.String },
  success: Schema.String,
  idempotencyKey: ({ invoice }) => invoice
})

/** A runner over the file; `paid` gets a line for each payment. */
const runner = (filename: string, paid: Array<string>) => {
  const workflow = Pay.toLayer(
    Effect.fnUntraced(function* ({ invoice }) {
      const approver = yield* DurableDeferred.await(Approval)
      return yield* Activity.make({
        name: "pay",
        success: Schema.String,
        execute: Effect.sync(() => {
          paid.push(invoice)
          return `paid ${invoice}, approved by ${approver}`
        })
      })
    })
  )
  return workflow.pipe(
    Layer.provideMerge(ClusterWorkflowEngine.layer),
    Layer.provide(SingleRunner.layer({ runnerStorage: "sql" })),
    Layer.provideMerge(SqliteClient.layer({ filename })),
    Layer.provide(NodeCrypto.layerDigest)
  )
}

it.live("A workflow that waits in a file is finished by a new runner on that file, with one payment", () =>
  Effect.gen(function* () {
    const filename = yield* DatabaseFile.make
    const paid: Array<string> = []
    const executionId = yield* Effect.provide(
      Pay.execute({ invoice: "42" }, { discard: true }),
      runner(filename, paid)
    )
    assert.deepStrictEqual(paid, [])

    const result = yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      assert.isAbove((yield* sql`SELECT 1 FROM cluster_messages`).length, 0)
      const token = DurableDeferred.tokenFromExecutionId(Approval, { workflow: Pay, executionId })
      yield* DurableDeferred.succeed(Approval, { token, value: "ada" })
      return yield* Pay.execute({ invoice: "42" })
    }).pipe(Effect.provide(runner(filename, paid)))

    assert.strictEqual(result, "paid 42, approved by ada")
    assert.deepStrictEqual(paid, ["42"])
  }).pipe(Effect.scoped)
)
