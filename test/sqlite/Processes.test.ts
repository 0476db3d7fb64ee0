import { assert, describe, it } from "@effect/vitest"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as SqlClient from "effect/sql/SqlClient"
import * as Child from "./Child.ts"
import * as DatabaseFile from "./DatabaseFile.ts"
import { open } from "./Open.ts"

/** A new file with one table, and a client for it. */
const withTable = Effect.fnUntraced(function* (busyTimeout: Duration.Input) {
  const filename = yield* DatabaseFile.make
  const sql = yield* open({ filename, busyTimeout })
  yield* sql`CREATE TABLE payments (id INTEGER PRIMARY KEY)`
  return { filename, sql }
})

/** Another process that holds the write lock until it is told to release it. */
const lock = Effect.fnUntraced(function* (filename: string) {
  const child = yield* Child.start("lock.ts", filename)
  yield* child.lines(1)
  return { release: Effect.andThen(child.say("release"), child.lines(2)) }
})

const ids = (sql: SqlClient.SqlClient) =>
  Effect.map(sql<{ id: number }>`SELECT id FROM payments ORDER BY id`, (rows) => rows.map(({ id }) => id))

describe("While another process holds the write lock", () => {
  it.live("the event loop and reads go on, and a statement and a transaction succeed after it", () =>
    Effect.gen(function* () {
      const { filename, sql } = yield* withTable("1 hour")
      const { release } = yield* lock(filename)
      const alone = yield* Effect.forkChild(sql`INSERT INTO payments VALUES (1)`)
      const transaction = yield* Effect.forkChild(sql.withTransaction(sql`INSERT INTO payments VALUES (2)`))
      // About half a second; were the loop blocked, it would be the hour.
      for (let tick = 0; tick < 100; tick++) {
        yield* Effect.sleep(5)
        assert.deepStrictEqual(yield* ids(sql), [])
      }
      assert.isUndefined(alone.pollUnsafe())
      assert.isUndefined(transaction.pollUnsafe())
      yield* release
      yield* Fiber.joinAll([alone, transaction])
      assert.deepStrictEqual(yield* ids(sql), [1, 2])
    }).pipe(Effect.scoped)
  )

  for (const [what, write] of [
    ["a statement", (sql: SqlClient.SqlClient) => sql`INSERT INTO payments VALUES (1)`],
    [
      "a transaction",
      (sql: SqlClient.SqlClient) => sql.withTransaction(sql`INSERT INTO payments VALUES (1)`)
    ],
    [
      "a statement on a reserved connection",
      (sql: SqlClient.SqlClient) =>
        Effect.scoped(
          Effect.flatMap(sql.reserve, (connection) =>
            connection.executeRaw("INSERT INTO payments VALUES (1)", [])
          )
        )
    ]
  ] as const) {
    it.live(
      `${what} fails after busyTimeout, saying which file is locked, and leaves the client usable`,
      () =>
        Effect.gen(function* () {
          const { filename, sql } = yield* withTable("100 millis")
          const child = yield* Child.start("lock.ts", filename)
          yield* child.lines(1)
          const error = yield* Effect.flip(write(sql))
          assert.strictEqual(error.reason._tag, "LockTimeoutError")
          assert.match(error.message, /database is locked.*busyTimeout of 100ms/)
          assert.include(error.message, filename)
          yield* child.say("release")
          yield* child.lines(2)
          yield* write(sql)
          assert.deepStrictEqual(yield* ids(sql), [1])
        }).pipe(Effect.scoped)
    )

    it.live(`${what} that waits can be interrupted`, () =>
      Effect.gen(function* () {
        const { filename, sql } = yield* withTable("1 hour")
        const { release } = yield* lock(filename)
        const fiber = yield* Effect.forkChild(write(sql))
        yield* Effect.sleep(20)
        yield* Fiber.interrupt(fiber)
        assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
        yield* release
        assert.deepStrictEqual(yield* ids(sql), [])
        yield* sql.withTransaction(sql`INSERT INTO payments VALUES (2)`)
      }).pipe(Effect.scoped)
    )
  }

  it.live("a new file is opened after it, or fails to open within busyTimeout", () =>
    Effect.gen(function* () {
      const filename = yield* DatabaseFile.make
      const { release } = yield* lock(filename)
      const error = yield* Effect.flip(open({ filename, busyTimeout: "50 millis" }))
      assert.strictEqual(error.reason._tag, "LockTimeoutError")
      assert.match(error.message, /^SQLite, open: the database is locked/)
      const opening = yield* Effect.forkChild(open({ filename, busyTimeout: "1 hour" }))
      yield* Effect.sleep(20)
      yield* release
      const sql = yield* Fiber.join(opening)
      assert.strictEqual((yield* sql`PRAGMA journal_mode`)[0]?.["journal_mode"], "wal")
    }).pipe(Effect.scoped)
  )
})

describe("Several processes", () => {
  it.live("open a new file at once and lose no update", () =>
    Effect.gen(function* () {
      const filename = yield* DatabaseFile.make
      const children = yield* Effect.forEach([1, 2, 3, 4], () => Child.start("increment.ts", filename, "50"))
      for (const child of children) {
        assert.deepStrictEqual(yield* child.ended, { code: 0, lines: [] })
      }
      const sql = yield* open({ filename })
      assert.strictEqual((yield* sql`SELECT value FROM counter`)[0]?.["value"], 200)
    }).pipe(Effect.scoped)
  )
})

describe("A process that is killed between commits", () => {
  it.live("leaves every row that it had told, whole transactions only, and a sound file", () =>
    Effect.gen(function* () {
      const filename = yield* DatabaseFile.make
      const child = yield* Child.start("commit.ts", filename)
      yield* child.lines(100)
      yield* child.kill
      const told = (yield* child.ended).lines.map(Number)
      const sql = yield* open({ filename })
      const stored = yield* ids(sql)
      assert.deepStrictEqual(stored.slice(0, told.length), told)
      // Of what was committed and not told there is one step at most.
      assert.isAtMost(stored.length, told.length + 2)
      assert.notStrictEqual(stored.length % 3, 2)
      assert.deepStrictEqual(
        (yield* sql`PRAGMA integrity_check`).map((row) => row["integrity_check"]),
        ["ok"]
      )
    }).pipe(Effect.scoped)
  )
})
