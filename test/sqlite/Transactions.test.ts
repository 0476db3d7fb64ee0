import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import { BeginTransaction, type SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as DatabaseFile from "./DatabaseFile.ts"
import { open } from "./Open.ts"

const withTable = Effect.gen(function* () {
  const sql = yield* open({ filename: yield* DatabaseFile.make })
  yield* sql`CREATE TABLE accounts (id INTEGER PRIMARY KEY)`
  yield* sql`CREATE TABLE payments (account INTEGER REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED)`
  return sql
})

const insert = (sql: SqlClient, id: number) => sql`INSERT INTO accounts VALUES (${id})`

const ids = (sql: SqlClient) =>
  Effect.map(sql`SELECT id FROM accounts ORDER BY id`.values, (rows) => rows.map(([id]) => id))

describe("A transaction", () => {
  it.effect("is kept whole when it succeeds and leaves nothing when it fails or dies", () =>
    Effect.gen(function* () {
      const sql = yield* withTable
      yield* sql.withTransaction(Effect.andThen(insert(sql, 1), insert(sql, 2)))
      const failed = yield* Effect.flip(
        sql.withTransaction(Effect.andThen(insert(sql, 3), Effect.fail("no")))
      )
      assert.strictEqual(failed, "no")
      yield* Effect.exit(sql.withTransaction(Effect.andThen(insert(sql, 4), Effect.die("no"))))
      assert.deepStrictEqual(yield* ids(sql), [1, 2])
    })
  )

  it.effect("within another is undone alone", () =>
    Effect.gen(function* () {
      const sql = yield* withTable
      yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* insert(sql, 1)
          yield* Effect.flip(sql.withTransaction(Effect.andThen(insert(sql, 2), Effect.fail("no"))))
          yield* sql.withTransaction(insert(sql, 3))
        })
      )
      assert.deepStrictEqual(yield* ids(sql), [1, 3])
    })
  )

  it.effect("that is interrupted leaves nothing, and the next can begin", () =>
    Effect.gen(function* () {
      const sql = yield* withTable
      const inserted = yield* Deferred.make<void>()
      const fiber = yield* Effect.forkChild(
        sql.withTransaction(
          insert(sql, 1).pipe(
            Effect.andThen(Deferred.succeed(inserted, undefined)),
            Effect.andThen(Effect.never)
          )
        )
      )
      yield* Deferred.await(inserted)
      yield* Fiber.interrupt(fiber)
      yield* sql.withTransaction(insert(sql, 2))
      assert.deepStrictEqual(yield* ids(sql), [2])
    })
  )

  it.effect("keeps the statements of other fibers out until it has ended", () =>
    Effect.gen(function* () {
      const sql = yield* withTable
      const inserted = yield* Deferred.make<void>()
      const proceed = yield* Deferred.make<void>()
      const fiber = yield* Effect.forkChild(
        sql.withTransaction(
          insert(sql, 1).pipe(
            Effect.andThen(Deferred.succeed(inserted, undefined)),
            Effect.andThen(Deferred.await(proceed)),
            Effect.andThen(Effect.fail("no"))
          )
        )
      )
      yield* Deferred.await(inserted)
      const other = yield* Effect.forkChild(insert(sql, 2))
      const reader = yield* Effect.forkChild(ids(sql))
      for (let turn = 0; turn < 10; turn++) yield* Effect.yieldNow
      assert.isUndefined(other.pollUnsafe())
      yield* Deferred.succeed(proceed, undefined)
      yield* Fiber.await(fiber)
      yield* Fiber.join(other)
      assert.deepStrictEqual(yield* Fiber.join(reader), [2])
    })
  )

  it.effect("that waits for its turn can be interrupted", () =>
    Effect.gen(function* () {
      const sql = yield* withTable
      const begun = yield* Deferred.make<void>()
      const first = yield* Effect.forkChild(
        sql.withTransaction(Effect.andThen(Deferred.succeed(begun, undefined), Effect.never))
      )
      yield* Deferred.await(begun)
      const second = yield* Effect.forkChild(sql.withTransaction(insert(sql, 1)))
      yield* Effect.yieldNow
      yield* Fiber.interrupt(second)
      yield* Fiber.interrupt(first)
      assert.deepStrictEqual(yield* ids(sql), [])
    })
  )

  it.effect("that cannot be committed fails with the reason and leaves nothing open", () =>
    Effect.gen(function* () {
      const sql = yield* withTable
      const error = yield* Effect.flip(
        sql.withTransaction(Effect.andThen(insert(sql, 1), sql`INSERT INTO payments VALUES (99)`))
      )
      assert.strictEqual(error.reason._tag, "ConstraintError")
      assert.match(error.message, /FOREIGN KEY constraint failed/)
      yield* insert(sql, 2)
      assert.deepStrictEqual(yield* ids(sql), [2])
      assert.deepStrictEqual(yield* sql`SELECT * FROM payments`, [])
    })
  )

  it.effect(
    "that SQLite has ended by itself runs no statement more, though its error was caught, and fails",
    () =>
      Effect.gen(function* () {
        const sql = yield* withTable
        yield* insert(sql, 1)
        let after: Result.Result<unknown, SqlError> | undefined
        const error = yield* Effect.flip(
          sql.withTransaction(
            Effect.gen(function* () {
              yield* insert(sql, 2)
              yield* Effect.ignore(sql`INSERT OR ROLLBACK INTO accounts VALUES (1)`)
              after = yield* Effect.result(insert(sql, 3))
            })
          )
        )
        assert.match(String(after), /was not run: an earlier statement ended its transaction/)
        assert.match(error.message, /"COMMIT" was not run/)
        assert.deepStrictEqual(yield* ids(sql), [1])
      })
  )

  it.effect("within one that SQLite has ended by itself fails with the error of its statement", () =>
    Effect.gen(function* () {
      const sql = yield* withTable
      yield* insert(sql, 1)
      const error = yield* Effect.flip(
        sql.withTransaction(sql.withTransaction(sql`INSERT OR ROLLBACK INTO accounts VALUES (1)`))
      )
      assert.strictEqual(error.reason._tag, "UniqueViolation")
    })
  )

  it.effect("runs no statement of a fiber that outlives it", () =>
    Effect.gen(function* () {
      const sql = yield* withTable
      const proceed = yield* Deferred.make<void>()
      const late = yield* sql.withTransaction(
        Effect.forkDetach(Effect.andThen(Deferred.await(proceed), insert(sql, 1)))
      )
      yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* Deferred.succeed(proceed, undefined)
          assert.match(
            (yield* Effect.flip(Fiber.join(late))).message,
            /belongs to a transaction that has ended/
          )
        })
      )
      assert.deepStrictEqual(yield* ids(sql), [])
    })
  )

  it.effect("begins as BeginTransaction says", () =>
    Effect.gen(function* () {
      const filename = yield* DatabaseFile.make
      const one = yield* open({ filename, busyTimeout: 0 })
      const two = yield* open({ filename, busyTimeout: 0 })
      const within = one.withTransaction(Effect.result(two.withTransaction(Effect.void)))
      assert.strictEqual((yield* within)._tag, "Failure")
      const deferred = Effect.provideService(within, BeginTransaction, "BEGIN")
      assert.strictEqual((yield* deferred)._tag, "Success")
    })
  )

  it.effect("runs what is to follow its commit after it, and not when it is undone", () =>
    Effect.gen(function* () {
      const sql = yield* withTable
      const seen: Array<unknown> = []
      const look = sql.afterCommit(
        Effect.flatMap(Effect.orDie(ids(sql)), (ids) => Effect.sync(() => seen.push(ids)))
      )
      yield* sql.withTransaction(Effect.andThen(look, insert(sql, 1)))
      yield* Effect.exit(sql.withTransaction(Effect.andThen(look, Effect.fail("no"))))
      assert.deepStrictEqual(seen, [[1]])
    })
  )
})

describe("A transaction that is begun by hand", () => {
  it.effect("is refused in a statement of its own, and undone", () =>
    Effect.gen(function* () {
      const sql = yield* withTable
      const error = yield* Effect.flip(sql`BEGIN`)
      assert.match(error.message, /"BEGIN" left a transaction open.*use SqlClient.withTransaction/)
      yield* insert(sql, 1)
      yield* sql.withTransaction(insert(sql, 2))
    })
  )

  it.effect("on a reserved connection is undone if it is left open", () =>
    Effect.gen(function* () {
      const sql = yield* withTable
      yield* Effect.scoped(
        Effect.gen(function* () {
          const connection = yield* sql.reserve
          yield* connection.executeRaw("BEGIN", [])
          yield* connection.executeRaw("INSERT INTO accounts VALUES (1)", [])
          yield* connection.executeRaw("COMMIT", [])
          yield* connection.executeRaw("BEGIN", [])
          yield* connection.executeRaw("INSERT INTO accounts VALUES (2)", [])
        })
      )
      assert.deepStrictEqual(yield* ids(sql), [1])
    })
  )
})

describe("A client whose scope has closed", () => {
  it.effect("has undone what was open and fails", () =>
    Effect.gen(function* () {
      const filename = yield* DatabaseFile.make
      const scope = yield* Scope.make()
      const sql = yield* Scope.provide(open({ filename }), scope)
      yield* sql`CREATE TABLE accounts (id INTEGER PRIMARY KEY)`
      const error = yield* Effect.flip(
        sql.withTransaction(Effect.andThen(insert(sql, 1), Scope.close(scope, Exit.void)))
      )
      for (const { reason } of [error, yield* Effect.flip(insert(sql, 2))]) {
        assert.strictEqual(reason._tag, "ConnectionError")
        assert.match(reason.message ?? "", /test\.db was closed with its scope/)
      }
      assert.deepStrictEqual(yield* ids(yield* open({ filename })), [])
    })
  )
})
