/** Paths, edits and lines as properties. */
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { FileError } from "../../../src/anthropic/directory/FileError.ts"
import * as ModelPath from "../../../src/anthropic/directory/ModelPath.ts"
import * as TextLines from "../../../src/anthropic/directory/TextLines.ts"
import * as Files from "./Files.ts"

const names = fc.oneof(
  fc.constantFrom("..", ".", "", "a", "b", "~", "C:", "%2e%2e", "\\", "memories", "..\\..", "\0", " ", "etc"),
  fc.string({ maxLength: 8 }),
  fc.string({ unit: "binary", maxLength: 8 })
)
const paths = fc
  .tuple(
    fc.constantFrom("/memories", "/memories/", "/", "", "//", "/memories/../"),
    fc.array(names, { maxLength: 6 })
  )
  .map(([start, parts]) => start + parts.join("/"))

describe("a path", () => {
  it("is below the root, or refused, whatever is written", () => {
    fc.assert(
      fc.property(paths, fc.boolean(), (text, windows) => {
        try {
          const { names, shown } = ModelPath.parse(text, "/memories", windows)
          const resolved = path.posix.resolve("/memories", ...names)
          assert.isTrue(resolved === "/memories" || resolved.startsWith("/memories/"))
          assert.strictEqual(path.posix.join("/root", ...names), ["/root", ...names].join("/"))
          assert.strictEqual(shown, ["/memories", ...names].join("/"))
          // What it is shown as is read as the same.
          assert.deepStrictEqual(ModelPath.parse(shown, "/memories", windows).names, names)
        } catch (error) {
          assert.instanceOf(error, FileError)
        }
      }),
      { numRuns: 5000 }
    )
  })

  it.live("leaves what is outside alone, with any command", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const world = yield* Files.world
        const before = Files.snapshot(world)
        const run = Files.memory(world.directory)
        yield* Effect.promise(() =>
          fc.assert(
            fc.asyncProperty(
              fc.constantFrom("create", "view", "str_replace", "insert", "delete", "rename" as const),
              paths,
              paths,
              async (command, at, other) => {
                const params =
                  command === "rename"
                    ? { command, old_path: at, new_path: other }
                    : {
                        command,
                        path: at,
                        file_text: "x",
                        old_str: "x",
                        new_str: "y",
                        insert_line: 0,
                        insert_text: "z"
                      }
                const { text } = await Effect.runPromise(run(params as Parameters<typeof run>[0]))
                assert.notInclude(text, Files.CANARY)
                assert.deepStrictEqual(Files.snapshot(world), before)
              }
            ),
            { numRuns: 500 }
          )
        )
      })
    )
  )
})

const line = fc.string({ unit: fc.constantFrom("a", "b", "é", "😀", " ", "$", "\\", "`"), maxLength: 6 })
const text = fc
  .tuple(fc.array(line, { maxLength: 8 }), fc.constantFrom("\n", "\r\n"), fc.boolean())
  .map(([lines, end, last]) => lines.join(end) + (last && lines.length > 0 ? end : ""))

describe("an edit", () => {
  it("replaces the one match, and nothing else", () => {
    fc.assert(
      fc.property(text, line, line, (whole, old, put) => {
        const count = old === "" ? 0 : occurrences(whole, old)
        try {
          const { text } = TextLines.replace(whole, old, put, "/a")
          assert.strictEqual(count, 1)
          assert.strictEqual(text, whole.split(old).join(put))
        } catch (error) {
          assert.instanceOf(error, FileError)
          assert.notStrictEqual(count, 1)
        }
      })
    )
  })

  it("inserts lines after a line, and leaves all others as they are", () => {
    fc.assert(
      fc.property(text, fc.integer({ min: -1, max: 9 }), line, (whole, at, put) => {
        const lines = whole === "" ? [] : whole.replace(/\r?\n$/, "").split(/\r?\n/)
        try {
          const result = TextLines.insert(whole, at, put).text
          assert.isTrue(at >= 0 && at <= lines.length)
          const after =
            result === "" && lines.length === 0 ? [put] : result.replace(/\r?\n$/, "").split(/\r?\n/)
          const expected = [...lines.slice(0, at), put, ...lines.slice(at)]
          // A line at the very end that is empty is the end.
          if (put !== "" || at < lines.length) assert.deepStrictEqual(after, expected)
          assert.strictEqual(
            result.includes("\r\n"),
            whole.includes("\r\n"),
            "the line ends are those of the file"
          )
        } catch (error) {
          assert.instanceOf(error, FileError)
          assert.isTrue(at < 0 || at > lines.length)
        }
      })
    )
  })

  it("is shown by the lines that view shows there", () => {
    fc.assert(
      fc.property(text, fc.nat(8), line, (whole, at, put) => {
        const lines = whole === "" ? 0 : whole.replace(/\n$/, "").split("\n").length
        fc.pre(at <= lines)
        const { snippet, text } = TextLines.insert(whole, at, put)
        assert.include(TextLines.view(text, undefined, 1e6), snippet)
      })
    )
  })
})

const occurrences = (whole: string, part: string): number => {
  let count = 0
  for (let at = whole.indexOf(part); at >= 0; at = whole.indexOf(part, at + 1)) count++
  return count
}

describe("edits that come at once", () => {
  it.live("all land", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const world = yield* Files.world
        const file = path.join(world.directory, "list.md")
        fs.writeFileSync(file, "")
        // Two handlers on one directory, as two agents would have.
        const [one, two] = [Files.done(world.directory), Files.done(world.directory)]
        yield* Effect.forEach(
          Array.from({ length: 60 }, (_, index) => index),
          (index) =>
            (index % 2 === 0 ? one : two)({
              command: "insert",
              path: "/memories/list.md",
              insert_line: 0,
              insert_text: `item ${index}`
            }),
          { concurrency: "unbounded" }
        )
        const lines = fs.readFileSync(file, "utf8").trim().split("\n")
        assert.deepStrictEqual(
          new Set(lines),
          new Set(Array.from({ length: 60 }, (_, index) => `item ${index}`))
        )
      })
    )
  )
})
