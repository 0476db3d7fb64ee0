/**
 * Starts the process of a shell: in a session of its own, with the environment that was named, its output in a real pipe.
 *
 * Node gives children sockets, and no program can open `/dev/stdout` or `/dev/stderr` on a socket, which scripts do all the time. So
 * output goes through a named pipe that is unlinked as soon as both ends are open.
 */
import * as childProcess from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { Duplex } from "node:stream"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Environment from "../process/Environment.ts"
import * as Program from "../process/Program.ts"
import { BashError } from "./BashError.ts"
import * as ShellScript from "./ShellScript.ts"

export interface Settings {
  /** Name or path of bash. */
  readonly shell: string
  /** Words before the shell's: a program that runs it apart from the machine. */
  readonly sandbox: ReadonlyArray<string>
  readonly workingDirectory: string
  /** All of its environment. */
  readonly environment: Readonly<Record<string, string>>
}

export interface Spawned {
  readonly process: childProcess.ChildProcess
  readonly pid: number
  /** What the shell reads. */
  readonly input: Duplex
  /** Where it reports the end of commands. */
  readonly control: Duplex
  /** Descriptor of the pipe with all output, errors included, in the order it was written. */
  readonly output: number
}

/** Starts a shell that has read nothing yet. */
export const spawn = (settings: Settings): Effect.Effect<Spawned, BashError> =>
  Effect.gen(function* () {
    yield* checkDirectory(settings.workingDirectory)
    const pipe = yield* openPipe
    return yield* spawnWith(settings, pipe).pipe(
      Effect.tapError(() => Effect.sync(() => fs.closeSync(pipe.readEnd))),
      Effect.ensuring(Effect.sync(() => fs.closeSync(pipe.writeEnd)))
    )
  }).pipe(Effect.uninterruptible)

interface Pipe {
  readonly readEnd: number
  readonly writeEnd: number
}

const spawnWith = (settings: Settings, pipe: Pipe): Effect.Effect<Spawned, BashError> =>
  Effect.callback((resume) => {
    const [file = settings.shell, ...args] = [...settings.sandbox, settings.shell, "--noprofile", "--norc"]
    const child = childProcess.spawn(file, args, {
      cwd: settings.workingDirectory,
      env: settings.environment,
      detached: true,
      stdio: ["pipe", pipe.writeEnd, pipe.writeEnd, "pipe"]
    })
    child.once("error", (error) => resume(Effect.fail(unavailable(`${file} ${reasonOf(error)}`))))
    child.once("spawn", () => {
      const control = child.stdio[ShellScript.INITIAL_CONTROL]
      const { pid, stdin } = child
      resume(
        pid !== undefined && stdin instanceof Duplex && control instanceof Duplex
          ? Effect.succeed({ process: child, pid, input: stdin, control, output: pipe.readEnd })
          : Effect.die(new Error("child_process.spawn gave a process without the pipes that were asked for"))
      )
    })
  })

const checkDirectory = (directory: string): Effect.Effect<void, BashError> =>
  Effect.suspend(() =>
    fs.statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true
      ? Effect.void
      : Effect.fail(unavailable(`its working directory "${directory}" is not there`))
  )

const openPipe: Effect.Effect<Pipe, BashError> = Effect.acquireUseRelease(
  Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "toolspan-bash-"))),
  (directory) => {
    const file = path.join(directory, "output")
    return Program.run({
      file: "mkfifo",
      args: ["-m", "600", file],
      environment: Environment.make(Environment.INHERITED)
    }).pipe(
      Effect.mapError((error) => unavailable(error.message)),
      Effect.flatMap(({ exitCode, stderr }) =>
        exitCode === 0 ? Effect.void : Effect.fail(unavailable(stderr.trim()))
      ),
      Effect.map(() => {
        // In this order and so: opening one end of a pipe otherwise waits for the other.
        const readEnd = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK)
        return { readEnd, writeEnd: fs.openSync(file, fs.constants.O_WRONLY) }
      })
    )
  },
  (directory) => Effect.sync(() => fs.rmSync(directory, { recursive: true, force: true }))
).pipe(Effect.withTracerEnabled(false))

const unavailable = (what: string): BashError =>
  new BashError({
    reason: "ShellUnavailable",
    message: `The shell cannot be started: ${what}. Nothing was run.`
  })

const reasonOf = (error: unknown): string => {
  const code = Predicate.hasProperty(error, "code") ? String(error.code) : "unknown error"
  return code === "ENOENT" ? "is not installed, or not on the PATH" : `could not be started (${code})`
}
