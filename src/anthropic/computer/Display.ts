/**
 * An X display, looked at and worked by programs: `xdotool` for mouse and keys, `maim` for pictures, ImageMagick's `convert` to scale them.
 *
 * What is typed goes to a program's input and not among its arguments, which every process of the machine can read.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Environment from "../process/Environment.ts"
import * as Program from "../process/Program.ts"
import { badAction, ComputerError } from "./ComputerError.ts"
import type { Area, Point, Size } from "./Screen.ts"

export interface Display {
  /** The screen as it is now. */
  readonly size: Effect.Effect<Size, ComputerError>
  /** Where the mouse is. */
  readonly pointer: Effect.Effect<Point, ComputerError>
  /** Commands of xdotool, one after the other, as its manual has them. */
  readonly work: (
    commands: ReadonlyArray<string>,
    timeout?: Duration.Duration
  ) => Effect.Effect<void, ComputerError>
  readonly type: (text: string) => Effect.Effect<void, ComputerError>
  /** A picture of the screen or of a part of it, as PNG, made to fit: `exactly` so large, or not larger. */
  readonly picture: (
    area: Area | undefined,
    fit: Size,
    exactly: boolean
  ) => Effect.Effect<Buffer, ComputerError>
}

/** Debian's packages of the programs, for who misses one. */
const PACKAGES: Readonly<Record<string, string>> = {
  xdotool: "xdotool",
  maim: "maim",
  convert: "imagemagick"
}

const MAX_PICTURE_BYTES = 64 * 1024 * 1024

/** Milliseconds between two characters: programs that are typed into keep up. */
const TYPING_DELAY = 12

/** The same for characters that may be on no key: xdotool puts each on one for that long, and programs must have heard of it. */
const RARE_DELAY = 250

const COMMON = /[\x20-\x7e\t]+/

/** How many characters can be typed at once. */
const MAX_CHARACTERS = 10_000

/** `name`: of the display, such as `:1`. */
export const make = (name: string): Display => {
  const environment = {
    ...Environment.make([...Environment.INHERITED, "XAUTHORITY"]),
    DISPLAY: name
  }
  const run = (
    file: string,
    args: ReadonlyArray<string>,
    options: Pick<Program.Request, "input" | "timeout" | "maxBytes"> = {}
  ): Effect.Effect<Buffer, ComputerError> =>
    Program.run({ file, args, environment, ...options }).pipe(
      Effect.mapError(({ message, reason }) =>
        reason === "NotFound"
          ? unavailable(`${message}. On Debian: apt-get install ${PACKAGES[file] ?? file}`)
          : new ComputerError({ reason: "Failed", message })
      ),
      Effect.flatMap(({ exitCode, stderr, stdout }) => {
        // xdotool says so, and succeeds.
        const [, missing] = /No such key name '([^']*)'/.exec(stderr) ?? []
        if (missing !== undefined) {
          return Effect.fail(
            badAction(`There is no key "${missing}" in X: give its name there, such as Return`)
          )
        }
        if (exitCode === 0) return Effect.succeed(stdout)
        if (/open display/i.test(stderr) || /failed to open x/i.test(stderr)) {
          return Effect.fail(unavailable(`The X display "${name}" cannot be opened: is its server running?`))
        }
        const [said = ""] = stderr.trim().split("\n")
        return Effect.fail(
          new ComputerError({
            reason: "Failed",
            message: `${file} failed with exit code ${exitCode}: ${said}`
          })
        )
      })
    )

  const size = Effect.flatMap(run("xdotool", ["getdisplaygeometry"]), (stdout) => {
    const [width, height] = stdout.toString("utf8").trim().split(/\s+/).map(Number)
    return width === undefined || height === undefined || !(width > 0) || !(height > 0)
      ? Effect.fail(unavailable(`The X display "${name}" does not say how large it is`))
      : Effect.succeed({ width, height })
  })

  const typeLine = (line: string) =>
    Effect.all(
      line
        .split(new RegExp(`(${COMMON.source})`))
        .filter((piece) => piece !== "")
        .map((piece) => {
          const delay = COMMON.test(piece) ? TYPING_DELAY : RARE_DELAY
          return run("xdotool", ["type", "--delay", String(delay), "--file", "-"], {
            input: piece,
            timeout: Duration.millis(30_000 + piece.length * delay * 4)
          })
        }),
      { discard: true }
    )

  return {
    size,
    pointer: Effect.flatMap(run("xdotool", ["getmouselocation", "--shell"]), (stdout) => {
      const [, x, y] = /^X=(\d+)\nY=(\d+)$/m.exec(stdout.toString("utf8")) ?? []
      return x === undefined || y === undefined
        ? Effect.fail(unavailable(`The X display "${name}" does not say where the mouse is`))
        : Effect.succeed([Number(x), Number(y)] as const)
    }),
    work: (commands, timeout) => Effect.asVoid(run("xdotool", commands, { timeout })),
    type: (text) => {
      if (text.length > MAX_CHARACTERS || !text.isWellFormed() || /[^\P{Cc}\r\n\t]/u.test(text)) {
        return Effect.fail(
          badAction(
            `Give at most ${MAX_CHARACTERS} characters to type, and no control characters but line ends and tabs`
          )
        )
      }
      // By itself xdotool has another key for the end of a line, which few programs take for one.
      const steps = text
        .split(/\r?\n/)
        .flatMap((line, index) => [
          ...(index === 0 ? [] : [run("xdotool", ["key", "Return"])]),
          ...(line === "" ? [] : [typeLine(line)])
        ])
      return Effect.all(steps, { discard: true })
    },
    picture: (area, fit, exactly) =>
      Effect.gen(function* () {
        const geometry =
          area === undefined ? [] : ["-g", `${area.width}x${area.height}+${area.left}+${area.top}`]
        const taken = yield* run("maim", ["--format=png", ...geometry], { maxBytes: MAX_PICTURE_BYTES })
        const { height, width } = area ?? (yield* size)
        if (
          exactly ? width === fit.width && height === fit.height : width <= fit.width && height <= fit.height
        ) {
          return taken
        }
        return yield* run(
          "convert",
          ["png:-", "-resize", `${fit.width}x${fit.height}${exactly ? "!" : ""}`, "png:-"],
          {
            input: taken,
            maxBytes: MAX_PICTURE_BYTES
          }
        )
      })
  }
}

const unavailable = (message: string): ComputerError => new ComputerError({ reason: "Unavailable", message })
