/**
 * Runs one of `programs/` in a process of its own, which is killed with the scope.
 */
import * as ChildProcess from "node:child_process"
import { fileURLToPath } from "node:url"
import * as Effect from "effect/Effect"

export interface Child {
  /** Waits until so many lines were printed; fails the test if the program ends before. */
  readonly lines: (count: number) => Effect.Effect<ReadonlyArray<string>>
  readonly say: (line: string) => Effect.Effect<void>
  readonly kill: Effect.Effect<void>
  /** Everything it printed, when it has ended. */
  readonly ended: Effect.Effect<{ readonly code: number | null; readonly lines: ReadonlyArray<string> }>
}

export const start = Effect.fnUntraced(function* (program: string, ...args: ReadonlyArray<string>) {
  const file = fileURLToPath(new URL(`programs/${program}`, import.meta.url))
  const process_ = ChildProcess.spawn(process.execPath, ["--conditions=toolspan-source", file, ...args], {
    stdio: ["pipe", "pipe", "inherit"]
  })
  yield* Effect.addFinalizer(() => Effect.sync(() => process_.kill("SIGKILL")))
  let output = ""
  let end: { readonly code: number | null } | undefined
  const looking = new Set<() => void>()
  const look = () => {
    for (const again of looking) again()
  }
  process_.stdout.on("data", (chunk) => {
    output += chunk
    look()
  })
  process_.on("close", (code) => {
    end = { code }
    look()
  })
  // The last piece is a line only once its end is there.
  const printed = () => output.split("\n").slice(0, -1)
  const until = <A>(found: () => A | undefined): Effect.Effect<A> =>
    Effect.callback((resume) => {
      const again = () => {
        const value = found()
        if (value !== undefined) {
          looking.delete(again)
          resume(Effect.succeed(value))
        } else if (end !== undefined) {
          looking.delete(again)
          resume(Effect.die(new Error(`${program} ended with ${end.code} after printing ${output}`)))
        }
      }
      looking.add(again)
      again()
      return Effect.sync(() => looking.delete(again))
    })
  const child: Child = {
    lines: (count) => until(() => (printed().length >= count ? printed() : undefined)),
    say: (line) => Effect.sync(() => process_.stdin.write(`${line}\n`)),
    kill: Effect.sync(() => process_.kill("SIGKILL")),
    ended: until(() => end && { ...end, lines: printed() })
  }
  return child
})
