/**
 * The shipped configuration files, with nothing but addresses and folders changed.
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { fileURLToPath } from "node:url"

/** The top of the repository. */
export const root = fileURLToPath(new URL("../../", import.meta.url))

export const path = (file: string): string => Path.join(root, file)

export const read = (file: string): string => Fs.readFileSync(path(file), "utf8")

/** What stands in a file, and what shall stand there instead. */
export type Changes = ReadonlyArray<readonly [from: string, to: string]>

/** Fails when there is nothing to change: then the file has moved on, and the test would run something else than it says. */
export const changed = (text: string, changes: Changes, file: string): string =>
  changes.reduce((changing, [from, to]) => {
    if (!changing.includes(from)) throw new Error(`${file} does not contain ${from}, which the tests replace`)
    return changing.replaceAll(from, to)
  }, text)

/** Copies the files of a folder, not of folders within, whose name ends so; with changes where there is something to change. */
export const copyFolder = (folder: string, suffix: string, to: string, changes: Changes): void => {
  if (!Fs.existsSync(path(folder))) return
  Fs.mkdirSync(to, { recursive: true })
  for (const file of Fs.readdirSync(path(folder)).filter((name) => name.endsWith(suffix))) {
    const text = changes.reduce(
      (changing, [from, into]) => changing.replaceAll(from, into),
      read(`${folder}/${file}`)
    )
    Fs.writeFileSync(Path.join(to, file), text)
  }
}
