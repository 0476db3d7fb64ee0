/**
 * Runs a TypeScript program of this repository in a process of its own, as a user's: `toolspan` means the sources.
 */
import * as ChildProcess from "node:child_process"
import { fileURLToPath } from "node:url"
import * as Effect from "effect/Effect"

export const root = fileURLToPath(new URL("../../", import.meta.url))

/** The environment of a program, as far as it is none of the test's business: what Node has compiled once is not compiled again. */
export const environment: Readonly<Record<string, string | undefined>> = {
  PATH: process.env["PATH"],
  HOME: process.env["HOME"],
  NODE_COMPILE_CACHE: `${root}.cache/compiled`
}

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs `file` (relative to the repository) with these arguments and, but for {@link environment}, this environment alone. */
export const run = (
  file: string,
  options: {
    readonly args?: ReadonlyArray<string>
    readonly environment?: Readonly<Record<string, string>>
    readonly directory?: string
  } = {}
): Effect.Effect<Ended> =>
  Effect.callback((resume) => {
    const child = ChildProcess.execFile(
      process.execPath,
      ["--conditions=toolspan-source", `${root}${file}`, ...(options.args ?? [])],
      {
        cwd: options.directory ?? root,
        env: { ...environment, ...options.environment }
      },
      (_, stdout, stderr) => resume(Effect.succeed({ code: child.exitCode, stdout, stderr }))
    )
    return Effect.sync(() => child.kill("SIGKILL"))
  })

/** Runs `file` at a terminal, and types an answer when a text appears. Standard output and error are one there. */
export const atTerminal = (
  file: string,
  options: {
    readonly args: ReadonlyArray<string>
    readonly directory: string
    readonly answer: readonly [to: string, keys: string]
  }
): Effect.Effect<{ readonly code: number | null; readonly output: string }> =>
  Effect.callback((resume) => {
    const [text, keys] = options.answer
    const command = [process.execPath, "--conditions=toolspan-source", `${root}${file}`, ...options.args]
    // `script` gives the program a terminal, and ends with its exit code.
    const child = ChildProcess.spawn("script", ["-qec", command.join(" "), "/dev/null"], {
      cwd: options.directory,
      env: { ...environment, TERM: "xterm" }
    })
    let output = ""
    let answered = false
    child.stdout.on("data", (chunk) => {
      output += chunk
      if (answered || !output.includes(text)) return
      answered = true
      child.stdin.write(keys)
    })
    child.on("close", (code) => resume(Effect.succeed({ code, output })))
    return Effect.sync(() => child.kill("SIGKILL"))
  })
