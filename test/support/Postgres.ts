/**
 * A PostgreSQL server of Debian's package, on a free port of this machine; stopped, and its files removed, with the scope.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { PgClient } from "@effect/sql-pg"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Ports from "./Ports.ts"

export interface Postgres {
  readonly url: string
  readonly process: ChildProcess
}

const programs = (): string => {
  const root = "/usr/lib/postgresql"
  const [version] = fs.existsSync(root)
    ? fs
        .readdirSync(root)
        .filter((name) => fs.existsSync(path.join(root, name, "bin/postgres")))
        .sort((a, b) => Number(b) - Number(a))
    : []
  if (version === undefined) {
    throw new Error(
      "PostgreSQL is not installed: apt-get install postgresql (Debian's package; its server need not run)"
    )
  }
  return path.join(root, version, "bin")
}

/** PostgreSQL does not run as root. */
const asPostgres = (
  program: string,
  args: ReadonlyArray<string>
): readonly [string, ReadonlyArray<string>] =>
  process.getuid?.() === 0
    ? ["setpriv", ["--reuid=postgres", "--regid=postgres", "--clear-groups", "--", program, ...args]]
    : [program, args]

/** Starts it. Commits reach the disk of a machine that stays up: what is tested is the death of processes. */
export const start: Effect.Effect<Postgres, never, Scope.Scope> = Effect.gen(function* () {
  const bin = programs()
  const directory = yield* Effect.acquireRelease(
    Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "toolspan-postgres-"))),
    (directory) => Effect.sync(() => fs.rmSync(directory, { recursive: true, force: true }))
  )
  const data = path.join(directory, "data")
  fs.mkdirSync(data)
  fs.chmodSync(directory, 0o711)
  if (process.getuid?.() === 0) {
    execFileSync("chown", ["-R", "postgres:postgres", directory])
  }
  const initdb = asPostgres(path.join(bin, "initdb"), [
    ...["-D", data, "-U", "toolspan", "--auth=trust", "-E", "UTF8", "--no-locale", "--no-sync"]
  ])
  execFileSync(initdb[0], [...initdb[1]], { stdio: "ignore", cwd: directory })
  const port = yield* Ports.free
  const server = asPostgres(path.join(bin, "postgres"), [
    ...["-D", data, "-h", "127.0.0.1", "-p", String(port), "-k", directory],
    ...["-c", "fsync=off", "-c", "max_connections=200"]
  ])
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => spawn(server[0], [...server[1]], { stdio: "ignore", cwd: directory })),
    (child) =>
      Effect.callback<void>((resume) => {
        if (child.exitCode !== null) return resume(Effect.void)
        child.once("exit", () => resume(Effect.void))
        // At once: the files go, too.
        child.kill("SIGQUIT")
      })
  )
  for (let tries = 0; ; tries++) {
    const ready = yield* Effect.sync(() => {
      try {
        execFileSync(path.join(bin, "pg_isready"), ["-h", "127.0.0.1", "-p", String(port)], {
          stdio: "ignore"
        })
        return true
      } catch {
        return false
      }
    })
    if (ready) return { url: `postgres://toolspan@127.0.0.1:${port}/postgres`, process: child }
    if (tries > 300) throw new Error(`PostgreSQL did not start on port ${port} within 30 s`)
    yield* Effect.sleep(100)
  }
})

/** A client with connections of its own. */
export const client = ({ url }: Pick<Postgres, "url">, maxConnections = 10) =>
  Layer.orDie(PgClient.layer({ url: Redacted.make(url), maxConnections }))
