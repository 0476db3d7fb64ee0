/** Other processes that change the directory at the same time, and a writer that is killed. */
import { type ChildProcess, spawn } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Program from "../../support/Program.ts"
import * as Files from "./Files.ts"

/** A process that runs this text in the world, and is killed with the scope. */
const meanwhile = (world: Files.World, source: string) =>
  Effect.acquireRelease(
    Effect.callback<ChildProcess>((resume) => {
      const child = spawn(
        process.execPath,
        [
          "--input-type=module",
          "-e",
          `import * as fs from "node:fs"\nprocess.stdout.write("ready")\n${source}`
        ],
        { cwd: world.directory, stdio: ["ignore", "pipe", "inherit"] }
      )
      child.stdout.once("data", () => resume(Effect.succeed(child)))
    }),
    (child) =>
      Effect.callback<void>((resume) => {
        if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
        child.once("exit", () => resume(Effect.void))
        child.kill("SIGKILL")
      })
  )

const MILLIS = 1500

describe("a directory that is swapped for a link all the time", () => {
  it.live("lets nothing out, and nothing in", () =>
    Effect.gen(function* () {
      const world = yield* Files.world
      // A directory of the same names outside: what a way out would reach.
      const target = path.join(world.outside, "memories-other")
      fs.mkdirSync(path.join(world.directory, "real"))
      fs.writeFileSync(path.join(world.directory, "real/secret.txt"), "mine")
      fs.symlinkSync(target, path.join(world.directory, "link"))
      const before = Files.snapshot(world)
      yield* meanwhile(
        world,
        `const place = (name) => {
          for (;;) {
            // A command may have made a directory of that name just then.
            try { return fs.renameSync(name, "at") } catch { fs.rmSync("at", { recursive: true, force: true }) }
          }
        }
        place("real")
        for (;;) {
          fs.renameSync("at", "real"); place("link")
          fs.renameSync("at", "link"); place("real")
        }`
      )
      const run = Files.memory(world.directory)
      const until = Date.now() + MILLIS
      let [through, refused, number] = [0, 0, 0]
      while (Date.now() < until) {
        number++
        for (const params of [
          { command: "view", path: "/memories/at/secret.txt" },
          { command: "view", path: "/memories/at" },
          { command: "create", path: `/memories/at/made-${number}.txt`, file_text: "made" },
          { command: "str_replace", path: "/memories/at/secret.txt", old_str: "mine", new_str: "mine" },
          { command: "delete", path: `/memories/at/made-${number}.txt` }
        ] as const) {
          const { failed, text } = yield* run(params)
          assert.notInclude(text, Files.CANARY)
          if (failed === undefined) through++
          else refused++
        }
      }
      assert.deepStrictEqual(Files.snapshot(world), before)
      // Otherwise nothing was tried.
      assert.isAbove(through, 10)
      assert.isAbove(refused, 10)
    }).pipe(Effect.scoped)
  )

  it.live("lets no file be swapped for a link, either", () =>
    Effect.gen(function* () {
      const world = yield* Files.world
      fs.writeFileSync(path.join(world.directory, "real"), "mine")
      fs.symlinkSync(path.join(world.outside, "secret.txt"), path.join(world.directory, "link"))
      const before = Files.snapshot(world)
      yield* meanwhile(
        world,
        `for (;;) {
          try {
            fs.writeFileSync("real", "mine"); fs.renameSync("real", "at")
            fs.symlinkSync("../secret.txt", "link-2"); fs.renameSync("link-2", "at")
          } catch {}
        }`
      )
      const run = Files.memory(world.directory)
      const until = Date.now() + MILLIS
      let tried = 0
      while (Date.now() < until) {
        tried++
        for (const params of [
          { command: "view", path: "/memories/at" },
          { command: "str_replace", path: "/memories/at", old_str: "mine", new_str: "mine" },
          { command: "insert", path: "/memories/at", insert_line: 0, insert_text: "x" }
        ] as const) {
          assert.notInclude((yield* run(params)).text, Files.CANARY)
        }
      }
      assert.deepStrictEqual(Files.snapshot(world), before)
      assert.isAbove(tried, 10)
    }).pipe(Effect.scoped)
  )
})

describe("a file that another process writes", () => {
  it.live("does not lose what that one wrote: the model is told to look again", () =>
    Effect.gen(function* () {
      const world = yield* Files.world
      const file = path.join(world.directory, "log.md")
      fs.writeFileSync(file, "start\n")
      // Appends, and says how much.
      yield* meanwhile(
        world,
        `let n = 0
        const until = Date.now() + ${MILLIS}
        while (Date.now() < until) { fs.appendFileSync("log.md", "line " + n++ + "\\n"); for (const at = Date.now() + 3; Date.now() < at;); }
        fs.writeFileSync("count", String(n))`
      )
      const run = Files.memory(world.directory)
      const seen = new Map<string | undefined, number>()
      while (!fs.existsSync(path.join(world.directory, "count"))) {
        const { failed } = yield* run({
          command: "insert",
          path: "/memories/log.md",
          insert_line: 0,
          insert_text: "noted"
        })
        seen.set(failed, (seen.get(failed) ?? 0) + 1)
      }
      assert.deepStrictEqual(
        [...seen.keys()].filter((failed) => failed !== undefined && failed !== "Changed"),
        []
      )
      const lines = fs.readFileSync(file, "utf8").trim().split("\n")
      assert.strictEqual(lines.filter((text) => text === "noted").length, seen.get(undefined) ?? 0)
    }).pipe(Effect.scoped)
  )
})

describe("a writer that is killed", () => {
  it.live("leaves the old text or the new one, never a part", () =>
    Effect.gen(function* () {
      const world = yield* Files.world
      const file = path.join(world.directory, "big.txt")
      const whole = (letter: string) => letter.repeat(500_000)
      fs.writeFileSync(file, whole("a"))
      const seen = new Set<string>()
      for (let round = 0; round < 6; round++) {
        const child = spawn(
          process.execPath,
          [
            "--conditions=toolspan-source",
            `${Program.root}test/anthropic/directory/programs/writer.ts`,
            world.directory
          ],
          { stdio: ["ignore", "pipe", "inherit"] }
        )
        yield* Effect.callback<void>((resume) => {
          child.stdout.once("data", () => resume(Effect.void))
        })
        yield* Effect.sleep(20 + round * 17)
        yield* Effect.callback<void>((resume) => {
          child.once("exit", () => resume(Effect.void))
          child.kill("SIGKILL")
        })
        const text = fs.readFileSync(file, "utf8")
        const [letter = ""] = text
        assert.strictEqual(text, whole(letter))
        seen.add(letter)
      }
      // It did write.
      assert.isAbove(seen.size + Number(!seen.has("a")), 1)
    }).pipe(Effect.scoped)
  )
})
