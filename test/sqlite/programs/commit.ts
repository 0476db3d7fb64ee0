/**
 * Commits rows one by one, for ever: alone, then two in a transaction, and so on. Prints the number of each row as soon as it is
 * committed. Argument: file.
 */
import * as fs from "node:fs"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import * as SqliteClient from "../../../src/sqlite/SqliteClient.ts"

const [filename = ""] = process.argv.slice(2)

const program = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE payments (id INTEGER PRIMARY KEY, pair INTEGER)`
  const insert = (id: number, pair: number) => sql`INSERT INTO payments ${sql.insert({ id, pair })}`
  // Not through a stream: the line must have left the process before the next row is written.
  const printed = (...ids: ReadonlyArray<number>) =>
    Effect.sync(() => fs.writeSync(1, ids.map((id) => `${id}\n`).join("")))
  for (let id = 1; ; id += 3) {
    yield* insert(id, id)
    yield* printed(id)
    yield* sql.withTransaction(Effect.andThen(insert(id + 1, id + 1), insert(id + 2, id + 1)))
    yield* printed(id + 1, id + 2)
  }
})

await Effect.runPromise(Effect.provide(program, SqliteClient.layer({ filename })))
