/**
 * What the installed `effect` says about `effect/ai`: the runnable examples in its documentation comments (fenced
 * blocks marked `import.meta.vitest`), and its guides (whole programs).
 */
import * as fs from "node:fs"
import { createRequire } from "node:module"
import * as path from "node:path"
import * as Program from "./Program.ts"

export interface DocExample {
  /** File and line, as in `Toolkit.ts:39`. */
  readonly name: string
  readonly program: Program.Program
}

const root = path.dirname(createRequire(import.meta.url).resolve("effect/package.json"))
const directory = path.join(root, "src/ai")

/** The guide of this file name. */
export const readGuide = (file: string): Program.Program => {
  const guide = path.join(root, "ai-docs/src/71_ai", file)
  return Program.compile(fs.readFileSync(guide, "utf8"), guide, 1)
}

/** All examples, in the order of files and lines. */
export const read = (): ReadonlyArray<DocExample> =>
  fs
    .readdirSync(directory)
    .filter((file) => file.endsWith(".ts"))
    .sort()
    .flatMap((file) => {
      const text = fs.readFileSync(path.join(directory, file), "utf8")
      return Array.from(text.matchAll(/^ *\* ```ts import\.meta\.vitest\n(.*?)^ *\* ```$/gms), (match) => {
        const line = text.slice(0, match.index).split("\n").length
        const code = (match[1] ?? "").replaceAll(/^ *\* ?/gm, "")
        return {
          name: `${file}:${line}`,
          program: Program.compile(code, path.join(directory, file), line + 1)
        }
      })
    })
