/**
 * What a user can set for a SQLite client, and the check that it is meant.
 */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Check from "../options/Check.ts"

/** Options of `SqliteClient.make` and `SqliteClient.layer`. */
export interface SqliteClientConfig {
  /** Path of the database file, which is made if there is none (not with `readonly`); `":memory:"` for a database of this client alone. */
  readonly filename: string
  /** Whether to only read. The file must be there. Default false. */
  readonly readonly?: boolean | undefined
  /**
   * How long a statement, or the start of a transaction, waits while another connection holds the lock that it needs; then it fails with
   * a `LockTimeoutError`. 0 does not wait. Default 10 seconds.
   */
  readonly busyTimeout?: Duration.Input | undefined
  /** How many statements are kept prepared: an integer, at least 1; default 200. */
  readonly prepareCacheSize?: number | undefined
  /** Attributes of every span of the client. */
  readonly spanAttributes?: Record<string, unknown> | undefined
  /** Makes the name in a row from the name of the column. */
  readonly transformResultNames?: ((name: string) => string) | undefined
  /** Makes the name in the database from an identifier in a query. */
  readonly transformQueryNames?: ((name: string) => string) | undefined
}

const checks: Check.Checks<SqliteClientConfig> = {
  filename: ['a path or ":memory:"', Check.isText],
  readonly: ["true or false", Check.isBoolean],
  busyTimeout: ["a finite duration, at least 0", isBusyTimeout],
  prepareCacheSize: ["an integer, at least 1", (value) => Number.isSafeInteger(value) && Number(value) >= 1],
  spanAttributes: ["an object", Check.isRecord],
  transformResultNames: ["a function", Check.isFunction],
  transformQueryNames: ["a function", Check.isFunction]
}

function isBusyTimeout(value: unknown): boolean {
  const duration = Duration.fromInput(value as Duration.Input)
  return Option.isSome(duration) && Duration.isFinite(duration.value) && !Duration.isNegative(duration.value)
}

/** Throws an `Error` that names the first bad option, its value and what is allowed. */
export const validate = (options: SqliteClientConfig): void => {
  Check.validate("SqliteClient", checks, options)
  if (options.filename === undefined) {
    throw new Error('SqliteClient: option "filename" is missing; allowed: a path or ":memory:"')
  }
}

/** The set `busyTimeout`, or its default. */
export const busyTimeout = (options: SqliteClientConfig): Duration.Duration =>
  Duration.fromInputUnsafe(options.busyTimeout ?? "10 seconds")
