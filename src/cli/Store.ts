/**
 * The durable store that a command is pointed at: a SQLite file, or a Postgres database.
 */
import * as path from "node:path"
import type * as CliError from "effect/cli/CliError"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { RunStore } from "../runtime/RunStore.ts"
import * as SqlRunStore from "../runtime/SqlRunStore.ts"
import * as MissingPackage from "../sdk/MissingPackage.ts"
import * as SqliteClient from "../sqlite/SqliteClient.ts"
import * as Refusal from "./Refusal.ts"

export interface Options {
  /** Whether the file, and the tables, are made where they are not there. */
  readonly create: boolean
}

export const flag = Flag.String("store").pipe(Flag.withMetavar("FILE|URL"), Flag.optional)

const isPostgres = (store: string): boolean => /^postgres(ql)?:/i.test(store)

/** How it is named to the user: a file by its whole path, a database without user, password and options. */
export const shown = (store: string): string => {
  if (!isPostgres(store)) return path.resolve(store)
  if (!URL.canParse(store)) return "the Postgres database"
  const { host, pathname } = new URL(store)
  return `postgres://${host}${pathname}`
}

/** Opens it. Fails with one line that says what is wrong with it. */
export const layer = (
  store: string,
  { create }: Options
): Layer.Layer<RunStore, CliError.UserError, FileSystem.FileSystem> => {
  const named = shown(store)
  const refused = (error: unknown): Layer.Layer<RunStore, CliError.UserError> =>
    Layer.effectContext(
      Effect.fail(Refusal.make(`Could not open ${named}: ${Refusal.causesOf(error)}`, error))
    )
  const opened = SqlRunStore.layer().pipe(
    Layer.provide(isPostgres(store) ? postgres(store) : file(path.resolve(store), create)),
    Layer.catchTag(["SqlError", "AgentError"], refused)
  )
  return create || !isPostgres(store)
    ? opened
    : Layer.unwrap(
        isToolspans(named).pipe(
          Effect.provide(postgres(store)),
          Effect.as(opened),
          Effect.catchTag("SqlError", (error) => Effect.succeed(refused(error)))
        )
      )
}

/** One file. Where nothing may be made, it is looked at first without changing anything. */
const file = (
  filename: string,
  create: boolean
): Layer.Layer<SqlClient.SqlClient, SqlError | CliError.UserError, FileSystem.FileSystem> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const beginning = yield* Effect.option(read(fs, filename, MAGIC.length))
      if (Option.isNone(beginning) && !create) {
        return yield* Refusal.fail(
          `There is no file ${filename}, or it cannot be read. Give the one that the agent keeps its runs in`
        )
      }
      const isThere =
        Option.isSome(beginning) || (yield* Effect.orElseSucceed(fs.exists(filename), () => false))
      // SQLite would take a very short file of something else for an empty database.
      if (Option.isSome(beginning) && ![MAGIC, create ? "" : MAGIC].includes(beginning.value)) {
        return yield* Refusal.fail(`${filename} is no SQLite database`)
      }
      if (!create) {
        const looking = SqliteClient.layer({ filename, readonly: true, busyTimeout })
        yield* Effect.provide(isToolspans(filename), looking)
      }
      if (isThere) return SqliteClient.layer({ filename, busyTimeout })
      // Only for who runs this: it holds what is said. SQLite takes an empty file for an empty database.
      const made = Effect.mapError(fs.writeFileString(filename, "", { flag: "wx", mode: 0o600 }), (error) =>
        Refusal.make(`Could not make ${filename}: ${error.reason._tag}`, error)
      )
      return SqliteClient.layer({ filename, busyTimeout }).pipe(
        Layer.tapError(() => Effect.ignore(fs.remove(filename))),
        Layer.provideMerge(Layer.effectDiscard(made))
      )
    })
  )

/** How a database of SQLite begins. */
const MAGIC = "SQLite format 3\u0000"

/** The beginning of a file. */
const read = (fs: FileSystem.FileSystem, filename: string, bytes: number) =>
  Stream.mkString(Stream.decodeText(fs.stream(filename, { bytesToRead: bytes })))

/** Then somebody at a terminal has waited long enough. */
const busyTimeout = "5 seconds"

const postgres = (url: string): Layer.Layer<SqlClient.SqlClient, SqlError | CliError.UserError> =>
  Layer.unwrap(
    Effect.map(
      Effect.tryPromise({
        try: () => import("@effect/sql-pg/PgClient"),
        catch: (error) => {
          const missing = MissingPackage.explain(error)?.packageName
          return missing === undefined
            ? Refusal.from(error)
            : Refusal.make(
                `A store on Postgres needs the package ${missing}, which is not installed. Install it: npm install ${missing}`
              )
        }
      }),
      (PgClient) => PgClient.layer({ url: Redacted.make(url) })
    )
  )

/** Whether the tables are there; a database of something else is not to get any by mistake. */
const isToolspans = (
  named: string
): Effect.Effect<void, SqlError | CliError.UserError, SqlClient.SqlClient> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const found = yield* sql.onDialectOrElse({
      sqlite: () => sql`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'toolspan_runs'`,
      orElse: () => sql`SELECT 1 WHERE to_regclass('toolspan_runs') IS NOT NULL`
    })
    if (found.length === 0)
      return yield* Refusal.fail(`No agent has kept its runs in ${named}: there is no table toolspan_runs`)
  })
