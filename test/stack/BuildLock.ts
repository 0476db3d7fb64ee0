/**
 * A lock between processes: a file that its holder touches while it lives.
 *
 * A holder that was killed stops touching, and its lock is taken after a while. Two that take it at the same moment would both go on:
 * here that costs time and nothing else.
 */
import * as Fs from "node:fs"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

const TOUCH_MS = 2000
const STALE_MS = 15_000

/** Waits for the lock and holds it until the scope closes. `waiting` is called once if it is taken. */
export const hold = (file: string, waiting: () => void): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function* () {
    for (let attempt = 0; !take(file); attempt++) {
      if (attempt === 0) waiting()
      yield* Effect.sleep("1 second")
    }
    const timer = setInterval(() => touch(file), TOUCH_MS)
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        clearInterval(timer)
        Fs.rmSync(file, { force: true })
      })
    )
  })

const take = (file: string): boolean => {
  try {
    Fs.writeFileSync(file, `${process.pid}\n`, { flag: "wx" })
    return true
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error
    const touched = Fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs
    if (touched !== undefined && Date.now() - touched > STALE_MS) Fs.rmSync(file, { force: true })
    return false
  }
}

const touch = (file: string): void => {
  const now = new Date()
  try {
    Fs.utimesSync(file, now, now)
  } catch {
    // Somebody who thought the holder dead took it away.
  }
}
