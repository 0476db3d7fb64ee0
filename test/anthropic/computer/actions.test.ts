/** Each action on a real screen: what the programs there are given, and what the model is given back. */
import * as fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as AnthropicTools from "../../../src/anthropic/AnthropicTools.ts"
import * as ComputerHandler from "../../../src/anthropic/computer/ComputerHandler.ts"
import type * as ComputerUse from "../../../src/anthropic/tools/ComputerUse.ts"
import * as RecordedSpans from "../../../src/testing/RecordedSpans.ts"
import { until } from "../../support/Until.ts"
import * as Desktop from "./Desktop.ts"

/** The real screen, and the half of it that the model is told of. */
const [WIDTH, HEIGHT] = [800, 600]
const told = { displayWidth: WIDTH / 2, displayHeight: HEIGHT / 2 }

const computer = (screen: Desktop.Screen, options: Partial<ComputerHandler.Options> = {}) =>
  ComputerHandler.make({ display: screen.display, ...told, ...options }).AnthropicComputerUse

const onScreen = <A, E>(use: (screen: Desktop.Screen) => Effect.Effect<A, E, Scope.Scope>) =>
  Effect.scoped(Effect.flatMap(Desktop.screen(WIDTH, HEIGHT), use))

const click = (button: number, at: string) => [`press ${button} ${at}`, `release ${button} ${at}`]
const times = (count: number, events: ReadonlyArray<string>) =>
  Array.from({ length: count }, () => events).flat()

const cases: ReadonlyArray<readonly [params: ComputerUse.Parameters, events: ReadonlyArray<string>]> = [
  [{ action: "left_click", coordinate: [100, 50] }, click(1, "201,101")],
  [{ action: "right_click", coordinate: [0, 0] }, click(3, "1,1")],
  [{ action: "middle_click", coordinate: [399, 299] }, click(2, "799,599")],
  [{ action: "double_click", coordinate: [100, 50] }, times(2, click(1, "201,101"))],
  [{ action: "triple_click", coordinate: [100, 50] }, times(3, click(1, "201,101"))],
  [
    { action: "left_click", coordinate: [100, 50], text: "ctrl+shift" },
    ["key Control_L", "key Shift_L", ...click(1, "201,101"), "keyup Shift_L", "keyup Control_L"]
  ],
  [
    { action: "left_click_drag", start_coordinate: [10, 10], coordinate: [20, 30] },
    ["press 1 21,21", "release 1 41,61"]
  ],
  [{ action: "left_mouse_down", coordinate: [5, 5] }, ["press 1 11,11"]],
  [
    { action: "scroll", coordinate: [10, 10], scroll_direction: "up", scroll_amount: 2 },
    times(2, click(4, "21,21"))
  ],
  [
    { action: "scroll", coordinate: [10, 10], scroll_direction: "down", scroll_amount: 3 },
    times(3, click(5, "21,21"))
  ],
  [{ action: "scroll", coordinate: [10, 10], scroll_direction: "left", scroll_amount: 1 }, click(6, "21,21")],
  [
    { action: "scroll", coordinate: [10, 10], scroll_direction: "right", scroll_amount: 1 },
    click(7, "21,21")
  ],
  [{ action: "key", text: "Return" }, ["key Return", "keyup Return"]],
  [{ action: "key", text: "Enter Page_Down" }, ["key Return", "keyup Return", "key Next", "keyup Next"]],
  [{ action: "key", text: "a", repeat: 3 }, times(3, ["key a", "keyup a"])],
  [{ action: "key", text: "ctrl+s" }, ["key Control_L", "key s", "keyup Control_L", "keyup s"]],
  [{ action: "key", text: "/" }, ["key slash", "keyup slash"]],
  [{ action: "hold_key", text: "a", duration: 0.05 }, ["key a", "keyup a"]]
]

describe("an action", () => {
  for (const [params, expected] of cases) {
    it.live(JSON.stringify(params), () =>
      onScreen((screen) =>
        Effect.gen(function* () {
          const given = yield* Desktop.events(screen, WIDTH, HEIGHT)
          assert.isString(yield* computer(screen)(params))
          yield* until("the events are there", () => given().length >= expected.length)
          // Keys let go are in an order of their own.
          const sorted = params.action === "key" || params.action === "left_click"
          const order = (events: ReadonlyArray<string>) => (sorted ? events.toSorted() : events)
          assert.deepStrictEqual(order(given()), order(expected))
        })
      )
    )
  }

  it.live("moves the mouse, and says where it is, on the screen that the model knows", () =>
    onScreen((screen) =>
      Effect.gen(function* () {
        const act = computer(screen)
        yield* act({ action: "mouse_move", coordinate: [123, 45] })
        assert.match(screen.run("xdotool", ["getmouselocation"]), /^x:247 y:91 /)
        assert.strictEqual(yield* act({ action: "cursor_position" }), "X=123,Y=45")
        yield* act({ action: "left_mouse_up" })
      })
    )
  )

  it.live("types text exactly, whatever it holds", () =>
    onScreen((screen) =>
      Effect.gen(function* () {
        const typed = yield* Desktop.terminal(screen)
        const act = computer(screen)
        yield* act({ action: "mouse_move", coordinate: [50, 50] })
        const text = "-n --help $HOME `ls` \"quoted\" 'single' \\back %s café ñ\tend"
        yield* act({ action: "type", text })
        yield* until("it is there", () => typed().length >= text.length)
        assert.strictEqual(typed(), text)
        yield* act({ action: "type", text: "\nnext" })
        yield* until("it is there", () => typed().endsWith("next"))
        assert.strictEqual(typed(), `${text}\rnext`)
      })
    )
  )
})

/** Width, height, and whether it is a PNG. */
const png = (result: ComputerUse.Result) => {
  if (typeof result !== "object" || !("data" in result)) return assert.fail("no picture")
  const bytes = Buffer.from(result.data, "base64")
  assert.strictEqual(bytes.subarray(0, 8).toString("latin1"), "\x89PNG\r\n\x1a\n")
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20), bytes }
}

/** The colours of a picture, as ImageMagick names them, most frequent first. */
const colours = (screen: Desktop.Screen, bytes: Buffer): string => {
  const file = `/tmp/toolspan-${process.pid}-${crypto.randomUUID()}.png`
  fs.writeFileSync(file, bytes)
  try {
    return screen.run("convert", [file, "-format", "%[pixel:p{5,5}] %[pixel:p{150,100}]", "info:"])
  } finally {
    fs.rmSync(file)
  }
}

describe("a picture", () => {
  it.live("of the screen is as large as the model is told, and shows what is there", () =>
    onScreen((screen) =>
      Effect.gen(function* () {
        screen.run("xsetroot", ["-solid", "#ff0000"])
        const { bytes, height, width } = png(yield* computer(screen)({ action: "screenshot" }))
        assert.deepStrictEqual([width, height], [WIDTH / 2, HEIGHT / 2])
        assert.match(colours(screen, bytes), /^(red|srgb\(255,0,0\)) (red|srgb\(255,0,0\))$/i)
      })
    )
  )

  it.live("of a part of it is closer", () =>
    onScreen((screen) =>
      Effect.gen(function* () {
        const act = computer(screen)
        const { height, width } = png(yield* act({ action: "zoom", region: [100, 100, 200, 150] }))
        assert.deepStrictEqual([width, height], [200, 100])
        const refused = yield* Effect.flip(act({ action: "zoom", region: [100, 100, 100, 150] }))
        assert.strictEqual(refused.reason, "BadAction")
      })
    )
  )

  it.live("comes with every other action if the options say so", () =>
    onScreen((screen) =>
      Effect.gen(function* () {
        const result = yield* computer(screen, { screenshotAfter: 10 })({
          action: "left_click",
          coordinate: [1, 1]
        })
        if (!Array.isArray(result)) return assert.fail("no list")
        assert.deepStrictEqual(result[0], { type: "text", text: "Clicked." })
        assert.strictEqual(png(result[1]).width, WIDTH / 2)
      })
    )
  )
})

describe("what cannot be done", () => {
  const refused: ReadonlyArray<readonly [params: ComputerUse.Parameters, message: string]> = [
    [
      { action: "left_click", coordinate: [400, 10] },
      "The coordinate (400, 10) is off the screen, which is 400 by 300"
    ],
    [{ action: "mouse_move", coordinate: [-1, 0] }, "The coordinate (-1, 0) is off the screen"],
    [{ action: "left_click_drag", coordinate: [1, 1], start_coordinate: [1, 300] }, "off the screen"],
    [{ action: "scroll", scroll_direction: "up", scroll_amount: 0 }, "scroll_amount is 0; give 1 to 100"],
    [{ action: "scroll", scroll_direction: "up", scroll_amount: 1000 }, "give 1 to 100"],
    [{ action: "key", text: "" }, "Give 1 to 100 keys"],
    [{ action: "key", text: "--window" }, "is no key"],
    [{ action: "key", text: "a;rm" }, "is no key"],
    [{ action: "key", text: "ctrl+" }, "is no key"],
    [{ action: "key", text: "NoSuchKey" }, 'There is no key "NoSuchKey" in X'],
    [{ action: "key", text: "a", repeat: 101 }, "repeat is 101"],
    [{ action: "left_click", text: "-x" }, "is no key"],
    [{ action: "hold_key", text: "a", duration: 101 }, "duration is 101; give 0 to 100 seconds"],
    [{ action: "wait", duration: -1 }, "duration is -1"],
    [{ action: "wait", duration: Number.NaN }, "duration is NaN"],
    [{ action: "type", text: "\u001b[2J" }, "no control characters"],
    [{ action: "type", text: "x".repeat(10_001) }, "at most 10000 characters"]
  ]
  it.live("is refused, says why, and leaves the screen alone", () =>
    onScreen((screen) =>
      Effect.gen(function* () {
        const given = yield* Desktop.events(screen, WIDTH, HEIGHT)
        const act = computer(screen)
        for (const [params, message] of refused) {
          const error = yield* Effect.flip(act(params))
          assert.strictEqual(error.reason, "BadAction", JSON.stringify(params))
          assert.include(error.message, message)
        }
        yield* act({ action: "key", text: "z" })
        yield* until("the key is there", () => given().length >= 2)
        assert.deepStrictEqual(given(), ["key z", "keyup z"])
      })
    )
  )

  it.live("has no display", () =>
    Effect.gen(function* () {
      const act = ComputerHandler.make({ display: ":12345", ...told }).AnthropicComputerUse
      for (const params of [
        { action: "screenshot" },
        { action: "left_click" },
        { action: "type", text: "x" }
      ] as const) {
        const error = yield* Effect.flip(act(params))
        assert.deepStrictEqual(
          [error.reason, error.message],
          ["Unavailable", 'The X display ":12345" cannot be opened: is its server running?']
        )
      }
    })
  )

  it("has options that make no sense", () => {
    assert.throws(
      () => ComputerHandler.make({ display: ":1", displayWidth: 0, displayHeight: 1 }),
      'ComputerHandler: option "displayWidth" is 0'
    )
  })
})

describe("keys and buttons that are held", () => {
  it.live("are let go when the action is interrupted", () =>
    onScreen((screen) =>
      Effect.gen(function* () {
        const given = yield* Desktop.events(screen, WIDTH, HEIGHT)
        const holding = yield* Effect.forkChild(
          computer(screen)({ action: "hold_key", text: "shift", duration: 60 })
        )
        yield* until("it is held", () => given().includes("key Shift_L"))
        yield* Fiber.interrupt(holding)
        yield* until("it is let go", () => given().includes("keyup Shift_L"))
      })
    )
  )

  it.live("belong to one action at a time", () =>
    onScreen((screen) =>
      Effect.gen(function* () {
        const given = yield* Desktop.events(screen, WIDTH, HEIGHT)
        const act = computer(screen)
        yield* Effect.all(
          [act({ action: "hold_key", text: "shift", duration: 0.2 }), act({ action: "key", text: "a" })],
          { concurrency: "unbounded" }
        )
        yield* until("all is there", () => given().length >= 4)
        assert.deepStrictEqual(given(), ["key Shift_L", "keyup Shift_L", "key a", "keyup a"])
      })
    )
  )
})

describe("the definitions", () => {
  const options = { displayWidth: 1024, displayHeight: 768, displayNumber: 1 }
  const args = { display_width_px: 1024, display_height_px: 768, display_number: 1 }
  const older = ["screenshot", "cursor_position"]
  for (const [version, tool, sent, has, lacks] of [
    ["20241022", AnthropicTools.ComputerUse_20241022(options), args, older, ["wait", "zoom", "triple_click"]],
    ["20250124", AnthropicTools.ComputerUse_20250124(options), args, [...older, "left_mouse_up"], ["zoom"]],
    ["20251124", AnthropicTools.ComputerUse_20251124(options), { ...args, enable_zoom: true }, older, []]
  ] as const) {
    it(`${version} sends its screen, asks for every action, and takes exactly its actions`, () => {
      assert.deepStrictEqual(
        [tool.id, tool.name, tool.providerName],
        [`anthropic.computer_${version}`, "AnthropicComputerUse", "computer"]
      )
      assert.deepStrictEqual(tool.args as unknown, sent)
      assert.strictEqual(tool.needsApproval, true)
      assert.isString(JSON.stringify(Tool.getJsonSchema(tool)))
      const decode = Schema.decodeUnknownSync(
        Schema.toCodecJson(tool.parametersSchema as Schema.Codec<unknown>)
      )
      for (const action of has) assert.deepStrictEqual(decode({ action }), { action })
      for (const action of lacks) assert.throws(() => decode({ action, duration: 1, region: [0, 0, 1, 1] }))
      assert.deepStrictEqual(decode({ action: "left_click", coordinate: [1, 2] }), {
        action: "left_click",
        coordinate: [1, 2]
      })
      assert.throws(() => decode({ action: "mouse_move" }))
      assert.throws(() => decode({ action: "left_click", coordinate: [1] }))
    })
  }
})

describe("the spans of an action", () => {
  it.live("are those of the programs, and hold nothing that was typed", () =>
    onScreen((screen) =>
      Effect.gen(function* () {
        const toolkit = Toolkit.make(AnthropicTools.ComputerUse_20251124(told))
        const recorded = yield* RecordedSpans.make
        yield* Effect.gen(function* () {
          const { handle } = yield* toolkit
          const params = { action: "type", text: "hunter2" } as const
          yield* Stream.runDrain(yield* handle("AnthropicComputerUse", params, "call_1"))
        }).pipe(
          Effect.withSpan("execute_tool AnthropicComputerUse"),
          Effect.withTracer(recorded.tracer),
          Effect.provide(toolkit.toLayer({ AnthropicComputerUse: computer(screen) }))
        )
        RecordedSpans.expectTrees(recorded, [
          {
            name: "execute_tool AnthropicComputerUse",
            children: [
              {
                name: "xdotool",
                kind: "client",
                attributes: { "process.executable.name": "xdotool", "process.exit.code": 0 }
              }
            ]
          }
        ])
        assert.notInclude(
          JSON.stringify(recorded.spans.map(({ attributes }) => Object.entries(attributes))),
          "hunter2"
        )
      })
    )
  )
})
