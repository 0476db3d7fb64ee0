/** Ways out of the directory, each tried with every command: nothing outside is read, written, moved or removed. */
import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as ModelPath from "../../../src/anthropic/directory/ModelPath.ts"
import type * as Memory from "../../../src/anthropic/tools/Memory.ts"
import * as Files from "./Files.ts"

interface Escape {
  readonly path: (world: Files.World) => string
  /** What stands in the directory for it. */
  readonly prepare?: (world: Files.World) => void
}

const plain = (...paths: ReadonlyArray<string>): ReadonlyArray<readonly [string, Escape]> =>
  paths.map((text) => [
    JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text),
    { path: () => text }
  ])

const linked = (
  what: string,
  file: string,
  target: (world: Files.World) => string
): readonly [string, Escape] => [
  what,
  {
    path: () => `/memories/${file}`,
    prepare: (world) => {
      const [link = ""] = file.split("/")
      fs.symlinkSync(target(world), path.join(world.directory, link))
    }
  }
]

const escapes: ReadonlyArray<readonly [string, Escape]> = [
  // Up.
  ...plain(
    "/memories/../secret.txt",
    "/memories/..",
    "/memories/../",
    "/memories/./../secret.txt",
    "/memories//../secret.txt",
    "/memories/a/../../secret.txt",
    "/memories/../memories/../secret.txt",
    "/memories/../../../../../../../../../etc/passwd",
    "..",
    "../secret.txt",
    "../memories-other/secret.txt",
    "a/../../secret.txt",
    "./../secret.txt",
    "/../secret.txt",
    "/memories/../memories",
    "/memories/.. /secret.txt".replace(" ", ""),
    "/memories/.//..//secret.txt"
  ),
  // Elsewhere.
  ...plain(
    "/secret.txt",
    "/",
    "//",
    "//memories/secret.txt",
    "//etc/passwd",
    "/etc/passwd",
    "/memoriesX/secret.txt",
    "/memories.txt",
    "/memories-other/secret.txt",
    "/Memories/secret.txt",
    "/memories\u0000/secret.txt",
    "/proc/self/root/etc/passwd",
    "/proc/self/fd/0",
    "/dev/stdin",
    "file:///etc/passwd",
    "~/secret.txt",
    "~root/.profile",
    ""
  ),
  ["the directory's own path", { path: ({ directory }) => `${directory}/../secret.txt` }],
  ["the path of a file outside", { path: ({ outside }) => `${outside}/secret.txt` }],
  // Encoded, or of another system.
  ...plain(
    "/memories/%2e%2e/secret.txt",
    "/memories/%2E%2E/secret.txt",
    "/memories/..%2fsecret.txt",
    "/memories/%2e%2e%2fsecret.txt",
    "/memories/..%5csecret.txt",
    "/memories/%252e%252e/secret.txt%2f",
    "/memories/..%00/secret.txt",
    "/memories/..\\secret.txt",
    "/memories\\..\\secret.txt",
    "..\\secret.txt",
    "\\\\server\\share\\secret.txt",
    "\\\\?\\C:\\secret.txt",
    "C:\\Windows\\win.ini",
    "C:/Windows/win.ini",
    "c:secret.txt"
  ),
  // Characters.
  ...plain(
    "/memories/a\0.txt",
    "/memories/\0../secret.txt",
    "/memories/../secret.txt\0.md",
    "/memories/a\n../secret.txt",
    "/memories/\u001b[2J",
    "/memories/\ud800.txt",
    "/memories/\udc00\ud800/..",
    `/memories/${"a".repeat(256)}`,
    `/memories/${"é".repeat(128)}`,
    `/memories/${"a/".repeat(2048)}b`,
    `/memories/${"d/".repeat(100)}b`
  ),
  // Links.
  linked("a link to a file outside", "link", () => "../secret.txt"),
  linked("a link by an absolute path", "link", ({ outside }) => `${outside}/secret.txt`),
  linked("a link to the directory above", "link/secret.txt", () => ".."),
  linked("a link to a directory outside", "link/secret.txt", ({ outside }) => `${outside}/memories-other`),
  linked("a link to nothing yet, outside", "link", () => "../made.txt"),
  linked("a link to a directory that is not there", "link/made.txt", () => "../made"),
  linked("a link to itself", "link", () => "link"),
  linked("a link to itself as a directory", "link/a", () => "link"),
  linked("a link to the root of the system", "link/etc/hostname", () => "/"),
  linked("a link by /proc", "link/secret.txt", ({ outside }) => `/proc/self/root${outside}`),
  [
    "a link to a link",
    {
      path: () => "/memories/second/secret.txt",
      prepare: ({ directory }) => {
        fs.symlinkSync("..", path.join(directory, "first"))
        fs.symlinkSync("first", path.join(directory, "second"))
      }
    }
  ],
  [
    "a link deep in the directory",
    {
      path: () => "/memories/a/b/link/secret.txt",
      prepare: ({ directory }) => {
        fs.mkdirSync(path.join(directory, "a/b"), { recursive: true })
        fs.symlinkSync("../../..", path.join(directory, "a/b/link"))
      }
    }
  ],
  // What is no file.
  [
    "a pipe, which would wait for ever",
    {
      path: () => "/memories/pipe",
      prepare: ({ directory }) => void execFileSync("mkfifo", [path.join(directory, "pipe")])
    }
  ],
  [
    "a file taken for a directory",
    {
      path: () => "/memories/file/../../secret.txt",
      prepare: ({ directory }) => fs.writeFileSync(path.join(directory, "file"), "")
    }
  ]
]

/** Every command, with this path wherever one goes. */
const commands = (at: string): ReadonlyArray<Memory.Parameters> => [
  { command: "view", path: at },
  { command: "view", path: at, view_range: [1, 1] },
  { command: "create", path: at, file_text: "escaped" },
  { command: "create", path: `${at}/made.txt`, file_text: "escaped" },
  { command: "str_replace", path: at, old_str: Files.CANARY, new_str: "escaped" },
  { command: "insert", path: at, insert_line: 0, insert_text: "escaped" },
  { command: "rename", old_path: at, new_path: "/memories/taken.txt" },
  { command: "rename", old_path: "/memories/mine.txt", new_path: at },
  { command: "rename", old_path: "/memories/mine.txt", new_path: `${at}/made.txt` },
  { command: "delete", path: at }
]

describe("no way leads out of the directory", () => {
  it("of at least sixty", () => assert.isAtLeast(escapes.length, 60))

  for (const [what, { path: pathOf, prepare }] of escapes) {
    it.live(what, () =>
      Effect.gen(function* () {
        for (const index of commands("").keys()) {
          yield* Effect.scoped(
            Effect.gen(function* () {
              const world = yield* Files.world
              fs.writeFileSync(path.join(world.directory, "mine.txt"), "mine")
              prepare?.(world)
              const before = Files.snapshot(world)
              const [params] = commands(pathOf(world)).slice(index)
              if (params === undefined) return
              const { failed, text } = yield* Files.memory(world.directory)(params)
              assert.deepStrictEqual(Files.snapshot(world), before)
              assert.notInclude(text, Files.CANARY)
              // Nor is it told where the directory is.
              if (!pathOf(world).includes(world.outside)) assert.notInclude(text, world.outside)
              const taken = path.join(world.directory, "taken.txt")
              if (fs.existsSync(taken)) assert.strictEqual(fs.readFileSync(taken, "utf8"), "")
              // A link and a pipe may be deleted: they are in the directory. Everything else is refused.
              if (params.command !== "delete") assert.isDefined(failed, `${JSON.stringify(params)}: ${text}`)
            })
          )
        }
      })
    )
  }

  it.live("deletes a directory without following the links in it", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const world = yield* Files.world
        fs.mkdirSync(path.join(world.directory, "a/b"), { recursive: true })
        fs.symlinkSync("../../..", path.join(world.directory, "a/b/up"))
        fs.symlinkSync(`${world.outside}/secret.txt`, path.join(world.directory, "a/file"))
        const before = Files.snapshot(world)
        yield* Files.done(world.directory)({ command: "delete", path: "/memories/a" })
        assert.deepStrictEqual(Files.snapshot(world), before)
        assert.deepStrictEqual(fs.readdirSync(world.directory), [])
      })
    )
  )

  it.live("replaces a hard link, and not the file that it shares", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const world = yield* Files.world
        fs.writeFileSync(path.join(world.outside, "shared.txt"), "shared")
        fs.linkSync(path.join(world.outside, "shared.txt"), path.join(world.directory, "mine.txt"))
        yield* Files.done(world.directory)({
          command: "str_replace",
          path: "/memories/mine.txt",
          old_str: "shared",
          new_str: "mine"
        })
        assert.strictEqual(fs.readFileSync(path.join(world.outside, "shared.txt"), "utf8"), "shared")
        assert.strictEqual(fs.readFileSync(path.join(world.directory, "mine.txt"), "utf8"), "mine")
      })
    )
  )
})

describe("on Windows", () => {
  const parse = (name: string, windows: boolean) => {
    try {
      return ModelPath.parse(`/memories/${name}`, "/memories", windows).names.join("/")
    } catch {
      return "refused"
    }
  }
  for (const name of [
    ...["CON", "con", "nul", "NUL.txt", "aux.c", "com1", "LPT9.md", "conin$"],
    ...["a.txt:stream", "a::$DATA", "dot.", "dots...", "space ", "a<b", "a|b", "a?", "a*", 'a"b']
  ]) {
    it(`${JSON.stringify(name)} is refused, and a name elsewhere`, () => {
      assert.strictEqual(parse(name, true), "refused")
      assert.strictEqual(parse(name, false), name)
    })
  }
})
