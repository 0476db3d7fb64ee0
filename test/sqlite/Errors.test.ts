import * as fs from "node:fs"
import * as path from "node:path"
import process from "node:process"
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Stream from "effect/Stream"
import { vi } from "vitest"
import * as SqliteClient from "../../src/sqlite/SqliteClient.ts"
import * as DatabaseFile from "./DatabaseFile.ts"
import { open } from "./Open.ts"

describe("An error of SQLite", () => {
  const cases: Readonly<Record<string, readonly [sql: string, reason: string, message: string]>> = {
    "a primary key that is there": [
      "INSERT INTO t VALUES (1, 2, 3)",
      "UniqueViolation",
      "UNIQUE constraint failed: t.id"
    ],
    "a text primary key that is there": [
      "INSERT INTO u VALUES ('a')",
      "UniqueViolation",
      "UNIQUE constraint failed: u.id"
    ],
    "a unique value that is there": [
      "INSERT INTO t VALUES (2, 1, 3)",
      "UniqueViolation",
      "UNIQUE constraint failed: t.a"
    ],
    "a value that is missing": [
      "INSERT INTO t VALUES (2, 2, NULL)",
      "ConstraintError",
      "NOT NULL constraint failed: t.b"
    ],
    "a value that is not allowed": [
      "INSERT INTO t VALUES (2, 2, -1)",
      "ConstraintError",
      "CHECK constraint failed"
    ],
    "a key that is nowhere": ["INSERT INTO r VALUES (9)", "ConstraintError", "FOREIGN KEY constraint failed"],
    "no SQL": ["SELEC 1", "SqlSyntaxError", 'prepare: near "SELEC": syntax error'],
    "no table": ["SELECT * FROM nowhere", "SqlSyntaxError", "no such table: nowhere"],
    "an error in running": ["SELECT abs(-9223372036854775808)", "UnknownError", "execute: integer overflow"],
    nothing: [" ; -- nothing", "UnknownError", "there is no statement in it"],
    "two statements": ["SELECT 1; DELETE FROM t", "UnknownError", "more than one statement"]
  }
  for (const [what, [text, reason, message]] of Object.entries(cases)) {
    it.effect(`for ${what} is a ${reason}, with the words of SQLite`, () =>
      Effect.gen(function* () {
        const sql = yield* open({ filename: ":memory:" })
        yield* sql`CREATE TABLE t (id INTEGER PRIMARY KEY, a UNIQUE, b NOT NULL CHECK (b > 0))`
        yield* sql`CREATE TABLE u (id TEXT PRIMARY KEY)`
        yield* sql`CREATE TABLE r (t REFERENCES t (id))`
        yield* sql`INSERT INTO t VALUES (1, 1, 1)`
        yield* sql`INSERT INTO u VALUES ('a')`
        const error = yield* Effect.flip(sql.unsafe(text))
        assert.strictEqual(error.reason._tag, reason)
        assert.include(error.message, message)
        assert.instanceOf(error.reason.cause, Error)
        assert.deepEqual(yield* sql`SELECT count(*) AS n FROM t`, [{ n: 1 }])
      })
    )
  }

  it.effect("is not remembered for a statement that can run later", () =>
    Effect.gen(function* () {
      const sql = yield* open({ filename: ":memory:" })
      const query = sql`SELECT * FROM t`
      yield* Effect.flip(query)
      yield* sql`CREATE TABLE t (id)`
      assert.deepEqual(yield* query, [])
    })
  )

  it.effect("names the constraint that a row violates", () =>
    Effect.gen(function* () {
      const sql = yield* open({ filename: ":memory:" })
      yield* sql`CREATE TABLE t (a, b, PRIMARY KEY (a, b))`
      yield* sql`INSERT INTO t VALUES (1, 2)`
      const { reason } = yield* Effect.flip(sql`INSERT INTO t VALUES (1, 2)`)
      assert.strictEqual(reason._tag === "UniqueViolation" && reason.constraint, "t.a, t.b")
    })
  )
})

describe("A statement", () => {
  it.effect("may be followed by semicolons and comments", () =>
    Effect.gen(function* () {
      const sql = yield* open({ filename: ":memory:" })
      for (const text of [
        "SELECT 1 AS n;",
        "\n  -- first\n SELECT 1 AS n; -- last",
        "/* first */ SELECT 1 AS n;; /* ; SELECT 2 */\n--\n/* open"
      ]) {
        assert.deepEqual(yield* sql.unsafe(text), [{ n: 1 }])
      }
    })
  )

  it.effect("after a long line of dashes is found soon", () =>
    Effect.gen(function* () {
      const sql = yield* open({ filename: ":memory:" })
      const text = `SELECT 1; ${"-".repeat(10_000)}\n${"/* */".repeat(10_000)} SELECT 2`
      assert.match((yield* Effect.flip(sql.unsafe(text))).message, /more than one statement/)
    })
  )

  it.effect("that is one of more than are kept prepared runs all the same", () =>
    Effect.gen(function* () {
      const sql = yield* open({ filename: ":memory:", prepareCacheSize: 2 })
      for (let round = 0; round < 2; round++) {
        for (let n = 0; n < 5; n++) assert.deepEqual(yield* sql.unsafe(`SELECT ${n} AS n`), [{ n }])
      }
    })
  )

  it.effect("cannot be streamed, and says what to do", () =>
    Effect.gen(function* () {
      const sql = yield* open({ filename: ":memory:" })
      const exit = yield* Effect.exit(Stream.runDrain(sql`SELECT 1`.stream))
      assert.isTrue(Exit.hasDies(exit))
      assert.match(Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "", /no streams; read in pages/)
      assert.deepEqual(yield* sql`SELECT 1 AS n`, [{ n: 1 }])
    })
  )
})

describe("Opening", () => {
  it.effect("sets what a commit that survives a loss of power needs, and foreign keys", () =>
    Effect.gen(function* () {
      const sql = yield* open({ filename: yield* DatabaseFile.make })
      const settings = ["journal_mode", "synchronous", "foreign_keys", "fullfsync", "busy_timeout"] as const
      const values = yield* Effect.forEach(settings, (name) =>
        Effect.map(sql.unsafe(`PRAGMA ${name}`).values, ([row]) => [name, row?.[0]])
      )
      assert.deepStrictEqual(Object.fromEntries(values), {
        journal_mode: "wal",
        synchronous: 2,
        foreign_keys: 1,
        fullfsync: 1,
        busy_timeout: 0
      })
    })
  )

  it.effect("fails where there is no such folder, no such file to read, or no database", () =>
    Effect.gen(function* () {
      const filename = yield* DatabaseFile.make
      const missing = yield* Effect.flip(open({ filename: path.join(filename, "x.db") }))
      assert.strictEqual(missing.reason._tag, "ConnectionError")
      const unread = yield* Effect.flip(open({ filename, readonly: true }))
      assert.strictEqual(unread.reason._tag, "ConnectionError")
      for (const { message } of [missing, unread]) assert.include(message, filename)
      fs.writeFileSync(filename, "no database, but long enough for a header".repeat(50))
      assert.include((yield* Effect.flip(open({ filename }))).message, "file is not a database")
      assert.include(
        (yield* Effect.flip(open({ filename, readonly: true }))).message,
        "file is not a database"
      )
    })
  )

  it.effect("to read only reads, also in a transaction, what another client writes", () =>
    Effect.gen(function* () {
      const filename = yield* DatabaseFile.make
      const writer = yield* open({ filename })
      yield* writer`CREATE TABLE t (id)`
      const reader = yield* open({ filename, readonly: true })
      yield* writer`INSERT INTO t VALUES (1)`
      assert.deepEqual(yield* reader.withTransaction(reader`SELECT * FROM t`), [{ id: 1 }])
      assert.include((yield* Effect.flip(reader`INSERT INTO t VALUES (2)`)).message, "readonly database")
    })
  )

  it.effect("fails with the Node that is needed where there is no node:sqlite", () =>
    Effect.gen(function* () {
      yield* Effect.acquireRelease(
        Effect.sync(() => vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined)),
        (spy) => Effect.sync(() => spy.mockRestore())
      )
      const { reason } = yield* Effect.flip(open({ filename: ":memory:" }))
      assert.strictEqual(reason._tag, "ConnectionError")
      assert.strictEqual(
        reason.message,
        `SqliteClient needs node:sqlite as it is in Node 22.16 and later; this is Node ${process.version}`
      )
    })
  )

  it.effect("takes its options from Config", () =>
    Effect.gen(function* () {
      const filename = yield* DatabaseFile.make
      const layer = SqliteClient.layerConfig({ filename: Config.String("DATABASE") })
      const config = yield* Effect.map(SqliteClient.SqliteClient, ({ config }) => config).pipe(
        Effect.provide(layer),
        Effect.provideService(
          ConfigProvider.ConfigProvider,
          ConfigProvider.fromUnknown({ DATABASE: filename })
        )
      )
      assert.deepStrictEqual(config, { filename })
      assert.isTrue(fs.existsSync(filename))
    })
  )

  it.effect("gives every span of the client the attributes that are set", () =>
    Effect.gen(function* () {
      const spans: Array<ReadonlyMap<string, unknown>> = []
      const sql = yield* open({ filename: ":memory:", spanAttributes: { "app.part": "ledger" } })
      yield* sql.withTransaction(
        Effect.andThen(
          sql`SELECT 1`,
          Effect.map(Effect.currentSpan, (span) => spans.push(span.attributes))
        )
      )
      assert.deepStrictEqual(
        spans.map((attributes) => Object.fromEntries(attributes)),
        [{ "app.part": "ledger", "db.system.name": "sqlite" }]
      )
    })
  )

  const wrong: Readonly<Record<string, readonly [options: unknown, message: string]>> = {
    "no file name": [{}, 'SqliteClient: option "filename" is missing; allowed: a path or ":memory:"'],
    "an empty file name": [{ filename: "" }, 'option "filename" is ""; allowed: a path or ":memory:"'],
    "an unknown option": [{ filename: "a", readOnly: true }, 'unknown option "readOnly"'],
    "a timeout without end": [
      { filename: "a", busyTimeout: "Infinity" },
      'option "busyTimeout" is "Infinity"'
    ],
    "a timeout below 0": [{ filename: "a", busyTimeout: -1 }, 'option "busyTimeout" is -1'],
    "no statements kept": [{ filename: "a", prepareCacheSize: 0 }, "allowed: an integer, at least 1"],
    nothing: [undefined, "the options are undefined; allowed: an object"]
  }
  for (const [what, [options, message]] of Object.entries(wrong)) {
    it.effect(`dies of ${what}`, () =>
      Effect.gen(function* () {
        const exit = yield* Effect.exit(open(options as SqliteClient.SqliteClientConfig))
        assert.isTrue(Exit.hasDies(exit))
        assert.include(Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "", message)
      })
    )
  }
})
