/**
 * Runs one program to its end and returns what it wrote: no shell between, bounded memory, a time limit, killed when interrupted.
 *
 * One span each: named for the program, with its exit code and never its arguments. The shell of a session is not this but
 * `bash/ShellProcess.ts`.
 */
import * as childProcess from "node:child_process"
import * as path from "node:path"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as ProcessAttributes from "./ProcessAttributes.ts"

export interface Request {
  /** Name or path of the program. */
  readonly file: string
  readonly args: ReadonlyArray<string>
  /** All of its environment: nothing else is inherited. */
  readonly environment: Readonly<Record<string, string>>
  /** What it reads; nothing by default. */
  readonly input?: string | Uint8Array | undefined
  /** How much it may write to its standard output, in bytes; default 1 MiB. */
  readonly maxBytes?: number | undefined
  /** How long it may take; default 30 seconds. */
  readonly timeout?: Duration.Duration | undefined
}

export interface Finished {
  readonly exitCode: number
  readonly stdout: Buffer
  /** At most 4096 bytes of it. */
  readonly stderr: string
}

/** The program did not come to an end of its own. Its message names the program and holds nothing that it read or wrote. */
export class ProgramError extends Data.TaggedError("ProgramError")<{
  readonly file: string
  readonly reason: "NotFound" | "NotStarted" | "Killed" | "TooMuchOutput" | "TimedOut"
  readonly message: string
}> {}

const MAX_STDERR_BYTES = 4096

/** Runs a program. Whatever its exit code, that it ended is a success here. */
export const run = (request: Request): Effect.Effect<Finished, ProgramError> => {
  const name = path.basename(request.file)
  const timeout = request.timeout ?? Duration.seconds(30)
  return execute(request).pipe(
    Effect.timeoutOrElse({
      duration: timeout,
      orElse: () =>
        Effect.fail(
          failure(request, "TimedOut", `did not end within ${Duration.format(timeout)} and was killed`)
        )
    }),
    Effect.withSpan(name, {
      kind: "client",
      attributes: { [ProcessAttributes.ATTR_PROCESS_EXECUTABLE_NAME]: name }
    })
  )
}

const execute = (request: Request): Effect.Effect<Finished, ProgramError> =>
  Effect.callback<{ readonly pid: number | undefined; readonly finished: Finished }, ProgramError>(
    (resume) => {
      const { maxBytes = 1024 * 1024 } = request
      // A group of its own, so that what it starts can be killed with it.
      const child = childProcess.spawn(request.file, request.args, {
        env: request.environment,
        detached: true,
        stdio: "pipe"
      })
      const stdout: Array<Buffer> = []
      const stderr: Array<Buffer> = []
      let stdoutBytes = 0
      let stderrBytes = 0
      const kill = (): void => {
        try {
          if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL")
        } catch {
          // It has ended.
        }
      }
      child.stdout.on("data", (chunk: Buffer) => {
        stdoutBytes += chunk.length
        if (stdoutBytes <= maxBytes) {
          stdout.push(chunk)
          return
        }
        kill()
        resume(
          Effect.fail(failure(request, "TooMuchOutput", `wrote more than ${maxBytes} bytes and was killed`))
        )
      })
      child.stderr.on("data", (chunk: Buffer) => {
        const kept = chunk.subarray(0, Math.max(0, MAX_STDERR_BYTES - stderrBytes))
        stderrBytes += kept.length
        stderr.push(kept)
      })
      child.on("error", (error) => resume(Effect.fail(notStarted(request, error))))
      // It may end before it has read its input.
      child.stdin.on("error", () => {})
      child.on("close", (code, signal) =>
        resume(
          code === null
            ? Effect.fail(failure(request, "Killed", `was ended by ${signal}`))
            : Effect.succeed({
                pid: child.pid,
                finished: {
                  exitCode: code,
                  stdout: Buffer.concat(stdout),
                  stderr: Buffer.concat(stderr).toString("utf8")
                }
              })
        )
      )
      child.stdin.end(request.input ?? "")
      return Effect.sync(kill)
    }
  ).pipe(
    Effect.tap(({ finished, pid }) =>
      Effect.annotateCurrentSpan({
        [ProcessAttributes.ATTR_PROCESS_EXIT_CODE]: finished.exitCode,
        ...(pid === undefined ? {} : { [ProcessAttributes.ATTR_PROCESS_PID]: pid })
      })
    ),
    Effect.map(({ finished }) => finished)
  )

const failure = (request: Request, reason: ProgramError["reason"], what: string): ProgramError =>
  new ProgramError({ file: request.file, reason, message: `${request.file} ${what}` })

const notStarted = (request: Request, error: unknown): ProgramError => {
  const code = Predicate.hasProperty(error, "code") ? String(error.code) : "unknown error"
  return code === "ENOENT"
    ? failure(request, "NotFound", "is not installed, or not on the PATH of this process")
    : failure(request, "NotStarted", `could not be started (${code})`)
}
