/**
 * What went wrong in SQLite, as the `SqlError` of `effect/sql`. The reason is the one that Effect finds for the result code of SQLite,
 * but for two where Effect's Postgres client has a better one: a primary key that is there already is a `UniqueViolation`, and SQL that
 * cannot be prepared is a `SqlSyntaxError`.
 */
import * as Effect from "effect/Effect"
import {
  ConnectionError,
  classifySqliteError,
  SqlError,
  SqlSyntaxError,
  UniqueViolation,
  UnknownError
} from "effect/sql/SqlError"

/** What the client was doing, for the field `operation` of the reason. */
export type Operation = "open" | "prepare" | "bind" | "execute"

/** The error for what `node:sqlite` threw; `filename` if it matters where. */
export const fromThrown = (cause: unknown, operation: Operation, filename = ""): SqlError => {
  const code = resultCode(cause)
  const text = cause instanceof Error ? cause.message : String(cause)
  const properties = {
    cause,
    operation,
    message: `SQLite, ${operation}${filename && ` ${filename}`}: ${text}${advice(cause)}`
  }
  if (code === PRIMARY_KEY || code === ROW_ID) {
    const [, constraint = "unknown"] = /^UNIQUE constraint failed: (.+)$/.exec(text) ?? []
    return new SqlError({ reason: new UniqueViolation({ ...properties, constraint }) })
  }
  if (code === GENERAL && operation === "prepare") {
    return new SqlError({ reason: new SqlSyntaxError(properties) })
  }
  if (code !== undefined && cause instanceof Error) {
    // Effect reads the result code from `errno`; `node:sqlite` has it in `errcode`.
    Object.assign(cause, { errno: code })
  }
  return new SqlError({ reason: classifySqliteError(cause, properties) })
}

/** The error for what the client itself refuses. */
export const refused = (message: string, operation: Operation): SqlError =>
  new SqlError({ reason: new UnknownError({ cause: new Error(message), message, operation }) })

/** Fails because there is no database to work with. */
export const unavailable = (message: string, operation: Operation): Effect.Effect<never, SqlError> =>
  Effect.suspend(() =>
    Effect.fail(
      new SqlError({ reason: new ConnectionError({ cause: new Error(message), message, operation }) })
    )
  )

/** Whether another connection has a lock that was needed: `SQLITE_BUSY` in any of its forms. */
export const isBusy = (error: unknown): error is SqlError =>
  error instanceof SqlError && ((resultCode(error.reason.cause) ?? 0) & PRIMARY) === BUSY

/** The extended result code: https://sqlite.org/rescode.html */
const resultCode = (cause: unknown): number | undefined =>
  cause instanceof Error && "errcode" in cause && typeof cause.errcode === "number"
    ? cause.errcode
    : undefined

const advice = (cause: unknown): string =>
  cause instanceof RangeError && "code" in cause && cause.code === "ERR_OUT_OF_RANGE"
    ? "; provide SqlClient.SafeIntegers to read integers as bigint"
    : ""

const PRIMARY = 0xff
const GENERAL = 1
const BUSY = 5
const PRIMARY_KEY = 1555
const ROW_ID = 2579
