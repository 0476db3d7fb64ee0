/**
 * The paths that a model writes, read strictly: below one root, and nothing that any system could take for a way out of it.
 *
 * What is refused is refused on every system: `..`, even where it would stay inside, backslashes, drives, encoded separators, control
 * characters, halves of surrogate pairs, a home (`~`). On Windows also what its file systems take for something else: devices (`NUL`),
 * streams (`a:b`), names that end in a dot or a space.
 */
import * as FileError from "./FileError.ts"

/** A path that was read. */
export interface ModelPath {
  /** As the model is told: the root, and the names below it. */
  readonly shown: string
  /** Names below the root; none for the root itself. */
  readonly names: ReadonlyArray<string>
}

const MAX_PATH_BYTES = 4096
const MAX_NAME_BYTES = 255
const MAX_DEPTH = 64

/** Reads a path below `root`, which is how the model knows the directory: `/memories`. Throws a `FileError`. */
export const parse = (text: string, root: string, windows = process.platform === "win32"): ModelPath => {
  const shownText = JSON.stringify(text.slice(0, 200))
  const refuse = (why: string): never =>
    FileError.fail("BadPath", `The path ${shownText} ${why}. Give a path below ${root}`)
  if (text === "") refuse("is empty")
  if (!text.isWellFormed()) refuse("holds half of a surrogate pair")
  if (/\p{Cc}/u.test(text)) refuse("holds control characters")
  if (text.includes("\\")) refuse("holds a backslash: names are separated by /")
  if (/%(2e|2f|5c|00)/i.test(text)) refuse("is encoded")
  if (/^[a-z]:/i.test(text)) refuse("starts with a drive")
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) refuse("is a URL")
  if (text.startsWith("~")) refuse("starts with a home directory")
  if (text.startsWith("//")) refuse("starts with two slashes")
  if (Buffer.byteLength(text) > MAX_PATH_BYTES) refuse(`is longer than ${MAX_PATH_BYTES} bytes`)
  const names = withoutRoot(namesOf(text), text.startsWith("/"), root) ?? refuse(`is not below ${root}`)
  if (names.length > MAX_DEPTH) refuse(`is deeper than ${MAX_DEPTH} directories`)
  for (const name of names) {
    if (name === "..") refuse("holds ..")
    if (Buffer.byteLength(name) > MAX_NAME_BYTES) refuse(`holds a name longer than ${MAX_NAME_BYTES} bytes`)
    if (windows && WINDOWS.test(name)) refuse("holds a name that Windows takes for something else")
  }
  return { shown: [root === "/" ? "" : root, ...names].join("/") || "/", names }
}

const WINDOWS = /[<>:"|?*]|[. ]$|^(con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$)(\..*)?$/i

const namesOf = (path: string): ReadonlyArray<string> =>
  path.split("/").filter((name) => name !== "" && name !== ".")

/** The names below the root: of an absolute path, those after the root's; of a relative one, all. */
const withoutRoot = (
  names: ReadonlyArray<string>,
  isAbsolute: boolean,
  root: string
): ReadonlyArray<string> | undefined => {
  if (!isAbsolute) return names
  const above = namesOf(root)
  return above.every((name, index) => names[index] === name) ? names.slice(above.length) : undefined
}
