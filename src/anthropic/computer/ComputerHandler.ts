/**
 * The handler of the tool `AnthropicComputerUse`: carries out actions on an X display, one after the other. Give it one that holds nothing
 * else, in a virtual machine or a container: what the model sees and does there is as if somebody sat in front of it.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type * as ComputerUse from "../tools/ComputerUse.ts"
import { badAction, ComputerError } from "./ComputerError.ts"
import * as Display from "./Display.ts"
import * as Keys from "./Keys.ts"
import * as Screen from "./Screen.ts"

export interface Options {
  /** Name of the X display, such as `:1`. */
  readonly display: string
  /** The screen that the model is told of, as in the tool's definition; what there really is, is scaled to it. */
  readonly displayWidth: number
  readonly displayHeight: number
  /** How long after an action a picture of the screen is taken and given with its result; none by default: the model asks for one. */
  readonly screenshotAfter?: Duration.Input | undefined
}

/** The handlers for `toolkit.toLayer`, by the name of the tool. */
export interface Handlers {
  readonly AnthropicComputerUse: (
    params: ComputerUse.Parameters
  ) => Effect.Effect<ComputerUse.Result, ComputerError>
}

/** The longest that a key is held, or waited for, in seconds. */
const MAX_SECONDS = 100

const MAX_REPEAT = 100

/** More the API does not take of a picture: 5 MiB, in base64. */
const MAX_PICTURE_BYTES = 3_900_000

/** Throws an `Error` that names the option that makes no sense. */
export const make = (options: Options): Handlers => {
  const { display: name, displayHeight: height, displayWidth: width, screenshotAfter } = options
  for (const [option, value] of Object.entries({ displayWidth: width, displayHeight: height })) {
    if (!Number.isSafeInteger(value) || value < 1 || value > 10_000) {
      throw new Error(`ComputerHandler: option "${option}" is ${value}; allowed: an integer from 1 to 10000`)
    }
  }
  const told: Screen.Size = { width, height }
  const display = Display.make(name)
  const after = screenshotAfter === undefined ? undefined : Duration.fromInputUnsafe(screenshotAfter)
  const semaphore = Semaphore.makeUnsafe(1)

  /** The commands that put the mouse there, if anywhere. */
  const moved = (coordinate: Screen.Point | undefined) =>
    coordinate === undefined
      ? Effect.succeed([])
      : Effect.flatMap(display.size, (real) =>
          Effect.map(orFail(Screen.toReal(coordinate, told, real)), ([x, y]) => [
            "mousemove",
            String(x),
            String(y)
          ])
        )

  /** Commands while keys are held, which are let go whatever happens. */
  const holding = (keys: string | undefined, commands: ReadonlyArray<string>, timeout?: Duration.Duration) =>
    Effect.gen(function* () {
      if (keys === undefined) return yield* display.work(commands, timeout)
      const held = yield* orFail(Keys.combination(keys))
      yield* Effect.ensuring(
        Effect.andThen(display.work(["keydown", held]), display.work(commands, timeout)),
        Effect.ignore(display.work(["keyup", held]))
      )
    })

  const click = (
    { coordinate, text }: { readonly coordinate?: Screen.Point; readonly text?: string },
    button: number,
    repeat = 1
  ) =>
    Effect.flatMap(moved(coordinate), (move) =>
      holding(text, [...move, "click", "--repeat", String(repeat), "--delay", "40", String(button)])
    )

  const picture = (area: Screen.Area | undefined, exactly: boolean) =>
    Effect.flatMap(display.picture(area, told, exactly), (png) =>
      png.length > MAX_PICTURE_BYTES
        ? Effect.fail(
            new ComputerError({
              reason: "Failed",
              message: `The picture of the screen has ${png.length} bytes, more than the API takes: tell the model of a smaller screen`
            })
          )
        : Effect.succeed({ type: "image", mediaType: "image/png", data: png.toString("base64") } as const)
    )

  const act = (params: ComputerUse.Parameters): Effect.Effect<ComputerUse.Result, ComputerError> => {
    switch (params.action) {
      case "screenshot":
        return picture(undefined, true)
      case "zoom":
        return Effect.flatMap(display.size, (real) =>
          Effect.flatMap(orFail(Screen.areaOf(params.region, told, real)), (area) => picture(area, false))
        )
      case "cursor_position":
        return Effect.map(Effect.all([display.pointer, display.size]), ([at, real]) => {
          const [x, y] = Screen.toTold(at, told, real)
          return `X=${x},Y=${y}`
        })
      case "wait":
        return Effect.flatMap(seconds(params.duration), (duration) =>
          Effect.as(Effect.sleep(duration), "Waited.")
        )
      case "mouse_move":
        return done("Moved the mouse.", Effect.flatMap(moved(params.coordinate), display.work))
      case "left_click":
        return done("Clicked.", click(params, LEFT))
      case "right_click":
        return done("Clicked.", click(params, RIGHT))
      case "middle_click":
        return done("Clicked.", click(params, MIDDLE))
      case "double_click":
        return done("Clicked twice.", click(params, LEFT, 2))
      case "triple_click":
        return done("Clicked three times.", click(params, LEFT, 3))
      case "left_mouse_down":
        return done(
          "The left button is down.",
          Effect.flatMap(moved(params.coordinate), (move) =>
            display.work([...move, "mousedown", String(LEFT)])
          )
        )
      case "left_mouse_up":
        return done(
          "The left button is up.",
          Effect.flatMap(moved(params.coordinate), (move) => display.work([...move, "mouseup", String(LEFT)]))
        )
      case "left_click_drag":
        return done("Dragged.", drag(params))
      case "scroll":
        return done("Scrolled.", scroll(params))
      case "key":
        return done("Pressed.", press(params))
      case "hold_key":
        return done(
          "Held and let go.",
          Effect.flatMap(seconds(params.duration), (duration) =>
            holding(
              params.text,
              ["sleep", String(Duration.toSeconds(duration))],
              Duration.sum(duration, Duration.seconds(30))
            )
          )
        )
      case "type":
        return done("Typed.", display.type(params.text))
    }
  }

  const drag = ({
    coordinate,
    start_coordinate,
    text
  }: Extract<ComputerUse.Parameters, { readonly action: "left_click_drag" }>) =>
    Effect.gen(function* () {
      const start = yield* moved(start_coordinate)
      const end = yield* moved(coordinate)
      const button = String(LEFT)
      // Programs tell a drag from two clicks by the time and the way between.
      const commands = [
        ...start,
        "mousedown",
        button,
        "sleep",
        "0.1",
        ...end,
        "sleep",
        "0.1",
        "mouseup",
        button
      ]
      yield* Effect.onInterrupt(holding(text, commands), () =>
        Effect.ignore(display.work(["mouseup", button]))
      )
    })

  const scroll = ({
    scroll_amount,
    scroll_direction,
    ...at
  }: Extract<ComputerUse.Parameters, { readonly action: "scroll" }>) =>
    scroll_amount < 1 || scroll_amount > MAX_REPEAT
      ? Effect.fail(badAction(`scroll_amount is ${scroll_amount}; give 1 to ${MAX_REPEAT}`))
      : click(at, WHEEL[scroll_direction], scroll_amount)

  const press = ({ repeat = 1, text }: Extract<ComputerUse.Parameters, { readonly action: "key" }>) =>
    repeat < 1 || repeat > MAX_REPEAT
      ? Effect.fail(badAction(`repeat is ${repeat}; give 1 to ${MAX_REPEAT}`))
      : Effect.flatMap(orFail(Keys.sequence(text)), (keys) =>
          display.work(["key", "--repeat", String(repeat), "--delay", "20", ...keys])
        )

  /** The words, and a picture if one is wanted. */
  const done = (
    words: string,
    effect: Effect.Effect<void, ComputerError>
  ): Effect.Effect<ComputerUse.Result, ComputerError> =>
    after === undefined
      ? Effect.as(effect, words)
      : effect.pipe(
          Effect.andThen(Effect.sleep(after)),
          Effect.andThen(picture(undefined, true)),
          Effect.map((image) => [{ type: "text", text: words }, image])
        )

  return { AnthropicComputerUse: (params) => semaphore.withPermit(act(params)) }
}

const LEFT = 1
const MIDDLE = 2
const RIGHT = 3
const WHEEL = { up: 4, down: 5, left: 6, right: 7 }

const orFail = <A>(value: A | ComputerError): Effect.Effect<A, ComputerError> =>
  value instanceof ComputerError ? Effect.fail(value) : Effect.succeed(value)

const seconds = (duration: number): Effect.Effect<Duration.Duration, ComputerError> =>
  duration >= 0 && duration <= MAX_SECONDS
    ? Effect.succeed(Duration.seconds(duration))
    : Effect.fail(badAction(`duration is ${duration}; give 0 to ${MAX_SECONDS} seconds`))
