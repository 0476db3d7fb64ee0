/**
 * The `Connection` of `effect/sql` over one database.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Connection } from "effect/sql/SqlConnection"
import type { SqlError } from "effect/sql/SqlError"
import type { Query } from "./Database.ts"

type Rows = ReadonlyArray<Record<string, unknown>>

/** A connection whose statements all go through `run`. Streams die: they would keep the only connection as long as their consumer likes. */
export const make = (run: (query: Query) => Effect.Effect<unknown, SqlError>): Connection => {
  const query = (sql: string, parameters: ReadonlyArray<unknown>, result: Query["result"], keep: boolean) =>
    run({ sql, parameters, result, keep })
  const rows =
    (keep: boolean): Connection["execute"] =>
    (sql, parameters, transformRows) => {
      const rows = query(sql, parameters, "rows", keep) as Effect.Effect<Rows, SqlError>
      return transformRows === undefined ? rows : Effect.map(rows, transformRows)
    }
  const values =
    (keep: boolean): Connection["executeValues"] =>
    (sql, parameters) =>
      query(sql, parameters, "values", keep) as Effect.Effect<ReadonlyArray<ReadonlyArray<unknown>>, SqlError>
  return {
    execute: rows(true),
    executeUnprepared: rows(false),
    executeValues: values(true),
    executeValuesUnprepared: values(false),
    executeRaw: (sql, parameters) => query(sql, parameters, "raw", true),
    executeStream: () =>
      Stream.die(new Error("SqliteClient has no streams; read in pages (WHERE key > ? ORDER BY key LIMIT ?)"))
  }
}
