/**
 * Runs in a durable store that have not ended: left by a process that died, or waiting.
 *
 * The store's own interface finds runs by their ids and those that are due. These are asked for by what a user knows.
 */
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"

/** The id of the unfinished run of a conversation: there is one at most. */
export const ofConversation = (conversation: string) => runOf("conversation", conversation)

/** The id of an unfinished run of an agent. */
export const ofAgent = (agent: string) => runOf("agent", agent)

const runOf = (
  column: "conversation" | "agent",
  value: string
): Effect.Effect<string | undefined, SqlError, SqlClient.SqlClient> =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(
      sql<{ run_id: string }>`SELECT run_id FROM toolspan_runs
        WHERE ${sql(column)} = ${value} AND status <> 'ended' ORDER BY run_id LIMIT 1`,
      ([row]) => row?.run_id
    )
  ).pipe(Effect.withTracerEnabled(false))
