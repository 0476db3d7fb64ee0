/** What is kept of a command's output, and which variables a program gets. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { CappedOutput } from "../../../src/anthropic/bash/CappedOutput.ts"
import * as Environment from "../../../src/anthropic/process/Environment.ts"

const MARK = /\n\[… (\d+) bytes of output are left out here …\]\n/

describe("CappedOutput", () => {
  it("keeps what fits exactly, in whatever pieces it comes", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.array(fc.nat(50)), (text, cuts) => {
        const bytes = Buffer.from(text)
        const output = new CappedOutput(bytes.length + 2)
        let at = 0
        for (const cut of cuts) {
          output.push(bytes.subarray(at, at + cut))
          at += cut
        }
        output.push(bytes.subarray(at))
        assert.strictEqual(output.toText(), text.replaceAll("\0", "\u2400"))
        assert.strictEqual(output.total, bytes.length)
      })
    )
  })

  it("keeps the beginning and the end of what does not, cut between characters, and counts the rest", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("a", "é", "€", "😀", "\n"), minLength: 1, maxLength: 300 }),
        fc.integer({ min: 16, max: 200 }),
        fc.array(fc.nat(70)),
        (text, max, cuts) => {
          const bytes = Buffer.from(text)
          const output = new CappedOutput(max)
          let at = 0
          for (const cut of cuts) {
            output.push(bytes.subarray(at, at + cut))
            at += cut
          }
          output.push(bytes.subarray(at))
          const shown = output.toText()
          assert.notInclude(shown, "\ufffd")
          if (bytes.length <= max) return assert.strictEqual(shown, text)
          const mark = MARK.exec(shown)
          if (mark === null) return assert.fail(`no mark in ${shown}`)
          const head = shown.slice(0, mark.index)
          const tail = shown.slice(mark.index + mark[0].length)
          assert.isTrue(text.startsWith(head) && text.endsWith(tail))
          assert.strictEqual(
            Buffer.byteLength(head) + Buffer.byteLength(tail) + Number(mark[1]),
            bytes.length
          )
          assert.isAtMost(Buffer.byteLength(head) + Buffer.byteLength(tail), max)
          // No more is lost than the characters at the cut.
          assert.isAtLeast(Buffer.byteLength(head) + Buffer.byteLength(tail), max - 6)
        }
      )
    )
  })

  it("takes any bytes", () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 100 })),
        fc.integer({ min: 2, max: 64 }),
        (chunks, max) => {
          const output = new CappedOutput(max)
          for (const chunk of chunks) output.push(chunk)
          assert.isTrue(output.toText().isWellFormed())
          assert.notInclude(output.toText(), "\0")
        }
      )
    )
  })
})

describe("the environment of programs", () => {
  it("has what is named exactly or by a prefix, and what is set, which wins", () => {
    const source = { PATH: "/bin", LC_ALL: "C", LC_TIME: "de", SECRET: "s", LCX: "x", EMPTY: undefined }
    assert.deepStrictEqual(
      Environment.make(["PATH", "LC_*", "EMPTY", "MISSING"], { LC_ALL: "en", A: "1" }, source),
      {
        PATH: "/bin",
        LC_ALL: "en",
        LC_TIME: "de",
        A: "1"
      }
    )
  })

  it("has no keys of this process by default", () => {
    const source = { PATH: "/bin", ANTHROPIC_API_KEY: "k", AWS_SECRET_ACCESS_KEY: "k", GITHUB_TOKEN: "k" }
    assert.deepStrictEqual(Environment.make(Environment.INHERITED, {}, source), { PATH: "/bin" })
  })
})
