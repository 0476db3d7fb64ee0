/**
 * One open database: its settings, its prepared statements, and the running of one statement. A statement runs to its end at once, so
 * nothing can be interrupted within.
 */
import process from "node:process"
import type { DatabaseSync, StatementSync } from "node:sqlite"
import * as Cache from "effect/Cache"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import { SafeIntegers } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type * as Busy from "./Busy.ts"
import * as Failure from "./Failure.ts"
import type { SqliteClientConfig } from "./Options.ts"
import * as Parameters from "./Parameters.ts"

/** A statement, its values, and what to give back. */
export interface Query {
  readonly sql: string
  readonly parameters: ReadonlyArray<unknown>
  /** Rows as objects; rows as arrays; or what the driver gives: rows, or for a statement without rows the count of changes. */
  readonly result: "rows" | "values" | "raw"
  /** Whether the prepared statement is kept for the next time. */
  readonly keep: boolean
}

export interface Database {
  readonly run: (query: Query) => Effect.Effect<unknown, SqlError>
  readonly isOpen: () => boolean
  readonly isInTransaction: () => boolean
}

/**
 * Opens the database and closes it with the scope. A commit has reached the disk when it returns (`synchronous = FULL`), readers do not
 * wait for writers (WAL), foreign keys hold.
 */
export const open = (
  options: SqliteClientConfig,
  retry: Busy.Retry
): Effect.Effect<Database, SqlError, Scope.Scope> =>
  Effect.gen(function* () {
    const db = yield* Effect.acquireRelease(connect(options), (db) => Effect.sync(() => db.close()))
    yield* retry(attempt("open", () => configure(db, options), options.filename))
    const cutsText = Parameters.cutsText(db)
    const prepare = (sql: string) => attempt("prepare", () => prepareOne(db, sql))
    const kept = yield* Cache.makeWith(prepare, {
      capacity: options.prepareCacheSize ?? 200,
      // A statement that failed for want of a table may succeed when there is one.
      timeToLive: (exit) => (Exit.isSuccess(exit) ? Duration.infinity : Duration.zero)
    })
    const closed = Failure.unavailable(
      `SQLite, execute: ${options.filename} was closed with its scope`,
      "execute"
    )
    return {
      isOpen: () => db.isOpen,
      isInTransaction: () => db.isOpen && db.isTransaction,
      run: (query) =>
        Effect.gen(function* () {
          if (!db.isOpen) return yield* closed
          const statement = yield* query.keep && !namesAllColumns(query.sql)
            ? Cache.get(kept, query.sql)
            : prepare(query.sql)
          const parameters = yield* attempt("bind", () => Parameters.toSqlite(query.parameters, cutsText))
          const bigints = yield* SafeIntegers
          return yield* attempt("execute", () => {
            // Both stay set on a statement that is kept.
            statement.setReadBigInts(bigints)
            statement.setReturnArrays(query.result === "values")
            return query.result === "raw" && statement.columns().length === 0
              ? statement.run(...parameters)
              : statement.all(...parameters)
          })
        })
    }
  })

const connect = (options: SqliteClientConfig): Effect.Effect<DatabaseSync, SqlError> =>
  Effect.suspend(() => {
    const sqlite = process.getBuiltinModule?.("node:sqlite")
    if (sqlite === undefined) return tooOld
    return Effect.flatMap(
      attempt(
        "open",
        () =>
          new sqlite.DatabaseSync(options.filename, {
            readOnly: options.readonly ?? false,
            enableForeignKeyConstraints: true,
            timeout: 0
          }),
        options.filename
      ),
      (db) => {
        if (typeof db.isTransaction === "boolean") return Effect.succeed(db)
        db.close()
        return tooOld
      }
    )
  })

const tooOld = Failure.unavailable(
  `SqliteClient needs node:sqlite as it is in Node 22.16 and later; this is Node ${process.version}`,
  "open"
)

const configure = (db: DatabaseSync, options: SqliteClientConfig): void => {
  // FULL does not reach the disk on macOS without fullfsync.
  db.exec("PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON")
  if (options.readonly === true) {
    // Opening does not read the file; this does.
    db.exec("SELECT 1 FROM sqlite_schema LIMIT 1")
    return
  }
  const mode = db.prepare("PRAGMA journal_mode = WAL").get()?.["journal_mode"]
  if (mode !== "wal" && mode !== "memory") {
    throw new Error(`the file cannot have a write-ahead log: its journal mode stays ${mode}`)
  }
}

/** `node:sqlite` prepares the first statement of several and leaves out the others. */
const prepareOne = (db: DatabaseSync, sql: string): StatementSync => {
  if (SAYS_NOTHING.test(sql)) throw new Error("there is no statement in it")
  if (namesAllColumns(sql)) db.exec("SELECT 1 FROM sqlite_schema LIMIT 0")
  const statement = db.prepare(sql)
  if (!SAYS_NOTHING.test(sql.slice(statement.sourceSQL.length))) {
    throw new Error("more than one statement; give them one by one")
  }
  return statement
}

/**
 * Up to Node 24.17 at least, a statement gives the columns that it had when it was prepared, and prepares with the schema as the
 * connection last saw it. So one with `*` is prepared each time, after a look at the schema.
 */
const namesAllColumns = (sql: string): boolean => sql.includes("*")

/** White space, semicolons, comments. */
const SAYS_NOTHING = /^(?:[\s;]|--[^\n]*(?:\n|$)|\/\*(?:[^*]|\*(?!\/))*(?:\*\/|$))*$/

const attempt = <A>(
  operation: Failure.Operation,
  thunk: () => A,
  filename?: string
): Effect.Effect<A, SqlError> =>
  Effect.try({ try: thunk, catch: (cause) => Failure.fromThrown(cause, operation, filename) })
