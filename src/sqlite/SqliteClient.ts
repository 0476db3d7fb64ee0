/**
 * An `SqlClient` over `node:sqlite`, safe for several processes on one file.
 *
 * A commit that has succeeded survives a crash and a loss of power. A transaction holds the write lock from its beginning (`BEGIN
 * IMMEDIATE`); where another process holds it, fibers wait up to `busyTimeout` without stopping this process. There is one connection:
 * statements and transactions of different fibers take turns. Each statement runs on the main thread and blocks it, a commit for as long
 * as the disk needs.
 *
 * What values become in the database and back: see `Parameters`; an integer beyond 2^53 fails to be read, unless
 * `SqlClient.SafeIntegers` is provided: then every integer is a bigint. A statement that fails in reading its rows has been run: outside
 * a transaction its changes stay. There are no streams.
 */
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Reactivity from "effect/reactivity/Reactivity"
import type * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import type * as SqlConnection from "effect/sql/SqlConnection"
import type { SqlError } from "effect/sql/SqlError"
import * as Statement from "effect/sql/Statement"
import * as Access from "./Access.ts"
import * as Busy from "./Busy.ts"
import * as Database from "./Database.ts"
import type { SqliteClientConfig } from "./Options.ts"
import * as Options from "./Options.ts"

export type { SqliteClientConfig } from "./Options.ts"

export interface SqliteClient extends SqlClient.SqlClient {
  readonly config: SqliteClientConfig
}

export const SqliteClient = Context.Service<SqliteClient>("toolspan/sqlite/SqliteClient")

/**
 * A client whose database is open as long as the scope. Fails with a `ConnectionError` if the file cannot be opened or this Node has no
 * `node:sqlite`, with a `LockTimeoutError` if it stays locked. Dies if an option is not valid.
 */
export const make = (
  options: SqliteClientConfig
): Effect.Effect<SqliteClient, SqlError, Scope.Scope | Reactivity.Reactivity> =>
  Effect.gen(function* () {
    Options.validate(options)
    const retry = Busy.makeRetry(options.filename, Options.busyTimeout(options))
    const database = yield* Database.open(options, retry)
    const access = Access.make(database, retry, options.readonly === true ? "BEGIN" : "BEGIN IMMEDIATE")
    const spanAttributes: ReadonlyArray<readonly [string, unknown]> = [
      ...Object.entries(options.spanAttributes ?? {}),
      ["db.system.name", "sqlite"]
    ]
    const client = yield* SqlClient.make({
      acquirer: access.acquirer,
      borrower: access.borrower,
      compiler: Statement.makeCompilerSqlite(options.transformQueryNames),
      driver: "sqlite-node",
      spanAttributes,
      ...(options.transformResultNames === undefined
        ? {}
        : { transformRows: Statement.defaultTransforms(options.transformResultNames).array })
    })
    return Object.assign(client, {
      config: options,
      withTransaction: transactions(client, access, spanAttributes)
    })
  })

/** The client, opened from `Config`. */
export const layerConfig = (
  config: Config.Wrap<SqliteClientConfig>
): Layer.Layer<SqliteClient | SqlClient.SqlClient, Config.ConfigError | SqlError> =>
  layerFrom(Effect.flatMap(Config.unwrap(config), make))

/** The client, as itself and as `SqlClient`; fails and dies as `make` does. */
export const layer = (
  config: SqliteClientConfig
): Layer.Layer<SqliteClient | SqlClient.SqlClient, SqlError> => layerFrom(make(config))

const layerFrom = <E>(make: Effect.Effect<SqliteClient, E, Scope.Scope | Reactivity.Reactivity>) =>
  Layer.effectContext(
    Effect.map(make, (client) =>
      Context.make(SqliteClient, client).pipe(Context.add(SqlClient.SqlClient, client))
    )
  ).pipe(Layer.provide(Reactivity.layer))

/**
 * The client's own would run BEGIN where nothing can be interrupted. Here it is part of getting the connection, so who waits for the
 * write lock can be interrupted.
 */
const transactions = (
  client: SqlClient.SqlClient,
  access: Access.Access,
  spanAttributes: ReadonlyArray<readonly [string, unknown]>
): SqlClient.SqlClient["withTransaction"] => {
  type Control = (connection: SqlConnection.Connection, id: number) => Effect.Effect<void, SqlError>
  const savepoint =
    (statement: string): Control =>
    (connection, id) =>
      Effect.asVoid(connection.execute(`${statement} effect_sql_${id}`, [], undefined))
  const ifOpen =
    (control: Control): Control =>
    (connection, id) =>
      Effect.suspend(() => (access.isInTransaction() ? control(connection, id) : Effect.void))
  return SqlClient.makeWithTransaction({
    transactionService: client.transactionService,
    spanAttributes,
    acquireConnection: (restore) => restore(access.transaction),
    begin: () => Effect.void,
    commit: access.commit,
    rollback: () => access.rollback,
    savepoint: savepoint("SAVEPOINT"),
    releaseSavepoint: ifOpen(savepoint("RELEASE SAVEPOINT")),
    rollbackSavepoint: ifOpen(savepoint("ROLLBACK TO SAVEPOINT"))
  })
}
