/**
 * Opens a file that others open at the same time, and adds 1 to its counter as often as told, reading before writing; every second time by
 * one statement, with no transaction. Arguments: file, times.
 */
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import * as SqliteClient from "../../../src/sqlite/SqliteClient.ts"

const [filename = "", times = "0"] = process.argv.slice(2)

const program = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE IF NOT EXISTS counter (id INTEGER PRIMARY KEY, value INTEGER)`
  yield* sql`INSERT INTO counter VALUES (1, 0) ON CONFLICT DO NOTHING`
  const inTransaction = sql.withTransaction(
    Effect.gen(function* () {
      const [row] = yield* sql<{ value: number }>`SELECT value FROM counter`
      yield* Effect.yieldNow
      yield* sql`UPDATE counter SET value = ${(row?.value ?? Number.NaN) + 1}`
    })
  )
  const alone = sql`UPDATE counter SET value = value + 1`
  yield* Effect.forEach(
    Array.from({ length: Number(times) }, (_, time) => time),
    (time) => (time % 2 === 0 ? inTransaction : alone),
    { concurrency: 4 }
  )
})

await Effect.runPromise(Effect.provide(program, SqliteClient.layer({ filename, busyTimeout: "60 seconds" })))
