/**
 * One bash process that runs one command after the other: fed, read, ended.
 *
 * How it is started is in `ShellSpawn.ts`; what is written to it and how its answers are told from output, in `ShellScript.ts`; who belongs
 * to it and how they are ended, in `ProcessFamily.ts`; one command at a time, time limits and what the model is told, in `BashSession.ts`.
 */
import * as crypto from "node:crypto"
import * as net from "node:net"
import type { Duplex } from "node:stream"
import * as Effect from "effect/Effect"
import type { BashError } from "./BashError.ts"
import { CappedOutput } from "./CappedOutput.ts"
import * as ProcessFamily from "./ProcessFamily.ts"
import * as ShellScript from "./ShellScript.ts"
import * as ShellSpawn from "./ShellSpawn.ts"

/** How a command ended, and what was written until then. */
export type CommandEnd =
  | { readonly _tag: "Finished"; readonly output: CappedOutput; readonly exitCode: number }
  /** The shell ended with it: `exit`, `exec`, `set -e`, a signal. One of code and signal is null. */
  | {
      readonly _tag: "Exited"
      readonly output: CappedOutput
      readonly exitCode: number | null
      readonly signal: string | null
    }
  /** The shell does not answer. */
  | { readonly _tag: "Lost"; readonly output: CappedOutput }

export interface ShellProcess {
  readonly pid: number
  /** Whether it takes commands. */
  readonly isAlive: () => boolean
  /** Runs a command and waits for its end. Interrupted, it only stops waiting: `stop` ends the command. */
  readonly run: (command: string) => Effect.Effect<CommandEnd>
  /** What was written since the last command ended, or since this was called last. */
  readonly takeOutput: () => CappedOutput
  /** Ends the shell and all that it started, and waits for that. */
  readonly stop: Effect.Effect<void>
}

/** A command that has not ended. */
interface Waiting {
  readonly token: string
  readonly resume: (end: CommandEnd) => void
  exitCode: number
  /** What ends the output; undefined until the command has ended. */
  mark: Buffer | undefined
  /** Output that may be the beginning of the mark. */
  held: Buffer
  patience: NodeJS.Timeout | undefined
}

/** How long a shell that has nothing to do may take to answer, and the system to close what dead processes held. */
const PATIENCE_MILLIS = 5000

/** Starts a shell that keeps at most `maxOutputBytes` of what a command writes. */
export const start = (
  settings: ShellSpawn.Settings,
  maxOutputBytes: number
): Effect.Effect<ShellProcess, BashError> => {
  const marker = randomToken()
  const environment = { ...settings.environment, [MARKER_NAME]: marker }
  return Effect.map(ShellSpawn.spawn({ ...settings, environment }), (spawned) =>
    attach(spawned, ProcessFamily.of(spawned.pid, `${MARKER_NAME}=${marker}`), maxOutputBytes)
  )
}

const MARKER_NAME = "TOOLSPAN_SESSION"

const attach = (
  spawned: ShellSpawn.Spawned,
  family: ProcessFamily.Family,
  maxOutputBytes: number
): ShellProcess => {
  const reader = new net.Socket({ fd: spawned.output, readable: true, writable: false })
  let output = new CappedOutput(maxOutputBytes)
  let exited: Pick<Extract<CommandEnd, { _tag: "Exited" }>, "exitCode" | "signal"> | undefined
  let waiting: Waiting | undefined

  const takeOutput = (): CappedOutput => {
    const taken = output
    output = new CappedOutput(maxOutputBytes)
    return taken
  }
  const forget = (current: Waiting): void => {
    clearTimeout(current.patience)
    output.push(current.held)
    if (waiting === current) waiting = undefined
  }
  const onOutput = (chunk: Buffer): void => {
    if (waiting?.mark === undefined) {
      output.push(chunk)
      return
    }
    const { exitCode, mark, resume } = waiting
    const bytes = Buffer.concat([waiting.held, chunk])
    const at = bytes.indexOf(mark)
    const sure = at < 0 ? Math.max(0, bytes.length - mark.length + 1) : at
    output.push(bytes.subarray(0, sure))
    if (at < 0) {
      waiting.held = bytes.subarray(sure)
      return
    }
    waiting.held = Buffer.alloc(0)
    forget(waiting)
    const taken = takeOutput()
    // Already of a process in the background.
    output.push(bytes.subarray(at + mark.length))
    resume({ _tag: "Finished", output: taken, exitCode })
  }
  const onReport = (line: string): void => {
    const current = waiting
    if (current === undefined || current.mark !== undefined) return
    const exitCode = ShellScript.exitCodeIn(line, current.token)
    if (exitCode === undefined) return
    const mark = randomToken()
    current.exitCode = exitCode
    current.mark = ShellScript.markBytes(mark)
    spawned.input.write(ShellScript.markLine(mark))
    current.patience = setTimeout(() => {
      forget(current)
      current.resume({ _tag: "Lost", output: takeOutput() })
    }, PATIENCE_MILLIS)
  }
  const onExit = (exitCode: number | null, signal: string | null): void => {
    exited = { exitCode, signal }
    // What it leaves behind has no session any more, and would hold its output open.
    ProcessFamily.kill(family)
    spawned.input.destroy()
    spawned.control.destroy()
    const patience = setTimeout(() => reader.destroy(), PATIENCE_MILLIS)
    whenClosed(reader, () => {
      clearTimeout(patience)
      if (waiting === undefined) return
      const { resume } = waiting
      forget(waiting)
      resume({ _tag: "Exited", output: takeOutput(), exitCode, signal })
    })
  }
  // A program that ends without closing its scopes leaves nothing behind either.
  const atProcessExit = (): void => {
    if (exited === undefined) ProcessFamily.kill(family)
  }

  reader.on("data", onOutput)
  for (const stream of [reader, spawned.input, spawned.control]) stream.on("error", () => {})
  onLines(spawned.control, onReport)
  spawned.process.on("exit", onExit)
  // One listener a shell is meant, and no leak that Node need warn of.
  process.setMaxListeners(process.getMaxListeners() + 1)
  process.on("exit", atProcessExit)
  whenClosed(reader, () => {
    process.off("exit", atProcessExit)
    process.setMaxListeners(process.getMaxListeners() - 1)
  })
  spawned.input.write(ShellScript.BOOTSTRAP)

  const closed = Effect.callback<void>((resume) => whenClosed(reader, () => resume(Effect.void)))

  return {
    pid: spawned.pid,
    isAlive: () => exited === undefined,
    takeOutput,
    run: (command) =>
      Effect.callback<CommandEnd>((resume) => {
        if (exited !== undefined) {
          return resume(Effect.succeed({ _tag: "Exited", output: takeOutput(), ...exited }))
        }
        const current: Waiting = {
          token: randomToken(),
          resume: (end) => resume(Effect.succeed(end)),
          exitCode: 0,
          mark: undefined,
          held: Buffer.alloc(0),
          patience: undefined
        }
        waiting = current
        spawned.input.write(ShellScript.commandLine(command, current.token))
        return Effect.sync(() => forget(current))
      }),
    // Once it has exited its family is ended, and its numbers may be another's.
    stop: Effect.suspend(() =>
      exited === undefined ? Effect.andThen(ProcessFamily.end(family), closed) : closed
    ).pipe(Effect.uninterruptible)
  }
}

const randomToken = (): string => crypto.randomBytes(16).toString("hex")

const whenClosed = (stream: Duplex, then: () => void): void => {
  if (stream.closed) then()
  else stream.once("close", then)
}

/** A report is shorter than this; a line that is not is none of ours. */
const MAX_LINE = 1024

const onLines = (stream: Duplex, onLine: (line: string) => void): void => {
  let rest = ""
  stream.on("data", (chunk: Buffer) => {
    const lines = (rest + chunk.toString("latin1")).split("\n")
    rest = (lines.pop() ?? "").slice(-MAX_LINE)
    for (const line of lines) onLine(line)
  })
}
