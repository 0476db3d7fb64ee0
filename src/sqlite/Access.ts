/**
 * Who may use the only connection, and when: one statement, one reservation or one transaction at a time. Who waits for another
 * connection's lock lets the others in meanwhile.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { BeginTransaction, makeSqliteAcquirers } from "effect/sql/SqlClient"
import type { Acquirer, Borrower, Connection } from "effect/sql/SqlConnection"
import type { SqlError } from "effect/sql/SqlError"
import type * as Busy from "./Busy.ts"
import * as SqlConnection from "./Connection.ts"
import type { Database, Query } from "./Database.ts"
import * as Failure from "./Failure.ts"

export interface Access {
  /** For one statement outside a transaction. */
  readonly borrower: Borrower
  /** For as long as a scope. A transaction begun by hand and left open is rolled back when the scope closes. */
  readonly acquirer: Acquirer
  /** In a transaction that has begun. It is rolled back when the scope closes, unless it was committed. */
  readonly transaction: Acquirer
  readonly commit: (connection: Connection) => Effect.Effect<void, SqlError>
  /** Does nothing if no transaction is open. */
  readonly rollback: Effect.Effect<void, SqlError>
  readonly isInTransaction: () => boolean
}

/** `begin` starts a transaction, unless `SqlClient.BeginTransaction` has another statement. */
export const make = (database: Database, retry: Busy.Retry, begin: string): Access => {
  const { isInTransaction, isOpen, run } = database
  const connection = SqlConnection.make(run)
  const acquirers = makeSqliteAcquirers({
    connection: Effect.succeed(connection),
    semaphore: Semaphore.makeUnsafe(1),
    isTransaction: isInTransaction
  })
  // When it fails, the acquirers give no connection before they could roll back. They look for an open transaction at once, so not now.
  const rollback = Effect.suspend(() => acquirers.onCommitFailure(connection))
  const lease = Effect.uninterruptibleMask((restore) =>
    Effect.andThen(
      restore(acquirers.acquirer),
      Effect.addFinalizer(() => Effect.ignore(rollback))
    )
  )

  const lone = SqlConnection.make((query) =>
    Effect.uninterruptible(
      Effect.flatMap(run(query), (result) =>
        isInTransaction() ? Effect.andThen(rollback, Effect.fail(leftOpen(query))) : Effect.succeed(result)
      )
    )
  )
  const reserved = SqlConnection.make((query) =>
    Effect.suspend(() => (isInTransaction() ? run(query) : retry(run(query))))
  )

  const begun = Effect.fnUntraced(function* (scope: Scope.Scope) {
    const statement = (yield* BeginTransaction) ?? begin
    yield* Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(Scope.fork(scope), (attempt) =>
        restore(Scope.provide(lease, attempt)).pipe(
          Effect.andThen(connection.execute(statement, [], undefined)),
          Effect.onError((cause) => Scope.close(attempt, Exit.failCause(cause)))
        )
      )
    )
  })

  const transaction = Effect.gen(function* () {
    const scope = yield* Effect.scope
    yield* retry(begun(scope))
    let ended = false
    yield* Scope.addFinalizer(
      scope,
      Effect.sync(() => {
        ended = true
      })
    )
    // A fiber that outlives the transaction still has this connection, and SQLite ends a transaction by itself after some errors: in
    // both cases a statement would be committed alone, or in the transaction of somebody else.
    return SqlConnection.make((query) =>
      Effect.suspend(() => {
        if (ended) return Effect.fail(tooLate(query))
        return isOpen() && !isInTransaction() ? Effect.fail(lost(query)) : run(query)
      })
    )
  })

  return {
    borrower: (use) => retry(acquirers.borrower(() => use(lone))),
    acquirer: Effect.as(lease, reserved),
    transaction,
    commit: (connection) => Effect.asVoid(retry(connection.execute("COMMIT", [], undefined))),
    rollback,
    isInTransaction
  }
}

const leftOpen = (query: Query): SqlError =>
  Failure.refused(
    `SQLite, execute: ${JSON.stringify(query.sql)} left a transaction open, which was rolled back; use SqlClient.withTransaction`,
    "execute"
  )

const tooLate = (query: Query): SqlError =>
  Failure.refused(
    `SQLite, execute: ${JSON.stringify(query.sql)} belongs to a transaction that has ended; it was not run`,
    "execute"
  )

const lost = (query: Query): SqlError =>
  Failure.refused(
    `SQLite, execute: ${JSON.stringify(query.sql)} was not run: an earlier statement ended its transaction ` +
      "(SQLite rolls back by itself when the disk is full, for instance)",
    "execute"
  )
