/**
 * Computer use as Anthropic defines it, one definition for each version of the API: the model looks at a screen, and moves mouse and keys.
 *
 * The definitions say nothing of which screen: that is `computer/ComputerHandler.ts`. Every call needs approval unless `needsApproval` says
 * otherwise, screenshots included: what stands on a screen goes to the model.
 */
import * as Tool from "effect/ai/Tool"
import * as Schema from "effect/Schema"
import { ComputerError } from "../computer/ComputerError.ts"

/** Pixels from the left and from the top of the screen that the model is told of. */
const Point = Schema.Tuple([Schema.Int, Schema.Int])

/** Keys by their names in X, joined by `+` if held at once: `Return`, `ctrl+s`. */
const Keys = Schema.String

const Seconds = Schema.Number

const action = <const Name extends string, const Fields extends Schema.Struct.Fields>(
  name: Name,
  fields: Fields
) => Schema.Struct({ action: Schema.Literal(name), ...fields })

/** Where, by default where the mouse is; and the keys that are held meanwhile. */
const click = { coordinate: Schema.optionalKey(Point), text: Schema.optionalKey(Keys) }

const actions_20241022 = [
  action("screenshot", {}),
  action("cursor_position", {}),
  action("mouse_move", { coordinate: Point }),
  action("left_click", click),
  action("right_click", click),
  action("middle_click", click),
  action("double_click", click),
  /** From where the mouse is, or from `start_coordinate`. */
  action("left_click_drag", {
    coordinate: Point,
    start_coordinate: Schema.optionalKey(Point),
    text: Schema.optionalKey(Keys)
  }),
  /** Several combinations, separated by spaces, are pressed one after the other. */
  action("key", { text: Keys, repeat: Schema.optionalKey(Schema.Int) }),
  action("type", { text: Schema.String })
] as const

const actions_20250124 = [
  ...actions_20241022,
  action("triple_click", click),
  action("left_mouse_down", { coordinate: Schema.optionalKey(Point) }),
  action("left_mouse_up", { coordinate: Schema.optionalKey(Point) }),
  /** By so many notches of the wheel. */
  action("scroll", {
    ...click,
    scroll_direction: Schema.Literals(["up", "down", "left", "right"]),
    scroll_amount: Schema.Int
  }),
  action("hold_key", { text: Keys, duration: Seconds }),
  action("wait", { duration: Seconds })
] as const

/** A part of the screen, by its left, top, right and bottom. */
const Region = Schema.Tuple([Schema.Int, Schema.Int, Schema.Int, Schema.Int])

const Parameters_20241022 = Schema.Union(actions_20241022)
const Parameters_20250124 = Schema.Union(actions_20250124)
const Parameters_20251124 = Schema.Union([...actions_20250124, action("zoom", { region: Region })])

/** All that any version has. */
export type Parameters = typeof Parameters_20251124.Type

/** A picture, in base64. */
const Image = Schema.Struct({
  type: Schema.Literal("image"),
  mediaType: Schema.Literal("image/png"),
  data: Schema.String
})

const Text = Schema.Struct({ type: Schema.Literal("text"), text: Schema.String })

/** What an action gives: words, a picture, or both. */
export const Result = Schema.Union([Schema.String, Image, Schema.Array(Schema.Union([Text, Image]))])
export type Result = typeof Result.Type

export interface Options {
  /** The screen that the model is told of, in pixels. The handler must be told the same, and scales. */
  readonly displayWidth: number
  readonly displayHeight: number
  /** The number of the X display, if the model is to know. */
  readonly displayNumber?: number | undefined
  /** Which calls need approval; default: all. */
  readonly needsApproval?: Tool.NeedsApproval<typeof Parameters_20251124> | undefined
}

const common = {
  customName: "AnthropicComputerUse",
  providerName: "computer",
  requiresHandler: true,
  success: Result,
  failure: ComputerError
} as const

const args = {
  display_width_px: Schema.Int,
  display_height_px: Schema.Int,
  display_number: Schema.optionalKey(Schema.Int)
}

const computer_20241022 = Tool.providerDefined({
  ...common,
  id: "anthropic.computer_20241022",
  args: Schema.Struct(args),
  parameters: Parameters_20241022
})
const computer_20250124 = Tool.providerDefined({
  ...common,
  id: "anthropic.computer_20250124",
  args: Schema.Struct(args),
  parameters: Parameters_20250124
})
const computer_20251124 = Tool.providerDefined({
  ...common,
  id: "anthropic.computer_20251124",
  args: Schema.Struct({ ...args, enable_zoom: Schema.optionalKey(Schema.Boolean) }),
  parameters: Parameters_20251124
})

const argsOf = ({ displayHeight, displayNumber, displayWidth }: Options) => ({
  display_width_px: displayWidth,
  display_height_px: displayHeight,
  ...(displayNumber === undefined ? {} : { display_number: displayNumber })
})

// Upstream leaves `failureMode` among the arguments, which are what is sent.
const withApproval = <Tool extends object, Args extends object>(
  tool: Tool,
  args: Args,
  { needsApproval }: Options
) => Object.assign(tool, { args, needsApproval: needsApproval ?? true })

/** Version `computer_20241022`. */
export const ComputerUse_20241022 = (options: Options) =>
  withApproval(computer_20241022({ ...argsOf(options), failureMode: "return" }), argsOf(options), options)

/** Version `computer_20250124`: scrolls, holds keys, waits. */
export const ComputerUse_20250124 = (options: Options) =>
  withApproval(computer_20250124({ ...argsOf(options), failureMode: "return" }), argsOf(options), options)

/** Version `computer_20251124`, the current one: looks closer at a part of the screen, unless `zoom` is false. */
export const ComputerUse_20251124 = (options: Options & { readonly zoom?: boolean | undefined }) => {
  const args = { ...argsOf(options), enable_zoom: options.zoom ?? true }
  return withApproval(computer_20251124({ ...args, failureMode: "return" }), args, options)
}
