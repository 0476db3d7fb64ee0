/**
 * Runs `programs/work.ts` in a process of its own, with no `OTEL_*` variable but those of the test.
 */
import * as ChildProcess from "node:child_process"
import { tmpdir } from "node:os"
import * as Path from "node:path"
import { fileURLToPath } from "node:url"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/** Halves the time that a process needs to load OpenTelemetry. */
const compileCache = Path.join(tmpdir(), "toolspan-compile-cache")

const path = fileURLToPath(new URL("programs/work.ts", import.meta.url))

/** How a program ended. */
export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly output: string
  /** Milliseconds from its word "done" or from the signal to its end. */
  readonly delay: number
}

export interface Child {
  /** Waits until this was printed. */
  readonly said: (text: string) => Effect.Effect<void>
  readonly kill: (signal: NodeJS.Signals) => Effect.Effect<void>
  readonly ended: Effect.Effect<Ended>
}

/** Starts it; kills it with the scope. */
export const start = (
  mode: "end" | "wait" | "wait-plain",
  environment: Readonly<Record<string, string>>
): Effect.Effect<Child, never, Scope.Scope> =>
  Effect.gen(function* () {
    const child = ChildProcess.spawn(process.execPath, [path, mode], {
      env: { PATH: process.env["PATH"], NODE_COMPILE_CACHE: compileCache, ...environment },
      stdio: ["ignore", "pipe", "pipe"]
    })
    yield* Effect.addFinalizer(() => Effect.sync(() => child.kill("SIGKILL")))
    let output = ""
    let released = performance.now()
    const looking = new Set<() => void>()
    const hear = (chunk: Buffer) => {
      output += chunk.toString()
      if (chunk.includes("done")) released = performance.now()
      for (const look of looking) look()
    }
    child.stdout.on("data", hear)
    child.stderr.on("data", hear)
    const ended = new Promise<Ended>((resolve) => {
      child.on("close", (code, signal) =>
        resolve({ code, signal, output, delay: performance.now() - released })
      )
    })
    return {
      said: (text) =>
        Effect.promise(
          () =>
            new Promise<void>((resolve, reject) => {
              const look = () => {
                if (output.includes(text)) resolve()
              }
              looking.add(look)
              look()
              void ended.then(() =>
                reject(new Error(`The program ended without saying "${text}": ${output}`))
              )
            })
        ),
      kill: (signal) =>
        Effect.sync(() => {
          released = performance.now()
          child.kill(signal)
        }),
      ended: Effect.promise(() => ended)
    }
  })

/** Runs it to its end. */
export const run = (
  environment: Readonly<Record<string, string>>
): Effect.Effect<Ended, never, Scope.Scope> =>
  Effect.flatMap(start("end", environment), (child) => child.ended)
