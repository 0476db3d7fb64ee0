/**
 * A program that runs until its scope closes, can be killed and started again, and never outlives the tests: not when one fails, and not
 * when the process that runs them is killed.
 */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

export interface Command {
  readonly name: string
  readonly path: string
  readonly args: ReadonlyArray<string>
  readonly environment?: Readonly<Record<string, string>>
  /** Answers 200 when the program is ready. */
  readonly ready: string
}

/** It ended, or was not ready in time. `message` ends with the last of what it printed. */
export class NotRunning extends Data.TaggedError("NotRunning")<{
  readonly program: string
  readonly message: string
}> {}

export interface Supervised {
  /** Starts it, if it does not run, and waits until it is ready. */
  readonly start: Effect.Effect<void, NotRunning>
  /** Sends a signal, SIGKILL if not said otherwise, and waits until it has ended. */
  readonly kill: (signal?: NodeJS.Signals) => Effect.Effect<void>
  /** The last lines that it printed, over all starts. */
  readonly output: () => string
  /** Resident memory in bytes; undefined if it does not run, or not on Linux. */
  readonly memory: () => number | undefined
}

const LINES = 400
const READY_SECONDS = 60

/** Not started yet. */
export const make = (command: Command): Effect.Effect<Supervised, never, Scope.Scope> =>
  Effect.gen(function* () {
    let lines: ReadonlyArray<string> = []
    let running: Running | undefined
    const hear = (chunk: Buffer) => {
      lines = [...lines, ...chunk.toString().split("\n").filter(Boolean)].slice(-LINES)
    }
    const output = () => lines.join("\n")
    const notRunning = (why: string) =>
      new NotRunning({
        program: command.name,
        message: `${command.name} ${why}:\n${lines.slice(-30).join("\n")}`
      })
    const kill = (signal: NodeJS.Signals = "SIGKILL") =>
      Effect.suspend(() => {
        const ending = running
        running = undefined
        return ending === undefined ? Effect.void : end(ending, signal)
      })
    yield* Effect.addFinalizer(() => kill())
    return {
      start: Effect.gen(function* () {
        if (running?.code() !== undefined) running = undefined
        running ??= spawn(command, hear)
        const deadline = performance.now() + READY_SECONDS * 1000
        while (!(yield* answers(command.ready))) {
          const code = running?.code()
          if (code !== undefined) return yield* notRunning(`ended with ${code}`)
          if (performance.now() > deadline)
            return yield* notRunning(`was not ready at ${command.ready} in ${READY_SECONDS} s`)
          yield* Effect.sleep("100 millis")
        }
      }),
      kill,
      output,
      memory: () => running?.memory()
    }
  })

interface Running {
  readonly signal: (signal: NodeJS.Signals) => void
  /** Undefined while it runs. */
  readonly code: () => number | undefined
  readonly ended: Promise<void>
  readonly memory: () => number | undefined
}

/**
 * Says the id of the program that it runs, and kills it when standard input ends: that is a pipe from this process, and breaks with it,
 * however it dies.
 */
const GUARD =
  'exec 3<&0; "$@" </dev/null 3<&- & p=$!; echo "$p"; { cat <&3; kill -9 "$p"; } >/dev/null 2>&1 & wait "$p"'

const spawn = (command: Command, hear: (chunk: Buffer) => void): Running => {
  const guard = ChildProcess.spawn("/bin/sh", ["-c", GUARD, "sh", command.path, ...command.args], {
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...command.environment },
    stdio: ["pipe", "pipe", "pipe"]
  })
  let id: number | undefined
  guard.stdout.once("data", (chunk: Buffer) => {
    id = Number.parseInt(chunk.toString(), 10)
    guard.stdout.on("data", hear)
  })
  guard.stderr.on("data", hear)
  const ended = new Promise<void>((resolve) => {
    guard.on("exit", () => {
      guard.stdin.destroy()
      resolve()
    })
  })
  return {
    signal: (signal) => {
      if (id !== undefined && guard.exitCode === null) process.kill(id, signal)
    },
    code: () => guard.exitCode ?? undefined,
    ended,
    memory: () => (id === undefined ? undefined : residentMemory(id))
  }
}

/** A program that does not end by itself within ten seconds after a polite signal is killed. */
const end = (running: Running, signal: NodeJS.Signals): Effect.Effect<void> =>
  Effect.promise(async () => {
    running.signal(signal)
    const timer = setTimeout(() => running.signal("SIGKILL"), 10_000)
    await running.ended
    clearTimeout(timer)
  })

const answers = (url: string): Effect.Effect<boolean> =>
  Effect.promise(() =>
    fetch(url, { signal: AbortSignal.timeout(2000) }).then(
      async (response) => {
        await response.body?.cancel()
        return response.ok
      },
      () => false
    )
  )

const residentMemory = (id: number): number | undefined => {
  try {
    const kilobytes = /VmRSS:\s*(\d+) kB/.exec(Fs.readFileSync(`/proc/${id}/status`, "utf8"))?.[1]
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024
  } catch {
    return undefined
  }
}
