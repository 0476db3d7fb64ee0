/** A directory for a model's files, with other files around it that nobody may read or change. */
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import * as Effect from "effect/Effect"
import * as MemoryHandler from "../../../src/anthropic/directory/MemoryHandler.ts"
import type * as Memory from "../../../src/anthropic/tools/Memory.ts"

/** What stands in every file outside. */
export const CANARY = "canary-7f3a"

export interface World {
  /** Holds the directory, and the files outside. */
  readonly outside: string
  /** What the model may see. */
  readonly directory: string
}

/** Files of this scope. */
export const world = Effect.acquireRelease(
  Effect.sync((): World => {
    const outside = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "toolspan-test-")))
    const directory = path.join(outside, "memories")
    fs.mkdirSync(directory)
    for (const file of ["secret.txt", "memories.txt", "memories-other/secret.txt", "etc/passwd", "%2e%2e"]) {
      fs.mkdirSync(path.dirname(path.join(outside, file)), { recursive: true })
      fs.writeFileSync(path.join(outside, file), CANARY)
    }
    return { outside, directory }
  }),
  ({ outside }) => Effect.sync(() => fs.rmSync(outside, { recursive: true, force: true }))
)

/** All that is outside of the directory: files with their text, links with where they lead. */
export const snapshot = ({ directory, outside }: World): Readonly<Record<string, string>> => {
  const found: Record<string, string> = {}
  const look = (at: string): void => {
    for (const name of fs.readdirSync(at).sort()) {
      const file = path.join(at, name)
      if (file === directory) continue
      const stat = fs.lstatSync(file)
      if (stat.isDirectory()) {
        found[file] = "directory"
        look(file)
      } else found[file] = stat.isSymbolicLink() ? fs.readlinkSync(file) : fs.readFileSync(file, "utf8")
    }
  }
  look(outside)
  return found
}

/** Carries out a command of the memory tool: what the model reads, and whether that is a failure. */
export const memory =
  (directory: string, options: Partial<MemoryHandler.Options> = {}) =>
  (params: Memory.Parameters) =>
    Effect.match(MemoryHandler.make({ directory, ...options }).AnthropicMemory(params), {
      onSuccess: (text) => ({ text, failed: undefined }),
      onFailure: ({ message, reason }) => ({ text: message, failed: reason })
    })

/** The same, for commands that succeed. */
export const done = (directory: string, options: Partial<MemoryHandler.Options> = {}) => {
  const run = memory(directory, options)
  return (params: Memory.Parameters) =>
    Effect.map(run(params), ({ failed, text }) => {
      if (failed !== undefined) throw new Error(`${failed}: ${text}`)
      return text
    })
}
