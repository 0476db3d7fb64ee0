/**
 * An `SqlClient` of `effect/sql` over `node:sqlite`: `SqliteClient.layer({ filename })`. It stands in for Effect's own SQLite client,
 * whose names and shapes it has, as long as none on the registry loads with this Effect. Needs `effect` and Node 22.16 or later.
 */
export * as SqliteClient from "./SqliteClient.ts"
