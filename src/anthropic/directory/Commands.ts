/**
 * The commands of the memory tool and of the text editor on a {@link Directory}, and what the model is told of each.
 *
 * The words are Anthropic's, where it documents any: models know them.
 */
import * as Effect from "effect/Effect"
import type * as ContentPolicy from "../../content/ContentPolicy.ts"
import * as ContentAttribute from "../process/ContentAttribute.ts"
import type { Directory, Listed } from "./Directory.ts"
import * as FileError from "./FileError.ts"
import type * as ModelPath from "./ModelPath.ts"
import * as TextLines from "./TextLines.ts"

/** What carries out commands. */
export interface Context {
  readonly directory: Directory
  /** The tool's own name, for the content policy. */
  readonly toolName: string
  /** How an edited file is called. */
  readonly editedFile: (shown: string) => string
  /** How much of a file is shown at once. */
  readonly maxCharacters: number
  /** Is told of each edit. */
  readonly onEdit: (edit: Edit) => void
  readonly content: ContentPolicy.Options | undefined
}

/** Path of the file or directory, as the model knows it. Content: only when the policy allows. */
const ATTR_FILE_PATH = "file.path"

/** One command as one span, named for the tool's kind and the command. */
const command = (
  { content, directory, toolName }: Context,
  name: string,
  path: string,
  act: () => Promise<string>
): Effect.Effect<string, FileError.FileError> =>
  Effect.andThen(
    ContentAttribute.annotate(ATTR_FILE_PATH, toolName, path, content),
    directory.command(act)
  ).pipe(Effect.withSpan(name))

export const view = (
  context: Context,
  path: string,
  range: readonly [first: number, last: number] | undefined
): Effect.Effect<string, FileError.FileError> =>
  command(context, "view file", path, async () => {
    const { directory, maxCharacters } = context
    const at = directory.parse(path)
    if ((await directory.kind(at)) === "file") {
      const { text } = await directory.read(at)
      return `Here's the content of ${at.shown} with line numbers:\n${TextLines.view(text, range, maxCharacters)}`
    }
    const { listed, more } = await directory.list(at)
    return [
      `Here're the files and directories up to 2 levels deep in ${at.shown}, excluding hidden items and node_modules:`,
      `${humanSize(listed.reduce((sum, { bytes, isDirectory }) => sum + (isDirectory ? 0 : bytes), 0))}\t${at.shown}`,
      ...listed.map((entry) => line(at, entry)),
      ...(more ? [`[… and more than are shown here: view a directory below …]`] : [])
    ].join("\n")
  })

const line = ({ shown }: ModelPath.ModelPath, { bytes, isDirectory, names }: Listed): string =>
  `${isDirectory ? "-" : humanSize(bytes)}\t${shown === "/" ? "" : shown}/${names.join("/")}${isDirectory ? "/" : ""}`

const humanSize = (bytes: number): string => {
  if (bytes < 1024) return `${bytes}B`
  const [size, unit] = bytes < 1024 * 1024 ? [bytes / 1024, "K"] : [bytes / 1024 / 1024, "M"]
  return `${size.toFixed(1).replace(/\.0$/, "")}${unit}`
}

export const create = (
  context: Context,
  path: string,
  text: string
): Effect.Effect<string, FileError.FileError> =>
  command(context, "create file", path, async () => {
    const at = context.directory.parse(path)
    await context.directory.create(at, text)
    context.onEdit({ shown: at.shown, before: undefined, after: text })
    return `File created successfully at: ${at.shown}`
  })

const edit = (
  context: Context,
  name: string,
  path: string,
  change: (text: string, at: ModelPath.ModelPath) => TextLines.Edited
): Effect.Effect<string, FileError.FileError> =>
  command(context, name, path, async () => {
    const { directory, editedFile, onEdit } = context
    const at = directory.parse(path)
    const read = await directory.read(at)
    const { snippet, text } = change(read.text, at)
    await directory.replace(at, read, text)
    onEdit({ shown: at.shown, before: read.text, after: text })
    return `${editedFile(at.shown)} Here is the snippet showing the change (with line numbers):\n${snippet}`
  })

export const replace = (
  context: Context,
  path: string,
  oldText: string,
  newText: string
): Effect.Effect<string, FileError.FileError> =>
  edit(context, "replace text", path, (text, { shown }) => TextLines.replace(text, oldText, newText, shown))

export const insert = (
  context: Context,
  path: string,
  afterLine: number,
  inserted: string
): Effect.Effect<string, FileError.FileError> =>
  edit(context, "insert text", path, (text) => TextLines.insert(text, afterLine, inserted))

export const remove = (context: Context, path: string): Effect.Effect<string, FileError.FileError> =>
  command(context, "delete file", path, async () => {
    const at = context.directory.parse(path)
    await context.directory.remove(at)
    return `Successfully deleted ${at.shown}`
  })

export const rename = (
  context: Context,
  from: string,
  to: string
): Effect.Effect<string, FileError.FileError> =>
  command(context, "rename file", from, async () => {
    const { directory } = context
    const [before, after] = [directory.parse(from), directory.parse(to)]
    await directory.rename(before, after)
    return `Successfully renamed ${before.shown} to ${after.shown}`
  })

/** An edit that was made: the text before, undefined if there was no file, and after. */
export interface Edit {
  readonly shown: string
  readonly before: string | undefined
  readonly after: string
}

/** Takes back the last of these edits of a file, if it is still as that left it. */
export const undo = (
  context: Context,
  path: string,
  edits: Array<Edit>
): Effect.Effect<string, FileError.FileError> =>
  command(context, "undo edit", path, async () => {
    const { directory } = context
    const at = directory.parse(path)
    const index = edits.findLastIndex(({ shown }) => shown === at.shown)
    const edit = edits[index]
    if (edit === undefined) return FileError.fail("NotFound", `No edit history found for ${at.shown}.`)
    const read = await directory.read(at)
    if (read.text !== edit.after) {
      return FileError.fail(
        "Changed",
        `The file ${at.shown} was changed since its last edit; nothing was undone. View it again`
      )
    }
    await (edit.before === undefined ? directory.remove(at) : directory.replace(at, read, edit.before))
    edits.splice(index, 1)
    return `Last edit to ${at.shown} undone successfully.`
  })
