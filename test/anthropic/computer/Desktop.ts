/** A screen of its own, with programs on it that say what they are given. Debian's packages are named where one is missing. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import * as Effect from "effect/Effect"
import { until } from "../../support/Until.ts"

const packages: Readonly<Record<string, string>> = {
  Xvfb: "xvfb",
  xdotool: "xdotool",
  maim: "maim",
  convert: "imagemagick",
  xterm: "xterm",
  xev: "x11-utils",
  xsetroot: "x11-xserver-utils"
}

const checkPrograms = (): void => {
  const missing = Object.keys(packages).filter((name) => spawnSync("which", [name]).status !== 0)
  if (missing.length > 0) {
    throw new Error(
      `${missing.join(", ")} not installed: apt-get install -y --no-install-recommends ${missing.map((name) => packages[name]).join(" ")}`
    )
  }
}

const ended = (child: ChildProcess) =>
  Effect.callback<void>((resume) => {
    if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
    child.once("exit", () => resume(Effect.void))
    child.kill("SIGKILL")
  })

export interface Screen {
  /** The display's name, such as `:99`. */
  readonly display: string
  /** Runs a program on it to its end. */
  readonly run: (file: string, args: ReadonlyArray<string>) => string
}

/** A screen of this scope, black, with nothing on it. */
export const screen = (width: number, height: number) =>
  Effect.gen(function* () {
    checkPrograms()
    const server = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(
          "Xvfb",
          ["-displayfd", "1", "-screen", "0", `${width}x${height}x24`, "-nolisten", "tcp", "-noreset"],
          {
            stdio: ["ignore", "pipe", "ignore"]
          }
        )
      ),
      ended
    )
    const display = yield* Effect.callback<string>((resume) => {
      server.stdout?.once("data", (number) => resume(Effect.succeed(`:${String(number).trim()}`)))
    })
    const run = (file: string, args: ReadonlyArray<string>): string => {
      const { status, stderr, stdout } = spawnSync(file, args, {
        env: { PATH: process.env["PATH"], DISPLAY: display },
        encoding: "utf8"
      })
      if (status !== 0) throw new Error(`${file} ${args.join(" ")}: ${stderr}`)
      return stdout
    }
    run("xsetroot", ["-solid", "black"])
    return { display, run } satisfies Screen
  })

/** A client of a screen, ended with the scope, and what it has written so far. */
const client = ({ display }: Screen, file: string, args: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(file, args, {
          env: { PATH: process.env["PATH"], HOME: "/nonexistent", DISPLAY: display, LANG: "C.UTF-8" },
          stdio: ["ignore", "pipe", "ignore"]
        })
      ),
      ended
    )
    let output = ""
    child.stdout?.on("data", (chunk) => {
      output += chunk
    })
    return () => output
  })

/** What a window that covers the screen has been given: `press 1 100,200`, `release 1 …`, `key a`, `keyup a`. */
export const events = (screen: Screen, width: number, height: number) =>
  Effect.gen(function* () {
    const output = yield* client(screen, "stdbuf", ["-oL", "xev", "-geometry", `${width}x${height}+0+0`])
    yield* until("the window is there", () => output().includes("MapNotify"))
    return () =>
      output()
        .split("\n\n")
        .flatMap((event): ReadonlyArray<string> => {
          const [, kind] = /^(KeyPress|KeyRelease|ButtonPress|ButtonRelease) event/m.exec(event) ?? []
          if (kind === undefined) return []
          const [, button] = /button (\d+)/.exec(event) ?? []
          const [, at] = /root:\((\d+,\d+)\)/.exec(event) ?? []
          const [, key] = /keysym 0x[0-9a-f]+, (\S+)\)/.exec(event) ?? []
          const names = {
            KeyPress: "key",
            KeyRelease: "keyup",
            ButtonPress: "press",
            ButtonRelease: "release"
          }
          return [`${names[kind as keyof typeof names]} ${button === undefined ? key : `${button} ${at}`}`]
        })
  })

/** A terminal that keeps what is typed into it, byte for byte. */
export const terminal = (screen: Screen) =>
  Effect.gen(function* () {
    const directory = yield* Effect.acquireRelease(
      Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "toolspan-test-"))),
      (directory) => Effect.sync(() => fs.rmSync(directory, { recursive: true, force: true }))
    )
    const file = path.join(directory, "typed")
    yield* client(screen, "xterm", [
      ...["-u8", "-geometry", "100x40+0+0", "-e"],
      ...["sh", "-c", `stty raw -echo; touch ${file}; exec cat > ${file}`]
    ])
    yield* until("the terminal is there", () => fs.existsSync(file))
    return () => fs.readFileSync(file, "utf8")
  })
