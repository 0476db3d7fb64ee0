/**
 * Builds a program from its Go module, once for each version, outside the work tree.
 *
 * Kept in `$TOOLSPAN_CACHE` (else `$XDG_CACHE_HOME/toolspan`, else `~/.cache/toolspan`), in `stack/{name}-{version}/{inputs}/`, where
 * `inputs` tells one set of sources and flags from another. A build that is killed leaves nothing there: it happens in a folder of its
 * own, which gets its name in one step when all is well. Go's caches are the machine's.
 */
import * as ChildProcess from "node:child_process"
import * as Crypto from "node:crypto"
import * as Fs from "node:fs"
import { homedir } from "node:os"
import * as Path from "node:path"
import { fileURLToPath } from "node:url"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as BuildLock from "./BuildLock.ts"
import * as Folder from "./Folder.ts"

export interface Program {
  /** Also the folder below `programs/` with its `go.mod`. */
  readonly name: string
  readonly version: string
  /** The main package of each binary. */
  readonly binaries: Readonly<Record<string, string>>
  /** More flags for the linker. */
  readonly link?: string
  /** The one package is the collector's builder, and this is its manifest: what it generates becomes the binary. */
  readonly manifest?: string
}

/** `message` says which program, and ends with the last of what Go said. */
export class BuildFailed extends Data.TaggedError("BuildFailed")<{
  readonly program: string
  readonly message: string
}> {}

/** What `go version` says; undefined where there is no Go. */
export const goVersion = (): string | undefined => {
  const { status, stdout } = ChildProcess.spawnSync("go", ["version"], { encoding: "utf8" })
  return status === 0 ? stdout.trim() : undefined
}

export const isBuilt = (program: Program): boolean => Fs.existsSync(folderOf(program))

/** The folder with the program's binaries. One build at a time on a machine; whoever comes second waits for the first. */
export const build = (program: Program): Effect.Effect<string, BuildFailed> =>
  Effect.suspend(() => {
    const folder = folderOf(program)
    if (isBuilt(program)) return Effect.succeed(folder)
    if (goVersion() === undefined)
      return Effect.fail(failed(program, "there is no Go on this machine; install Go 1.26 or newer"))
    return Effect.scoped(
      Effect.gen(function* () {
        const base = Path.dirname(Path.dirname(folder))
        Fs.mkdirSync(Path.dirname(folder), { recursive: true })
        yield* BuildLock.hold(Path.join(base, "building"), () =>
          say(program, "another process builds, waiting for it")
        )
        if (isBuilt(program)) return folder
        removeOld(base)
        const unfinished = yield* Folder.make(Path.join(base, "unfinished-"))
        yield* progress(program)
        yield* compile(program, unfinished)
        if (!isBuilt(program)) Fs.renameSync(Path.join(unfinished, "out"), folder)
        return folder
      })
    )
  })

const modules = fileURLToPath(new URL("programs/", import.meta.url))

const cache = (): string =>
  Path.join(
    process.env["TOOLSPAN_CACHE"] ??
      Path.join(process.env["XDG_CACHE_HOME"] ?? Path.join(homedir(), ".cache"), "toolspan"),
    "stack"
  )

const folderOf = (program: Program): string => {
  const inputs = Crypto.createHash("sha256").update(JSON.stringify([program, process.platform, process.arch]))
  for (const file of ["go.mod", "go.sum", ...(program.manifest === undefined ? [] : [program.manifest])]) {
    inputs.update(Fs.readFileSync(Path.join(modules, program.name, file)))
  }
  return Path.join(cache(), `${program.name}-${program.version}`, inputs.digest("hex").slice(0, 12))
}

const compile = (program: Program, unfinished: string): Effect.Effect<void, BuildFailed> =>
  Effect.gen(function* () {
    const source = Path.join(modules, program.name)
    const go = (args: ReadonlyArray<string>) => run(program, "go", args, source)
    const out = (binary: string) => Path.join(unfinished, "out", binary)
    for (const [binary, mainPackage] of Object.entries(program.binaries)) {
      const flags = ["-trimpath", "-buildvcs=false", `-ldflags=-s -w ${program.link ?? ""}`.trim()]
      if (program.manifest === undefined) {
        yield* go(["build", ...flags, "-o", out(binary), mainPackage])
        continue
      }
      const builder = Path.join(unfinished, "builder")
      yield* go(["build", ...flags, "-o", builder, mainPackage])
      // It strips symbols and paths of its own accord, and writes below its working directory.
      yield* run(program, builder, ["--config", Path.join(source, program.manifest)], unfinished)
      Fs.mkdirSync(Path.join(unfinished, "out"))
      Fs.renameSync(Path.join(unfinished, "collector", binary), out(binary))
    }
  })

/** A build takes what the machine has to spare, so that people can go on working. */
const LEAST_URGENT = ["-n", "19"]

const TAIL = 30

const run = (
  program: Program,
  command: string,
  args: ReadonlyArray<string>,
  directory: string
): Effect.Effect<void, BuildFailed> =>
  Effect.callback<void, BuildFailed>((resume) => {
    // A process group of its own, so that the compilers end with it.
    const child = ChildProcess.spawn("nice", [...LEAST_URGENT, command, ...args], {
      cwd: directory,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"]
    })
    let tail: ReadonlyArray<string> = []
    const hear = (chunk: Buffer) => {
      tail = [...tail, ...chunk.toString().split("\n").filter(Boolean)].slice(-TAIL)
    }
    child.stdout.on("data", hear)
    child.stderr.on("data", hear)
    child.on("error", (error) => resume(Effect.fail(failed(program, String(error)))))
    child.on("close", (code) => {
      const said = `${[command, ...args].join(" ")} (in ${directory}) ended with ${code}:\n${tail.join("\n")}`
      resume(code === 0 ? Effect.void : Effect.fail(failed(program, said)))
    })
    const stop = () => {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGKILL")
    }
    // Ctrl-C reaches this process only.
    process.once("exit", stop)
    child.on("close", () => process.off("exit", stop))
    return Effect.sync(stop)
  })

const failed = (program: Program, why: string): BuildFailed =>
  new BuildFailed({
    program: program.name,
    message: `${program.name} ${program.version} could not be built: ${why}`
  })

const HOURS = 3_600_000

/** What builds left behind that were killed. */
const removeOld = (base: string): void => {
  for (const name of Fs.readdirSync(base).filter((name) => name.startsWith("unfinished-"))) {
    const folder = Path.join(base, name)
    if (Date.now() - Fs.statSync(folder).mtimeMs > 2 * HOURS)
      Fs.rmSync(folder, { recursive: true, force: true })
  }
}

/** Says what is being built and for how long, until the scope closes. */
const progress = (program: Program): Effect.Effect<void, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => {
        const start = performance.now()
        const elapsed = () => `${Math.round((performance.now() - start) / 1000)} s`
        say(program, "building from its Go module, minutes the first time")
        const timer = setInterval(() => say(program, `still building, ${elapsed()}`), 15_000)
        return { timer, elapsed }
      }),
      ({ elapsed, timer }, exit) =>
        Effect.sync(() => {
          clearInterval(timer)
          say(program, `${exit._tag === "Success" ? "built" : "not built"}, after ${elapsed()}`)
        })
    ),
    () => undefined
  )

const say = (program: Program, text: string): void => {
  process.stderr.write(`[stack] ${program.name} ${program.version}: ${text}\n`)
}
