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

/** Waits, in real time, until something holds. */
export const until = (what: string, holds: () => boolean) =>
  Effect.promise(async () => {
    for (let attempt = 0; attempt < 500; attempt++) {
      if (holds()) return
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    throw new Error(`not within five seconds: ${what}`)
  })

/** Runs a module of this repository in a process of its own, and waits for its end. */
export const program = (source: string) =>
  Effect.gen(function* () {
    const file = path.join(yield* folder, "program.ts")
    const root = Program.root
    fs.writeFileSync(
      file,
      source.replaceAll('"effect/', `"${root}node_modules/effect/dist/`).replaceAll(/(dist\/\w+)"/g, '$1.js"')
    )
    const { code, stderr } = yield* Effect.callback<{
      readonly code: number | null
      readonly stderr: string
    }>((resume) => {
      const child = childProcess.execFile(process.execPath, [file], (_, __, stderr) =>
        resume(Effect.succeed({ code: child.exitCode, stderr }))
      )
    })
    if (code !== 0) throw new Error(stderr)
  })
