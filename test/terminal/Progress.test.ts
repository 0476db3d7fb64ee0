import { afterEach, assert, beforeEach, describe, it, vi } from "@effect/vitest"
import * as Output from "../../src/terminal/Output.ts"
import { INTERVAL, Progress } from "../../src/terminal/Progress.ts"
import { Screen } from "./Screen.ts"
import * as Spans from "./Spans.ts"

const call = (name: string, callId: string, start = 0) =>
  Spans.start(`execute_tool ${name}`, {
    start,
    attributes: { "gen_ai.tool.name": name, "gen_ai.tool.call.id": callId }
  })

const setup = (options: { redraw: boolean; columns?: number; height?: number }) => {
  const screen = new Screen(options.columns, options.height)
  const output = Output.make(screen, { color: false, columns: undefined, environment: {} })
  const running = new Set<ReturnType<typeof call>>()
  const time = { milliseconds: 0 }
  const progress = new Progress({
    output,
    redraw: options.redraw,
    now: () => BigInt(time.milliseconds) * Spans.MILLI,
    running
  })
  const at = (milliseconds: number) => {
    time.milliseconds = milliseconds
    progress.tick()
    return screen.text
  }
  return { at, progress, running, screen }
}

describe("Progress on a terminal", () => {
  it("shows each running call with its id and the time that it has taken", () => {
    const { at, running } = setup({ redraw: true })
    running.add(call("read_file", "call_1")).add(call("search_text", "call_2", 1000))
    assert.strictEqual(at(2500), "\n⠋ read_file call_1  2.5 s\n⠋ search_text call_2  1.5 s")
    assert.strictEqual(at(2600), "\n⠙ read_file call_1  2.6 s\n⠙ search_text call_2  1.6 s")
  })

  it("redraws in place, with no trace of calls that have ended", () => {
    const { at, running, screen } = setup({ redraw: true })
    const first = call("read_file", "call_1")
    running.add(first).add(call("search_text", "call_2"))
    at(100)
    running.delete(first)
    assert.strictEqual(at(200), "\n⠙ search_text call_2  200 ms")
    running.clear()
    assert.strictEqual(at(300), "")
    assert.strictEqual(screen.text, "")
  })

  it("lets the program go on printing where it was, in the middle of a line too", () => {
    const { at, running, screen } = setup({ redraw: true })
    running.add(call("read_file", "call_1"))
    screen.write("Reading")
    assert.strictEqual(at(100), "Reading\n⠋ read_file call_1  100 ms")
    screen.write(" the file\n")
    assert.strictEqual(at(200), "Reading the file\n\n⠙ read_file call_1  200 ms")
    screen.write("Still reading\n")
    running.clear()
    assert.strictEqual(at(300), "Reading the file\nStill reading")
  })

  it("keeps what the program printed when the screen scrolls", () => {
    const { at, running, screen } = setup({ redraw: true, height: 4 })
    running.add(call("a", "1")).add(call("b", "2"))
    for (const line of ["one", "two", "three", "four"]) screen.write(`${line}\n`)
    screen.write("five")
    at(100)
    assert.strictEqual(at(200), "one\ntwo\nthree\nfour\nfive\n⠙ a 1  200 ms\n⠙ b 2  200 ms")
    running.clear()
    assert.strictEqual(at(300), "one\ntwo\nthree\nfour\nfive")
  })

  it("shows the oldest of very many calls and counts the rest", () => {
    const { at, running } = setup({ redraw: true })
    for (let id = 1; id <= 12; id++) running.add(call("t", `call_${id}`))
    const lines = at(100).split("\n")
    assert.lengthOf(lines, 7)
    assert.include(lines[1], "call_1 ")
    assert.strictEqual(lines[6], "+ 7 more running")
  })

  it("never wraps, and neutralises what it shows", () => {
    const { at, running } = setup({ redraw: true, columns: 20 })
    running.add(call("日本語のツール名がとても長い", "\u001b[2J"))
    running.add(call("\u001b[2J", "call_1"))
    assert.strictEqual(at(100), "\n⠋ 日本語のツール名…\n⠋ ␛[2J call_1  100…")
  })

  it("wipes only what it drew", () => {
    const { at, progress, running, screen } = setup({ redraw: true })
    const write = vi.spyOn(screen, "write")
    progress.clear()
    assert.lengthOf(write.mock.calls, 0)
    running.add(call("t", "call_1"))
    at(100)
    progress.clear()
    assert.strictEqual(screen.text, "")
  })
})

describe("Progress elsewhere", () => {
  it("says once each that a call has run for 2, 10 and 60 seconds", () => {
    const { at, running, screen } = setup({ redraw: false })
    running.add(call("read_file", "call_1"))
    assert.strictEqual(at(1900), "")
    for (const milliseconds of [2000, 2100, 9900, 10_000, 10_100, 59_900, 60_000, 3_600_000]) at(milliseconds)
    assert.strictEqual(
      screen.text,
      "… read_file call_1 running 2.0 s\n… read_file call_1 running 10.0 s\n… read_file call_1 running 1 min"
    )
  })

  it("says so once for several at once", () => {
    const { at, running } = setup({ redraw: false })
    running.add(call("read_file", "call_1"))
    assert.strictEqual(at(15_000), "… read_file call_1 running 15.0 s")
  })
})

describe("Progress in time", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it("looks in intervals while calls run, and stops with the last", () => {
    const { progress, running, screen } = setup({ redraw: true })
    running.add(call("t", "call_1"))
    progress.started()
    progress.started()
    assert.strictEqual(vi.getTimerCount(), 1)
    assert.strictEqual(screen.text, "")
    vi.advanceTimersByTime(INTERVAL)
    assert.include(screen.text, "t call_1")
    running.clear()
    vi.advanceTimersByTime(INTERVAL)
    assert.strictEqual(screen.text, "")
    assert.strictEqual(vi.getTimerCount(), 0)
  })

  it("wipes and stops when closed", () => {
    const { progress, running, screen } = setup({ redraw: true })
    running.add(call("t", "call_1"))
    progress.started()
    vi.advanceTimersByTime(INTERVAL)
    progress.close()
    assert.strictEqual(screen.text, "")
    assert.strictEqual(vi.getTimerCount(), 0)
  })
})
