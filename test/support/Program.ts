/**
 * Runs a TypeScript program of this repository in a process of its own, as a user's: `toolspan` means the sources.
 */
import * as ChildProcess from "node:child_process"
import { fileURLToPath } from "node:url"
import * as Effect from "effect/Effect"

export const root = fileURLToPath(new URL("../../", import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs `file` (relative to the repository) with these arguments and, but for `PATH` and `HOME`, this environment alone. */
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
        env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...options.environment }
      },
      (_, stdout, stderr) => resume(Effect.succeed({ code: child.exitCode, stdout, stderr }))
    )
    return Effect.sync(() => child.kill("SIGKILL"))
  })
