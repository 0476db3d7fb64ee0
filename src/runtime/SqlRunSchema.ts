/**
 * The tables of the SQL store, on SQLite and on Postgres.
 *
 * What is asked for by is in columns; the rest is JSON text, since text keeps every character of it. Times are milliseconds since the
 * epoch by the clock of the database.
 */
import * as Effect from "effect/Effect"
import * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"

const VERSION = 1

const tables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const time = sql.literal("DOUBLE PRECISION")
  // `due_at`: when a worker should take the run. 0: now. Of a running one: when its lease is over. None: when something happens.
  yield* sql`CREATE TABLE toolspan_runs (
    run_id TEXT PRIMARY KEY,
    conversation TEXT NOT NULL,
    agent TEXT NOT NULL,
    status TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    due_at ${time},
    woken INTEGER NOT NULL,
    cancelled INTEGER NOT NULL,
    progress TEXT NOT NULL,
    outcome TEXT
  )`
  yield* sql`CREATE UNIQUE INDEX toolspan_runs_active ON toolspan_runs (conversation) WHERE status <> 'ended'`
  yield* sql`CREATE INDEX toolspan_runs_due ON toolspan_runs (due_at) WHERE due_at IS NOT NULL`
  yield* sql`CREATE TABLE toolspan_messages (
    conversation TEXT NOT NULL,
    position INTEGER NOT NULL,
    message TEXT NOT NULL,
    PRIMARY KEY (conversation, position)
  )`
  yield* sql`CREATE TABLE toolspan_calls (
    conversation TEXT NOT NULL,
    tool_call_id TEXT NOT NULL,
    tool_name TEXT NOT NULL,
    arguments TEXT NOT NULL,
    run_id TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    status TEXT NOT NULL,
    started_at ${time} NOT NULL,
    result TEXT,
    resolved TEXT,
    PRIMARY KEY (conversation, tool_call_id)
  )`
  yield* sql`CREATE INDEX toolspan_calls_unknown ON toolspan_calls (started_at) WHERE status = 'unknown'`
  yield* sql`CREATE TABLE toolspan_approvals (
    approval_id TEXT PRIMARY KEY,
    run_id TEXT NOT NULL,
    tool_name TEXT NOT NULL,
    requested_at ${time} NOT NULL,
    expires_at ${time},
    approval TEXT NOT NULL,
    decided TEXT
  )`
  yield* sql`CREATE INDEX toolspan_approvals_run ON toolspan_approvals (run_id)`
  yield* sql`CREATE INDEX toolspan_approvals_pending ON toolspan_approvals (requested_at) WHERE decided IS NULL`
  yield* sql`CREATE TABLE toolspan_events (
    run_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    event TEXT NOT NULL,
    PRIMARY KEY (run_id, number)
  )`
})

/** Makes the tables where they are not there; several processes may at once. Fails on tables of a later version of toolspan. */
export const migrate = Effect.gen(function* () {
  const sql = (yield* SqlClient.SqlClient).withoutTransforms()
  yield* Migrator.make({})({
    loader: Migrator.fromRecord({ [`${VERSION}_tables`]: tables }),
    table: "toolspan_migrations"
  })
  const [row] = yield* sql<{ version: number }>`SELECT MAX(migration_id) AS version FROM toolspan_migrations`
  if (row !== undefined && Number(row.version) > VERSION) {
    return yield* Effect.fail(
      new Error(
        `the tables are of version ${row.version}, and this toolspan knows version ${VERSION}: use the toolspan that made them, or a later one`
      )
    )
  }
})
