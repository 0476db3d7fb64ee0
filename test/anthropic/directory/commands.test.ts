/** What the commands do to files, and what the model is told. */
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as AnthropicTools from "../../../src/anthropic/AnthropicTools.ts"
import * as TextEditorHandler from "../../../src/anthropic/directory/TextEditorHandler.ts"
import type * as TextEditor from "../../../src/anthropic/tools/TextEditor.ts"
import * as ContentPolicy from "../../../src/content/ContentPolicy.ts"
import * as RecordedSpans from "../../../src/testing/RecordedSpans.ts"
import * as Files from "./Files.ts"

const inWorld = <A, E>(use: (world: Files.World) => Effect.Effect<A, E>) =>
  Effect.scoped(Effect.flatMap(Files.world, use))

const put = (directory: string, file: string, text: string | Uint8Array) => {
  fs.mkdirSync(path.dirname(path.join(directory, file)), { recursive: true })
  fs.writeFileSync(path.join(directory, file), text)
}

const text = (directory: string, file: string) => fs.readFileSync(path.join(directory, file), "utf8")

describe("the memory tool", () => {
  it.effect("shows directories two levels deep, without what is hidden", () =>
    inWorld(({ directory }) =>
      Effect.gen(function* () {
        const done = Files.done(directory)
        assert.strictEqual(
          yield* done({ command: "view", path: "/memories" }),
          "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:\n0B\t/memories"
        )
        put(directory, "notes.md", "x".repeat(1536))
        put(directory, "deep/er/est.md", "1")
        put(directory, "deep/file.md", "12345")
        put(directory, ".hidden", "1")
        put(directory, "node_modules/a.md", "1")
        fs.symlinkSync("notes.md", path.join(directory, "link.md"))
        assert.strictEqual(
          yield* done({ command: "view", path: "/memories/" }),
          [
            "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:",
            "1.5K\t/memories",
            "-\t/memories/deep/",
            "-\t/memories/deep/er/",
            "5B\t/memories/deep/file.md",
            "1.5K\t/memories/notes.md"
          ].join("\n")
        )
        assert.include(
          yield* done({ command: "view", path: "/memories/deep" }),
          "\n1B\t/memories/deep/er/est.md"
        )
      })
    )
  )

  it.effect("shows files by numbered lines, all or some", () =>
    inWorld(({ directory }) =>
      Effect.gen(function* () {
        const [done, run] = [Files.done(directory), Files.memory(directory)]
        put(directory, "a.txt", "one\r\ntwo\n\nfour")
        const view = (first: number, last: number) =>
          run({ command: "view", path: "/memories/a.txt", view_range: [first, last] })
        assert.strictEqual(
          yield* done({ command: "view", path: "/memories/a.txt" }),
          "Here's the content of /memories/a.txt with line numbers:\n     1\tone\n     2\ttwo\n     3\t\n     4\tfour"
        )
        assert.match((yield* view(2, 3)).text, /numbers:\n {5}2\ttwo\n {5}3\t$/)
        assert.match((yield* view(4, -1)).text, /numbers:\n {5}4\tfour$/)
        for (const [first, last] of [
          [0, 1],
          [2, 1],
          [1, 5],
          [5, -1],
          [-1, -1]
        ] as const) {
          const refused = yield* view(first, last)
          assert.strictEqual(refused.failed, "NoMatch")
          assert.include(refused.text, `Invalid \`view_range\` parameter: [${first}, ${last}]`)
        }
      })
    )
  )

  it.effect("cuts what is too long to show, and says where to go on", () =>
    inWorld(({ directory }) =>
      Effect.gen(function* () {
        put(directory, "long.txt", Array.from({ length: 1000 }, (_, index) => `line ${index + 1}`).join("\n"))
        const shown = yield* Files.done(directory, { maxCharacters: 200 })({
          command: "view",
          path: "/memories/long.txt"
        })
        assert.match(shown, /\[… cut in line 14 of 1000: view the rest by view_range …\]$/)
      })
    )
  )

  it.effect("creates files, empty ones too, with the directories above, and never over another", () =>
    inWorld(({ directory }) =>
      Effect.gen(function* () {
        const run = Files.memory(directory)
        const made = yield* run({ command: "create", path: "/memories/a/b/c.txt", file_text: "" })
        assert.deepStrictEqual(made, {
          text: "File created successfully at: /memories/a/b/c.txt",
          failed: undefined
        })
        assert.strictEqual(text(directory, "a/b/c.txt"), "")
        const again = yield* run({ command: "create", path: "/memories/a/b/c.txt", file_text: "new" })
        assert.deepStrictEqual(again, { text: "File /memories/a/b/c.txt already exists", failed: "Exists" })
        assert.strictEqual(
          (yield* run({ command: "create", path: "/memories/a", file_text: "" })).failed,
          "Exists"
        )
        assert.strictEqual(
          (yield* run({ command: "create", path: "/memories/a/b/c.txt/d", file_text: "" })).failed,
          "BadPath"
        )
        assert.strictEqual(text(directory, "a/b/c.txt"), "")
        // Nothing of the writing is left.
        assert.deepStrictEqual(fs.readdirSync(path.join(directory, "a/b")), ["c.txt"])
      })
    )
  )

  it.effect("replaces the one place that matches, whatever stands in the texts", () =>
    inWorld(({ directory }) =>
      Effect.gen(function* () {
        const run = Files.memory(directory)
        const replace = (old_str: string, new_str: string) =>
          run({ command: "str_replace", path: "/memories/a.txt", old_str, new_str })
        put(directory, "a.txt", "1\n2\n3\nred\nred blue\n6\n7\n")
        fs.chmodSync(path.join(directory, "a.txt"), 0o640)
        assert.strictEqual(
          (yield* replace("red blue", "$& $1 `green`")).text,
          "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n     3\t3\n     4\tred\n     5\t$& $1 `green`\n     6\t6\n     7\t7"
        )
        assert.strictEqual(text(directory, "a.txt"), "1\n2\n3\nred\n$& $1 `green`\n6\n7\n")
        assert.strictEqual(fs.statSync(path.join(directory, "a.txt")).mode & 0o777, 0o640)
        assert.strictEqual((yield* replace("3\nred\n", "")).failed, undefined)
        assert.strictEqual(text(directory, "a.txt"), "1\n2\n$& $1 `green`\n6\n7\n")
        assert.strictEqual(
          (yield* replace("purple", "x")).text,
          "No replacement was performed, old_str `purple` did not appear verbatim in /memories/a.txt."
        )
        put(directory, "a.txt", "aa\nb\naa\naaa")
        assert.strictEqual(
          (yield* replace("aa", "x")).text,
          "No replacement was performed. Multiple occurrences of old_str `aa` in lines: 1, 3, 4, 4. Please ensure it is unique"
        )
        assert.strictEqual((yield* replace("", "x")).failed, "NoMatch")
        assert.strictEqual(text(directory, "a.txt"), "aa\nb\naa\naaa")
      })
    )
  )

  it.effect("inserts after a line, the first and the last included", () =>
    inWorld(({ directory }) =>
      Effect.gen(function* () {
        const run = Files.memory(directory)
        const cases: ReadonlyArray<
          readonly [before: string, line: number, put: string, after: string | undefined]
        > = [
          ["a\nb\n", 0, "x", "x\na\nb\n"],
          ["a\nb\n", 1, "x\n", "a\nx\nb\n"],
          ["a\nb\n", 2, "x\ny", "a\nb\nx\ny\n"],
          ["a\nb", 2, "x", "a\nb\nx"],
          ["a\nb", 1, "x", "a\nx\nb"],
          ["", 0, "x", "x"],
          ["\n", 1, "x", "\nx\n"],
          ["a\r\nb\r\n", 1, "x\ny", "a\r\nx\r\ny\r\nb\r\n"],
          ["\ufeffa\n", 1, "x", "\ufeffa\nx\n"],
          ["a\nb\n", 3, "x", undefined],
          ["a\nb\n", -1, "x", undefined],
          ["", 1, "x", undefined]
        ]
        for (const [before, insert_line, insert_text, after] of cases) {
          put(directory, "a.txt", before)
          const { failed, text: said } = yield* run({
            command: "insert",
            path: "/memories/a.txt",
            insert_line,
            insert_text
          })
          assert.strictEqual(text(directory, "a.txt"), after ?? before)
          if (after === undefined) {
            assert.strictEqual(failed, "NoMatch")
            assert.match(said, /^Invalid `insert_line` parameter: -?\d+\. It should be .*: \[0, \d\]$/)
          } else assert.isUndefined(failed, said)
        }
      })
    )
  )

  it.effect("keeps line ends, and takes what the model wrote with others", () =>
    inWorld(({ directory }) =>
      Effect.gen(function* () {
        const done = Files.done(directory)
        put(directory, "a.txt", "a\r\nb\r\nc\r\n")
        yield* done({ command: "str_replace", path: "/memories/a.txt", old_str: "a\nb", new_str: "A\nB\nB" })
        assert.strictEqual(text(directory, "a.txt"), "A\r\nB\r\nB\r\nc\r\n")
        put(directory, "mixed.txt", "a\r\nb\nc")
        yield* done({ command: "str_replace", path: "/memories/mixed.txt", old_str: "b\n", new_str: "x\n" })
        assert.strictEqual(text(directory, "mixed.txt"), "a\r\nx\nc")
      })
    )
  )

  it.effect("deletes and renames files and directories, but neither the root nor over another", () =>
    inWorld(({ directory }) =>
      Effect.gen(function* () {
        const run = Files.memory(directory)
        const rename = (old_path: string, new_path: string) => run({ command: "rename", old_path, new_path })
        put(directory, "a/b.txt", "b")
        put(directory, "c.txt", "c")
        assert.strictEqual(
          (yield* rename("/memories/a/b.txt", "/memories/d/e/f.txt")).text,
          "Successfully renamed /memories/a/b.txt to /memories/d/e/f.txt"
        )
        assert.strictEqual(text(directory, "d/e/f.txt"), "b")
        assert.deepStrictEqual(fs.readdirSync(path.join(directory, "a")), [])
        assert.deepStrictEqual(yield* rename("/memories/c.txt", "/memories/d"), {
          text: "The destination /memories/d already exists",
          failed: "Exists"
        })
        assert.strictEqual((yield* rename("/memories/d", "/memories/d/e/x")).failed, "BadPath")
        assert.strictEqual((yield* rename("/memories/d", "/memories/moved")).failed, undefined)
        assert.strictEqual(text(directory, "moved/e/f.txt"), "b")
        assert.strictEqual((yield* rename("/memories", "/memories/x")).failed, "BadPath")
        assert.strictEqual((yield* rename("/memories/x", "/memories")).failed, "NotFound")
        assert.strictEqual((yield* rename("/memories/c.txt", "/memories")).failed, "Exists")
        const remove = (path: string) => run({ command: "delete", path })
        assert.strictEqual((yield* remove("/memories/moved")).text, "Successfully deleted /memories/moved")
        assert.strictEqual((yield* remove("/memories/c.txt")).failed, undefined)
        assert.deepStrictEqual(yield* remove("/memories"), {
          text: "Cannot delete the /memories directory itself",
          failed: "BadPath"
        })
        assert.deepStrictEqual(fs.readdirSync(directory), ["a"])
        for (const params of [
          { command: "view", path: "/memories/none" },
          { command: "delete", path: "/memories/none" },
          { command: "str_replace", path: "/memories/none", old_str: "a", new_str: "b" }
        ] as const) {
          assert.deepStrictEqual(yield* run(params), {
            text: "The path /memories/none does not exist. Please provide a valid path.",
            failed: "NotFound"
          })
        }
      })
    )
  )

  it.effect("refuses what is no text, or too large, and changes nothing", () =>
    inWorld(({ directory }) =>
      Effect.gen(function* () {
        const run = Files.memory(directory, { maxFileBytes: 100 })
        put(directory, "latin1.txt", Buffer.from("caf\xe9", "latin1"))
        put(directory, "nul.txt", "a\0b")
        put(directory, "large.txt", "x".repeat(101))
        put(directory, "full.txt", "x".repeat(100))
        const view = (file: string) => run({ command: "view", path: `/memories/${file}` })
        assert.strictEqual((yield* view("latin1.txt")).failed, "NotText")
        assert.strictEqual((yield* view("nul.txt")).failed, "NotText")
        assert.strictEqual((yield* view("large.txt")).failed, "TooLarge")
        assert.strictEqual((yield* view("full.txt")).failed, undefined)
        const grown = yield* run({
          command: "insert",
          path: "/memories/full.txt",
          insert_line: 0,
          insert_text: "y"
        })
        assert.strictEqual(grown.failed, "TooLarge")
        assert.strictEqual(text(directory, "full.txt"), "x".repeat(100))
        const half = yield* run({ command: "create", path: "/memories/half.txt", file_text: "\ud800" })
        assert.strictEqual(half.failed, "NotText")
        assert.isFalse(fs.existsSync(path.join(directory, "half.txt")))
        assert.strictEqual(
          (yield* run({ command: "str_replace", path: "/memories", old_str: "a", new_str: "b" })).failed,
          "NotText"
        )
      })
    )
  )

  it("refuses a directory that is not there", () => {
    assert.throws(
      () => Files.memory("/no/such/directory")({ command: "view", path: "/memories" }),
      /no such directory/
    )
  })
})

describe("the text editor", () => {
  const editor = (directory: string) => {
    const handlers = TextEditorHandler.make({ directory, root: "/repo" })
    return (params: TextEditor.Parameters) =>
      Effect.match(handlers.AnthropicTextEditor(params), {
        onSuccess: (text) => text,
        onFailure: ({ message, reason }) => `${reason}: ${message}`
      })
  }

  it.effect("takes paths below its root, and relative ones", () =>
    inWorld(({ directory }) =>
      Effect.gen(function* () {
        put(directory, "src/a.ts", "export {}\n")
        const run = editor(directory)
        for (const file of ["/repo/src/a.ts", "src/a.ts", "./src//a.ts"]) {
          assert.match(
            yield* run({ command: "view", path: file }),
            /^Here's the content of \/repo\/src\/a\.ts with/
          )
        }
        assert.match(yield* run({ command: "view", path: "/src/a.ts" }), /^BadPath: .* is not below \/repo/)
        const own = TextEditorHandler.make({ directory })
        assert.include(
          yield* own.AnthropicTextEditor({ command: "view", path: `${directory}/src/a.ts` }),
          `${directory}/src/a.ts`
        )
      })
    )
  )

  it.effect("removes text without new_str, inserts by either name of the text, and undoes edit by edit", () =>
    inWorld(({ directory }) =>
      Effect.gen(function* () {
        const run = editor(directory)
        const undo = run({ command: "undo_edit", path: "a.txt" })
        assert.strictEqual(
          yield* run({ command: "undo_edit", path: "a.txt" }),
          "NotFound: No edit history found for /repo/a.txt."
        )
        yield* run({ command: "create", path: "a.txt", file_text: "a\nb\n" })
        assert.match(
          yield* run({ command: "str_replace", path: "a.txt", old_str: "b\n" }),
          /^The file \/repo\/a\.txt has been edited\. Here is the snippet/
        )
        yield* run({ command: "insert", path: "a.txt", insert_line: 1, insert_text: "c" })
        yield* run({ command: "insert", path: "a.txt", insert_line: 2, new_str: "d" })
        assert.strictEqual(text(directory, "a.txt"), "a\nc\nd\n")
        assert.strictEqual(yield* undo, "Last edit to /repo/a.txt undone successfully.")
        yield* undo
        yield* undo
        assert.strictEqual(text(directory, "a.txt"), "a\nb\n")
        put(directory, "a.txt", "somebody else's")
        assert.match(yield* undo, /^Changed: .* nothing was undone/)
        put(directory, "a.txt", "a\nb\n")
        yield* undo
        assert.isFalse(fs.existsSync(path.join(directory, "a.txt")))
      })
    )
  )
})

describe("the definitions", () => {
  const tools = [
    ["memory_20250818", "memory", AnthropicTools.Memory_20250818()],
    ["text_editor_20241022", "str_replace_editor", AnthropicTools.TextEditor_20241022()],
    ["text_editor_20250124", "str_replace_editor", AnthropicTools.TextEditor_20250124()],
    ["text_editor_20250429", "str_replace_based_edit_tool", AnthropicTools.TextEditor_20250429()],
    [
      "text_editor_20250728",
      "str_replace_based_edit_tool",
      AnthropicTools.TextEditor_20250728({ maxCharacters: 500 })
    ]
  ] as const
  for (const [version, wireName, tool] of tools) {
    it(`${version} has its names, asks before changes, and takes exactly its commands`, () => {
      assert.deepStrictEqual([tool.id, tool.providerName], [`anthropic.${version}`, wireName])
      assert.deepStrictEqual(tool.args, version === "text_editor_20250728" ? { max_characters: 500 } : {})
      const needs = tool.needsApproval as (params: { readonly command: string }) => boolean
      assert.deepStrictEqual(
        ["view", "create", "str_replace", "insert", "delete", "rename", "undo_edit"].map((command) =>
          needs({ command })
        ),
        [false, true, true, true, true, true, true]
      )
      assert.isString(JSON.stringify(Tool.getJsonSchema(tool)))
      const decode = Schema.decodeUnknownSync(
        Schema.toCodecJson(tool.parametersSchema as Schema.Codec<unknown>)
      )
      assert.deepStrictEqual(decode({ command: "create", path: "/memories/a", file_text: "" }), {
        command: "create",
        path: "/memories/a",
        file_text: ""
      })
      assert.deepStrictEqual(decode({ command: "view", path: "a" }), { command: "view", path: "a" })
      for (const wrong of [
        { command: "create", path: "a" },
        { command: "view", path: "a", view_range: [1] },
        { command: "view", path: "a", view_range: null },
        { command: "insert", path: "a", insert_line: 1.5, insert_text: "" },
        { command: "insert", path: "a", insert_line: 1 },
        { command: "format", path: "a" }
      ]) {
        assert.throws(() => decode(wrong), undefined, undefined, JSON.stringify(wrong))
      }
      const undo = () => decode({ command: "undo_edit", path: "a" })
      if (wireName === "str_replace_editor") assert.doesNotThrow(undo)
      else assert.throws(undo)
    })
  }
})

describe("the span of a command", () => {
  const toolkit = Toolkit.make(AnthropicTools.TextEditor_20250728())
  const traced = (directory: string, policy: ContentPolicy.Options) =>
    Effect.gen(function* () {
      const recorded = yield* RecordedSpans.make
      yield* Effect.gen(function* () {
        const { handle } = yield* toolkit
        yield* Stream.runDrain(
          yield* handle("AnthropicTextEditor", { command: "view", path: "a.txt" }, "call_1")
        )
      }).pipe(
        Effect.withSpan("execute_tool AnthropicTextEditor"),
        Effect.withTracer(recorded.tracer),
        Effect.provideService(ContentPolicy.ContentPolicy, ContentPolicy.make(policy)),
        Effect.provide(toolkit.toLayer(TextEditorHandler.make({ directory })))
      )
      return recorded
    })

  it.effect("names the file as the policy allows", () =>
    inWorld(({ directory }) =>
      Effect.gen(function* () {
        put(directory, "a.txt", "a")
        RecordedSpans.expectTrees(yield* traced(directory, {}), [
          {
            name: "execute_tool AnthropicTextEditor",
            children: [{ name: "view file", attributes: { "file.path": "a.txt" } }]
          }
        ])
        const [silent] = (yield* traced(directory, { arguments: "off" })).byName("view file")
        assert.isDefined(silent)
        assert.notInclude(JSON.stringify(Object.entries(silent?.attributes ?? {})), "a.txt")
      })
    )
  )
})
