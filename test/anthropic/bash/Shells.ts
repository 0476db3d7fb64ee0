/** Sessions with real shells, and a look at the processes of this machine. */
import * as childProcess from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as BashSession from "../../../src/anthropic/bash/BashSession.ts"
import * as Program from "../../support/Program.ts"

/** A folder of this scope. */
export const folder = Effect.acquireRelease(
  Effect.sync(() => fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "toolspan-test-")))),
  (directory) => Effect.sync(() => fs.rmSync(directory, { recursive: true, force: true }))
)

/** A session that the test can close before its own end. */
export const closable = (options: BashSession.Options) =>
  Effect.gen(function* () {
    const scope = yield* Effect.acquireRelease(Scope.make(), (made) => Scope.close(made, Exit.void))
    const session = yield* Scope.provide(BashSession.make(options), scope)
    return { session, close: Scope.close(scope, Exit.void) }
  })

let next = 0

/** A number of seconds that no other `sleep` on this machine is called with. */
export const uniqueSeconds = (): string => `${1_000_000 + process.pid * 1000 + next++}`

/** How many living processes have this word among their arguments. */
export const alive = (word: string): number =>
  fs
    .readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const words = fs.readFileSync(`/proc/${pid}/cmdline`, "latin1").split("\0")
        return words.includes(word)
      } catch {
        return false
      }
    }).length

/** The module of sessions, for programs. */
export const session = `${Program.root}src/anthropic/bash/BashSession.ts`

/** Runs a module in a process of its own, started with these files open as a shell has them, to its end; gives what it wrote. */
export const program = (source: string, files: ReadonlyArray<string> = []) =>
  Effect.gen(function* () {
    const file = path.join(yield* folder, "program.ts")
    const effect = `${Program.root}node_modules/effect/dist/`
    fs.writeFileSync(file, source.replaceAll(/"effect\/(\w+)"/g, `"${effect}$1.js"`))
    return yield* Effect.callback<{ readonly output: string }>((resume) => {
      const script = `exec ${files.join(" ")} "$0" "$1"`
      const child = childProcess.execFile(
        "bash",
        ["-c", script, process.execPath, file],
        (_, stdout, stderr) => {
          if (child.exitCode !== 0) resume(Effect.die(new Error(stderr)))
          else resume(Effect.succeed({ output: stdout }))
        }
      )
    })
  })
