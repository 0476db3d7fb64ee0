import { spawn } from "node:child_process"
import { EventEmitter } from "node:events"
import { assert, describe, it } from "@effect/vitest"
import * as Output from "../../src/terminal/Output.ts"

const make = (
  stream: Partial<Output.Stream>,
  environment: Output.Environment = {},
  color: boolean | "auto" = "auto",
  columns?: number
) => Output.make({ write: () => true, ...stream }, { color, columns, environment })

describe("Output", () => {
  it("uses colours on a terminal only, unless the environment says otherwise", () => {
    const cases: ReadonlyArray<readonly [isTTY: boolean, environment: Output.Environment, color: boolean]> = [
      [true, {}, true],
      [false, {}, false],
      [true, { TERM: "xterm-256color" }, true],
      [true, { TERM: "dumb" }, false],
      [true, { NO_COLOR: "1" }, false],
      [true, { NO_COLOR: "0" }, false],
      [true, { NO_COLOR: "" }, true],
      [false, { FORCE_COLOR: "1" }, true],
      [false, { FORCE_COLOR: "true" }, true],
      [false, { FORCE_COLOR: "" }, false],
      [true, { FORCE_COLOR: "0" }, false],
      [true, { FORCE_COLOR: "false" }, false],
      [true, { FORCE_COLOR: "1", TERM: "dumb" }, true],
      [true, { FORCE_COLOR: "1", NO_COLOR: "1" }, true]
    ]
    for (const [isTTY, environment, color] of cases) {
      assert.strictEqual(make({ isTTY }, environment).color, color, JSON.stringify([isTTY, environment]))
    }
  })

  it("lets the option decide over colours", () => {
    assert.isTrue(make({ isTTY: false }, { NO_COLOR: "1" }, true).color)
    assert.isFalse(make({ isTTY: true }, { FORCE_COLOR: "1" }, false).color)
  })

  it("redraws on terminals that are not dumb", () => {
    assert.isTrue(make({ isTTY: true }, { NO_COLOR: "1" }).redraws)
    assert.isFalse(make({ isTTY: true }, { TERM: "dumb" }).redraws)
    assert.isFalse(make({}, { FORCE_COLOR: "1" }).redraws)
  })

  it("is as wide as the option, else the terminal at the time, else 100", () => {
    const stream = { write: () => true, columns: 64 }
    const output = Output.make(stream, { color: false, columns: undefined, environment: {} })
    assert.strictEqual(output.columns(), 64)
    stream.columns = 132
    assert.strictEqual(output.columns(), 132)
    assert.strictEqual(make({ columns: 64 }, {}, false, 50).columns(), 50)
    assert.strictEqual(make({}).columns(), 100)
    assert.strictEqual(make({ columns: 0 }).columns(), 100)
  })

  it("never throws, and leaves a stream alone that failed", () => {
    let writes = 0
    const output = make({
      write: () => {
        writes++
        throw new Error("disk full")
      }
    })
    output.write("a")
    output.write("b")
    assert.strictEqual(writes, 1)
  })

  it("leaves no rejection of a stream that writes later unhandled", async () => {
    let writes = 0
    const output = make({
      write: () => {
        writes++
        return Promise.reject(new Error("gone"))
      }
    })
    output.write("a")
    await new Promise((resolve) => setImmediate(resolve))
    output.write("b")
    assert.strictEqual(writes, 1)
  })

  it("takes the error event of its own failed write, and no other", () => {
    class Broken extends EventEmitter {
      writes = 0
      write(_text: string, done?: (error: Error) => void) {
        this.writes++
        done?.(new Error("EPIPE"))
        return false
      }
    }
    const stream = new Broken()
    const output = Output.make(stream, { color: false, columns: undefined, environment: {} })
    output.write("a")
    output.write("b")
    assert.strictEqual(stream.writes, 1)
    assert.isTrue(stream.emit("error", new Error("EPIPE")))
    assert.strictEqual(stream.listenerCount("error"), 0)
  })

  it("does not end a program whose standard error is closed", async () => {
    const program = `
      import * as Output from "./src/terminal/Output.ts"
      const output = Output.make(process.stderr, { color: false, columns: undefined, environment: {} })
      for await (const _ of process.stdin) {}
      for (let turn = 0; turn < 3; turn++) {
        output.write("x".repeat(100_000))
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      console.log("alive")
    `
    const child = spawn(process.execPath, ["--input-type=module", "--eval", program])
    child.stderr.destroy()
    child.stdin.end()
    let printed = ""
    for await (const chunk of child.stdout) printed += chunk
    assert.strictEqual(printed, "alive\n")
  })
})
