/**
 * A shell that lives as long as its scope and runs one command at a time: state carries over from command to command, and no process
 * outlives the session.
 *
 * The shell starts with the first command. It is ended, with all that it started, by the end of the scope, by {@link BashSession.restart},
 * by a command that takes too long and by the interruption of a command; the next command then starts a new one, and is told so. A
 * command that took too long never goes on with its next step.
 *
 * What the model is told of all this is written in `BashHandler.ts`.
 */
import * as path from "node:path"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type * as ContentPolicy from "../../content/ContentPolicy.ts"
import * as Environment from "../process/Environment.ts"
import * as ProcessAttributes from "../process/ProcessAttributes.ts"
import { BashError } from "./BashError.ts"
import { withCommandSpan } from "./CommandSpan.ts"
import * as ShellProcess from "./ShellProcess.ts"

export interface Options {
  /** Where the shell starts; default: the working directory of this process. */
  readonly workingDirectory?: string | undefined
  /** How long a command may take; default two minutes. */
  readonly timeout?: Duration.Input | undefined
  /** How much of a command's output is kept, half from its beginning and half from its end; default 32768, at least 256. */
  readonly maxOutputBytes?: number | undefined
  /**
   * Variables of this process that the shell gets too, by name; a name that ends in `*` is a prefix. Without them it gets PATH, HOME,
   * USER, LOGNAME, SHELL, LANG, LANGUAGE, LC_*, TZ and TMPDIR.
   */
  readonly inheritEnvironment?: ReadonlyArray<string> | undefined
  /** Variables to set in the shell. */
  readonly environment?: Readonly<Record<string, string>> | undefined
  /** Name or path of bash; default `bash`. */
  readonly shell?: string | undefined
  /**
   * A command that runs the shell apart from the machine: its words, before the shell's own. It must hand on file descriptor 3.
   * `["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--bind", dir, dir, "--unshare-all", "--die-with-parent"]`, or
   * {@link PID_NAMESPACE}. None by default: the shell can do what this process can.
   */
  readonly sandbox?: ReadonlyArray<string> | undefined
  /**
   * Content of the spans of commands, over the `ContentPolicy` in scope: give what the tool is annotated with as `ToolContent`, if it is.
   */
  readonly content?: ContentPolicy.Options | undefined
}

/** A `sandbox` that hides the machine's processes and ends all of its own with the shell; of util-linux, needs no privileges. */
export const PID_NAMESPACE: ReadonlyArray<string> = [
  "unshare",
  "--user",
  "--map-current-user",
  "--pid",
  "--fork",
  "--kill-child",
  "--mount-proc"
]

/** What came of one command. */
export interface Completed {
  /** Standard output and errors in the order they were written, cut as the options say. */
  readonly output: string
  /** What processes in the background wrote since the command before; mostly empty. */
  readonly background: string
  /** Null if a signal ended the shell. */
  readonly exitCode: number | null
  /** Whether the shell ended with the command, and if a signal did that, which. */
  readonly ended: boolean
  readonly signal: string | null
  /** Why this command did not find the shell that the one before left; undefined if it did. */
  readonly restarted: "cancelled" | "ended" | undefined
}

export class BashSession extends Context.Service<
  BashSession,
  {
    /** Where shells start. */
    readonly workingDirectory: string
    /** Runs a command when those before it have ended. Interrupted, it ends the command and the shell. */
    readonly run: (command: string) => Effect.Effect<Completed, BashError>
    /** Ends the shell and all that it started. The next command starts a new one. */
    readonly restart: Effect.Effect<void>
  }
>()("toolspan/anthropic/BashSession") {}

/** A session of this scope. Throws an `Error` that names the option that makes no sense. */
export const make = (options: Options = {}): Effect.Effect<BashSession["Service"], never, Scope.Scope> =>
  Effect.gen(function* () {
    const maxOutputBytes = options.maxOutputBytes ?? 32 * 1024
    if (!Number.isInteger(maxOutputBytes) || maxOutputBytes < 256) {
      throw new Error(
        `BashSession: option "maxOutputBytes" is ${maxOutputBytes}; allowed: an integer, at least 256`
      )
    }
    const timeout = Duration.fromInputUnsafe(options.timeout ?? Duration.minutes(2))
    const workingDirectory = path.resolve(options.workingDirectory ?? ".")
    const shell = options.shell ?? "bash"
    const start = Effect.suspend(() =>
      ShellProcess.start(
        {
          shell,
          sandbox: options.sandbox ?? [],
          workingDirectory,
          environment: Environment.make([...Environment.INHERITED, ...(options.inheritEnvironment ?? [])], {
            TERM: "dumb",
            ...options.environment
          })
        },
        maxOutputBytes
      )
    )
    const semaphore = yield* Semaphore.make(1)
    let closed = false
    let current: ShellProcess.ShellProcess | undefined
    let restarted: Completed["restarted"]

    const stop = Effect.suspend(() => {
      const stopped = current?.stop ?? Effect.void
      current = undefined
      return stopped
    })
    const refuseClosed = Effect.suspend(() => (closed ? Effect.fail(sessionClosed) : Effect.void))
    const ready = Effect.gen(function* () {
      yield* refuseClosed
      if (current?.isAlive() === true) return current
      if (current !== undefined) restarted = "ended"
      yield* stop
      const started = yield* start
      current = started
      // The scope may have been closed meanwhile.
      yield* Effect.tapError(refuseClosed, () => stop)
      return started
    }).pipe(Effect.uninterruptible)

    const run = (command: string) =>
      Effect.gen(function* () {
        const running = yield* ready
        const reason = restarted
        restarted = undefined
        yield* Effect.annotateCurrentSpan(ProcessAttributes.ATTR_PROCESS_PID, running.pid)
        const background = running.takeOutput().toText()
        const end = yield* running.run(command).pipe(
          Effect.timeoutOption(timeout),
          Effect.onInterrupt(() =>
            Effect.andThen(
              stop,
              Effect.sync(() => {
                restarted = "cancelled"
              })
            )
          )
        )
        if (Option.isNone(end) || end.value._tag === "Lost") {
          const output = Option.match(end, {
            onNone: () => running.takeOutput(),
            onSome: (lost) => lost.output
          }).toText()
          yield* stop
          return yield* new CommandStopped({ after: Option.isNone(end) ? timeout : undefined, output })
        }
        const { exitCode, output } = end.value
        const ended = end.value._tag === "Exited"
        if (ended) yield* stop
        if (exitCode !== null) {
          yield* Effect.annotateCurrentSpan(ProcessAttributes.ATTR_PROCESS_EXIT_CODE, exitCode)
        }
        return {
          output: output.toText(),
          background,
          exitCode,
          ended,
          signal: end.value._tag === "Exited" ? end.value.signal : null,
          restarted: reason
        }
      }).pipe(
        withCommandSpan(path.basename(shell), command, options.content),
        Effect.mapError((error) =>
          error instanceof CommandStopped ? stoppedError(error, workingDirectory) : error
        ),
        semaphore.withPermit
      )

    // Without the permit: what still runs is not waited for but ended.
    yield* Effect.addFinalizer(() => {
      closed = true
      return stop
    })
    return BashSession.of({
      workingDirectory,
      run: (command) => Effect.andThen(check(command), run(command)),
      restart: semaphore.withPermit(stop)
    })
  })

/** A session of the layer's scope. */
export const layer = (options: Options = {}): Layer.Layer<BashSession> =>
  Layer.effect(BashSession, make(options))

/** Without content in its message: it ends the span of the command. */
class CommandStopped extends Data.TaggedError("CommandStopped")<{
  readonly after: Duration.Duration | undefined
  readonly output: string
}> {
  override get message(): string {
    return this.after === undefined
      ? "The shell no longer answered and was ended"
      : `The command was ended after ${Duration.format(this.after)}`
  }
}

const stoppedError = ({ after, output }: CommandStopped, workingDirectory: string): BashError => {
  const [reason, what] =
    after === undefined
      ? (["ShellLost", "The shell no longer answers"] as const)
      : (["TimedOut", `The command did not end within ${Duration.format(after)}`] as const)
  return new BashError({
    reason,
    message: [
      `${what}. It was killed, and the shell with everything that was started in it. The next command starts a new shell in ${workingDirectory}.`,
      ...(after === undefined ? [] : ["Run what takes long in the background, with its output in a file."]),
      output === "" ? "There was no output." : `Output until then:\n${output}`
    ].join("\n")
  })
}

const sessionClosed = new BashError({
  reason: "ShellUnavailable",
  message: "The shell session of this tool is closed. Nothing was run."
})

const check = (command: string): Effect.Effect<void, BashError> => {
  const nul = command.indexOf("\0")
  if (nul < 0 && command.isWellFormed()) return Effect.void
  return Effect.fail(
    new BashError({
      reason: "BadCommand",
      message:
        nul < 0
          ? "The command holds half of a surrogate pair, which no program can be given. Nothing was run."
          : `The command holds a NUL character, at index ${nul}, which no program can be given. Nothing was run. Write it as \\0 for printf.`
    })
  )
}
