/**
 * `docker-compose.yml` as the real `docker compose config` reads it. Needs no engine.
 */
import * as ChildProcess from "node:child_process"
import * as Effect from "effect/Effect"
import type * as Build from "./Build.ts"
import * as Programs from "./Programs.ts"
import * as Shipped from "./Shipped.ts"

export interface Service {
  readonly image: string
  readonly command: ReadonlyArray<string> | null
  readonly restart?: string
  readonly mem_limit?: string
  readonly healthcheck?: { readonly test: ReadonlyArray<string> }
  readonly environment?: Readonly<Record<string, string>>
  readonly ports?: ReadonlyArray<{
    readonly host_ip?: string
    readonly published: string
    readonly target: number
  }>
  readonly volumes?: ReadonlyArray<{
    readonly type: "bind" | "volume"
    readonly source: string
    readonly target: string
    readonly read_only?: boolean
  }>
}

export interface Compose {
  readonly services: Readonly<Record<string, Service>>
}

/** With every profile. Dies with what the program said about the file. */
export const read: Effect.Effect<Compose, Build.BuildFailed> = Effect.gen(function* () {
  const path = yield* Programs.path("docker-compose")
  const args = ["-f", Shipped.path("docker-compose.yml"), "--profile", "*", "config", "--format", "json"]
  const { status, stderr, stdout } = ChildProcess.spawnSync(path, args, {
    cwd: Shipped.root,
    encoding: "utf8",
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"] }
  })
  if (status !== 0) return yield* Effect.die(new Error(`docker compose config: ${stderr}`))
  // The format is the program's own.
  return JSON.parse(stdout) as Compose
})
