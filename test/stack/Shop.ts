/**
 * The program `agents/shop.ts`, in a process of its own.
 */
import * as ChildProcess from "node:child_process"
import { fileURLToPath } from "node:url"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

export interface Report {
  readonly calls: number
  readonly failures: number
  readonly slowestMillis: number
  /** By reason. */
  readonly dropped: Readonly<Record<string, number>>
}

export interface Shop {
  /** When the first call failed, in milliseconds since the epoch. */
  readonly failedAt: Promise<number>
  /** Asks it to end; gives what it reports. */
  readonly stop: Effect.Effect<Report>
  /** What it reports when it has ended by itself. */
  readonly ended: Effect.Effect<Report>
}

export const start = (
  environment: Readonly<Record<string, string>>
): Effect.Effect<Shop, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const child = ChildProcess.spawn(
        process.execPath,
        ["--conditions=toolspan-source", fileURLToPath(new URL("agents/shop.ts", import.meta.url))],
        {
          env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...environment },
          stdio: ["ignore", "pipe", "inherit"]
        }
      )
      let output = ""
      const failedAt = new Promise<number>((resolve) => {
        child.stdout.on("data", (chunk) => {
          output += chunk
          if (output.includes("failed\n")) resolve(Date.now())
        })
      })
      const ended = new Promise<Report>((resolve, reject) => {
        child.once("close", (code) => {
          if (code === 0) resolve(JSON.parse(output.trim().split("\n").at(-1) ?? ""))
          else reject(new Error(`shop.ts ended with ${code}: ${output}`))
        })
      })
      return { child, failedAt, ended }
    }),
    ({ child }) => Effect.sync(() => child.kill("SIGKILL"))
  ).pipe(
    Effect.map(({ child, ended, failedAt }) => {
      const report = Effect.promise(() => ended)
      return {
        failedAt,
        ended: report,
        stop: Effect.suspend(() => {
          child.kill("SIGTERM")
          return report
        })
      }
    })
  )
