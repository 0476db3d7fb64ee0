import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { SafeIntegers } from "effect/sql/SqlClient"
import * as fc from "fast-check"
import * as Parameters from "../../src/sqlite/Parameters.ts"
import * as DatabaseFile from "./DatabaseFile.ts"
import { open } from "./Open.ts"

const memory = open({ filename: ":memory:" })

/** The value as it comes back, and what SQLite calls it, from a column that takes everything as it is. */
const stored = Effect.fnUntraced(function* (value: unknown) {
  const sql = yield* memory
  yield* sql`CREATE TABLE t (v)`
  yield* sql`INSERT INTO t VALUES (${value})`
  const [[type, back] = []] = yield* sql`SELECT typeof(v), v FROM t`.values
  return [type, back]
})

describe("A value", () => {
  const cases: Readonly<Record<string, readonly [given: unknown, type: string, back: unknown]>> = {
    text: ["aü🙂", "text", "aü🙂"],
    "a number": [1.5, "real", 1.5],
    "a bigint": [42n, "integer", 42],
    null: [null, "null", null],
    true: [true, "integer", 1],
    false: [false, "integer", 0],
    bytes: [new Uint8Array([0, 255]), "blob", new Uint8Array([0, 255])],
    "no bytes": [new Uint8Array(), "blob", new Uint8Array()],
    "a Date": [new Date(Date.UTC(2026, 11, 1, 12)), "text", "2026-12-01T12:00:00.000Z"]
  }
  for (const [what, [given, type, back]] of Object.entries(cases)) {
    it.effect(`that is ${what} is kept`, () =>
      Effect.gen(function* () {
        const actual = yield* stored(given)
        // A boolean is bound as a number, which is REAL until a column of type INTEGER takes it.
        assert.deepStrictEqual(actual, [typeof given === "boolean" ? "real" : type, back])
      })
    )
  }

  const refused: Readonly<Record<string, readonly [given: unknown, named: string]>> = {
    undefined: [undefined, "undefined"],
    NaN: [Number.NaN, "NaN"],
    "an object, which node:sqlite takes for named parameters": [{ v: 1 }, "a value of type object"],
    "an array": [[1], "an array"],
    "a function": [() => 1, "a value of type function"],
    "a symbol": [Symbol.for("s"), "Symbol(s)"],
    "an invalid Date": [new Date(Number.NaN), "an invalid Date"]
  }
  for (const [what, [given, named]] of Object.entries(refused)) {
    it.effect(`that is ${what} is refused by its place`, () =>
      Effect.gen(function* () {
        const sql = yield* memory
        const error = yield* Effect.flip(sql.unsafe("SELECT ?, ?", [given, 1]))
        assert.include(error.message, `parameter 1 is ${named}; allowed: string, number,`)
        assert.include((yield* Effect.flip(sql.unsafe("SELECT ?, ?", [1, given]))).message, "parameter 2 is")
      })
    )
  }

  it.effect("that is text with U+0000 is kept whole, or refused where this Node would cut it", () =>
    Effect.gen(function* () {
      const db = new DatabaseSync(":memory:")
      yield* Effect.addFinalizer(() => Effect.sync(() => db.close()))
      const cut = db.prepare("SELECT ? AS v").get("a\0b")?.["v"] === "a"
      const result = yield* Effect.result(stored("a\0b"))
      if (cut) assert.match(String(result), /parameter 1 is text with the character U\+0000/)
      else assert.deepStrictEqual(result, Result.succeed(["text", "a\0b"]))
      assert.throws(
        () => Parameters.toSqlite([1, "a\0b"], true),
        "parameter 2 is text with the character U+0000"
      )
    })
  )

  it.effect("that is a bigint of more than 64 bits is refused", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(stored(2n ** 63n))
      assert.match(error.message, /too large/)
    })
  )

  it.effect("that is text, a 64-bit integer, a number or bytes comes back as it was", () =>
    Effect.gen(function* () {
      const sql = yield* memory
      const value = fc.oneof(
        fc.string({ unit: "binary" }).filter((text) => !text.includes("\0")),
        fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
        fc.double({ noNaN: true }),
        fc.uint8Array()
      )
      const back = yield* Effect.promise(() =>
        fc.check(
          fc.asyncProperty(value, async (value) => {
            const [[back] = []] = await Effect.runPromise(
              sql`SELECT ${value}`.values.pipe(Effect.provideService(SafeIntegers, true))
            )
            assert.deepStrictEqual(back, value)
          }),
          { numRuns: 500 }
        )
      )
      assert.isFalse(
        back.failed,
        JSON.stringify(back.counterexample, (_, value) => String(value))
      )
    })
  )
})

describe("An integer beyond 2^53", () => {
  it.effect("is an error, never another number, unless SafeIntegers are provided", () =>
    Effect.gen(function* () {
      const sql = yield* memory
      const query = sql`SELECT 9007199254740993 AS big, 1 AS small`
      const error = yield* Effect.flip(query)
      assert.match(error.message, /9007199254740993.*SqlClient\.SafeIntegers/)
      const bigints = Effect.provideService(SafeIntegers, true)
      assert.deepEqual(yield* bigints(query), [{ big: 9007199254740993n, small: 1n }])
      assert.deepEqual(yield* bigints(query.values), [[9007199254740993n, 1n]])
      // The statement that is kept does not remember.
      assert.match((yield* Effect.flip(query)).message, /9007199254740993/)
    })
  )
})

describe("A row", () => {
  it.effect("is an object, an array of values, or for a statement without rows the count of changes", () =>
    Effect.gen(function* () {
      const sql = yield* memory
      yield* sql`CREATE TABLE t (a INTEGER PRIMARY KEY, b)`
      assert.deepEqual(yield* sql`INSERT INTO t VALUES (1, 'x'), (2, 'y')`.raw, {
        changes: 2,
        lastInsertRowid: 2
      })
      const query = sql`SELECT * FROM t WHERE a = 1`
      assert.deepEqual(yield* query, [{ a: 1, b: "x" }])
      assert.deepEqual(yield* query.values, [[1, "x"]])
      assert.deepEqual(yield* query.raw, [{ a: 1, b: "x" }])
      assert.deepEqual(yield* query.unprepared, [{ a: 1, b: "x" }])
      assert.deepEqual(yield* query.valuesUnprepared, [[1, "x"]])
      assert.deepEqual(yield* sql`UPDATE t SET b = 'z' RETURNING a`, [{ a: 1 }, { a: 2 }])
      assert.deepEqual(yield* sql`DELETE FROM t`, [])
    })
  )

  it.effect("has the columns of the table as they are, also when another process has changed it", () =>
    Effect.gen(function* () {
      const filename = yield* DatabaseFile.make
      const sql = yield* open({ filename })
      const other = yield* open({ filename })
      yield* sql`CREATE TABLE t (a)`
      yield* sql`INSERT INTO t VALUES (1)`
      assert.deepEqual(yield* sql`SELECT * FROM t`, [{ a: 1 }])
      yield* other`ALTER TABLE t ADD COLUMN b DEFAULT 2`
      assert.deepEqual(yield* sql`SELECT * FROM t`, [{ a: 1, b: 2 }])
      yield* other`ALTER TABLE t DROP COLUMN a`
      assert.deepEqual(yield* sql`SELECT * FROM t`.values, [[2]])
    })
  )

  it.effect("has the names that the transforms make, and the database its own", () =>
    Effect.gen(function* () {
      const sql = yield* open({
        filename: ":memory:",
        transformQueryNames: (name) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
        transformResultNames: (name) => name.replaceAll(/_([a-z])/g, (_, letter) => letter.toUpperCase())
      })
      yield* sql`CREATE TABLE ${sql("paidBills")} (due_at TEXT)`
      yield* sql`INSERT INTO paid_bills ${sql.insert({ dueAt: "now" })}`
      assert.deepEqual(yield* sql`SELECT * FROM paid_bills`, [{ dueAt: "now" }])
      assert.deepEqual(yield* sql.withoutTransforms()`SELECT * FROM paid_bills`, [{ due_at: "now" }])
    })
  )
})
