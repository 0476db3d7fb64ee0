/**
 * Somebody at a terminal, who waits for what appears before typing.
 */
import * as ChildProcess from "node:child_process"
import * as Effect from "effect/Effect"
import * as Program from "../support/Program.ts"

/** When this text appears, after the one before it, these keys are typed, or something else is done. */
export type Step = readonly [text: string, keys: string | (() => void) | typeof hangUp]

/** Closes the terminal. */
export const hangUp = Symbol("hang up")
export const CTRL_C = "\u0003"
export const CTRL_D = "\u0004"
export const UP = "\u001b[A"

/** Runs the command `toolspan` at a terminal. `asked`: how many of the steps have been taken. */
export const toolspan = (
  args: ReadonlyArray<string>,
  directory: string,
  steps: ReadonlyArray<Step>
): Effect.Effect<{ readonly code: number | null; readonly output: string; readonly taken: number }> =>
  Effect.callback((resume) => {
    const command = [
      process.execPath,
      "--conditions=toolspan-source",
      `${Program.root}src/cli/main.ts`,
      ...args
    ]
    const quoted = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ")
    // `script` gives the program a terminal, and ends with its exit code.
    const child = ChildProcess.spawn("script", ["-qec", quoted, "/dev/null"], {
      cwd: directory,
      env: { ...Program.environment, TERM: "xterm" }
    })
    let output = ""
    let read = 0
    let taken = 0
    const look = () => {
      const [text, keys] = steps[taken] ?? []
      if (text === undefined || keys === undefined) return
      const at = output.indexOf(text, read)
      if (at < 0) return
      read = at + text.length
      taken++
      if (typeof keys === "string") child.stdin.write(keys)
      else if (keys === hangUp) child.kill("SIGKILL")
      else keys()
      look()
    }
    child.stdout.on("data", (chunk) => {
      output += chunk
      look()
    })
    child.on("close", (code) => resume(Effect.succeed({ code, output, taken })))
    return Effect.sync(() => child.kill("SIGKILL"))
  })
