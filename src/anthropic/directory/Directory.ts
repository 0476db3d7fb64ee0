/**
 * A directory of text files that a model may look at and change, and that no path leads out of: see `ModelPath.ts` and `Folder.ts`.
 *
 * Commands on one directory run one after the other in this process, whoever gives them, and each is carried out as a whole or not at all: a
 * file is written under another name, which then takes its place. Another process that changes a file in between is noticed, but for the
 * moment between the last look and the renaming.
 */
import * as fs from "node:fs"
import * as path from "node:path"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import * as FileError from "./FileError.ts"
import { codeOf, Folder, type Identity } from "./Folder.ts"
import * as ModelPath from "./ModelPath.ts"

export interface Options {
  /** The directory. It must exist. */
  readonly directory: string
  /** How the model knows it: an absolute path. */
  readonly root: string
  /** How large a file may be, in bytes; default 1 MiB. */
  readonly maxFileBytes?: number | undefined
}

/** A text that was read, and what tells whether it is still there. */
export interface ReadText {
  readonly text: string
  readonly identity: Identity
  readonly mode: number
}

export interface Listed {
  /** Names below the directory that was listed. */
  readonly names: ReadonlyArray<string>
  readonly isDirectory: boolean
  readonly bytes: number
}

/** How many files and directories are listed at most. */
const MAX_LISTED = 1000

const FILE_MODE = 0o644

/** One command at a time on each directory of this machine that this process knows. */
const permits = new Map<string, Semaphore.Semaphore>()

export class Directory {
  readonly root: string
  readonly #directory: string
  readonly #maxFileBytes: number

  /** Throws an `Error` that names the option that makes no sense. */
  constructor({ directory, maxFileBytes = 1024 * 1024, root }: Options) {
    if (!fs.statSync(directory, { throwIfNoEntry: false })?.isDirectory()) {
      throw new Error(`option "directory" is "${directory}": no such directory. Make it first`)
    }
    if (!Number.isSafeInteger(maxFileBytes) || maxFileBytes < 1) {
      throw new Error(`option "maxFileBytes" is ${maxFileBytes}; allowed: an integer, at least 1`)
    }
    this.root = root
    this.#directory = fs.realpathSync(path.resolve(directory))
    this.#maxFileBytes = maxFileBytes
  }

  /** Runs one command: what it throws is its failure. It is not interrupted half done. */
  command<A>(act: () => Promise<A>): Effect.Effect<A, FileError.FileError> {
    return Effect.suspend(() => {
      let permit = permits.get(this.#directory)
      if (permit === undefined) {
        permit = Semaphore.makeUnsafe(1)
        permits.set(this.#directory, permit)
      }
      return permit.withPermit(
        Effect.uninterruptible(
          Effect.catch(Effect.tryPromise({ try: act, catch: (error) => error }), (error) => {
            if (error instanceof FileError.FileError) return Effect.fail(error)
            const code = codeOf(error)
            // Its message would tell where the directory is.
            return code === undefined
              ? Effect.die(error)
              : Effect.fail(
                  new FileError.FileError({
                    reason: "Refused",
                    message: `The system refused the command (${code})`
                  })
                )
          })
        )
      )
    })
  }

  parse(text: string): ModelPath.ModelPath {
    return ModelPath.parse(text, this.root)
  }

  /** What is there. Throws a `FileError` if it is neither a file nor a directory, or nothing. */
  kind(at: ModelPath.ModelPath): Promise<"file" | "directory"> {
    return this.#in(at, async (folder, name) => {
      if (name === undefined) return "directory"
      const { kind } = await folder.look(name)
      return kind === "file" || kind === "directory" ? kind : refuseKind(at, kind)
    })
  }

  /** The files and directories up to two levels below, without hidden ones and `node_modules`. */
  list(at: ModelPath.ModelPath): Promise<{ readonly listed: ReadonlyArray<Listed>; readonly more: boolean }> {
    return this.#in(at, async (parent, name) => {
      const listed: Array<Listed> = []
      let more = false
      const add = async (folder: Folder, above: ReadonlyArray<string>): Promise<void> => {
        for (const child of [...(await folder.names())].sort()) {
          if (child.startsWith(".") || child === "node_modules") continue
          if (listed.length >= MAX_LISTED) {
            more = true
            return
          }
          const { identity, kind } = await folder.look(child)
          if (kind !== "file" && kind !== "directory") continue
          const names = [...above, child]
          listed.push({ names, isDirectory: kind === "directory", bytes: Number(identity.size) })
          if (kind === "directory" && above.length === 0) {
            await using(folder.folder(child), (inner) => add(inner, names))
          }
        }
      }
      await (name === undefined ? add(parent, []) : using(parent.folder(name), (folder) => add(folder, [])))
      return { listed, more }
    })
  }

  /** The text of a file. */
  read(at: ModelPath.ModelPath): Promise<ReadText> {
    return this.#in(at, async (folder, name) => {
      if (name === undefined) return FileError.fail("NotText", `The path ${at.shown} is not a file.`)
      const { kind } = await folder.look(name)
      if (kind !== "file") refuseKind(at, kind)
      const { bytes, entry } = await folder.read(name, this.#maxFileBytes)
      if (bytes === undefined) {
        return FileError.fail(
          "TooLarge",
          `The file ${at.shown} is larger than ${this.#maxFileBytes} bytes, more than this tool reads`
        )
      }
      return { text: decode(bytes, at), identity: entry.identity, mode: entry.mode }
    })
  }

  /** Makes a file, and the directories above it. */
  create(at: ModelPath.ModelPath, text: string): Promise<void> {
    const bytes = this.#encode(at, text)
    return this.#in(
      at,
      async (folder, name) => {
        if (name === undefined) return FileError.fail("Exists", `${at.shown} is a directory`)
        if (await isThere(folder, name)) return refuseExisting(`File ${at.shown}`)
        await placed(folder, bytes, FILE_MODE, (temporary) => takeName(folder, temporary, folder, name, at))
      },
      "make"
    )
  }

  /** Puts another text in a file, if it is still the one that was read. */
  replace(at: ModelPath.ModelPath, read: ReadText, text: string): Promise<void> {
    const bytes = this.#encode(at, text)
    return this.#in(at, async (folder, name = "") => {
      await placed(folder, bytes, read.mode, async (temporary) => {
        const { identity } = await folder.look(name)
        if (!isSame(identity, read.identity)) {
          FileError.fail(
            "Changed",
            `The file ${at.shown} was changed by somebody else meanwhile; nothing was written. View it again`
          )
        }
        await folder.rename(temporary, folder, name)
      })
    })
  }

  /** Removes a file, or a directory with all that is in it. */
  remove(at: ModelPath.ModelPath): Promise<void> {
    return this.#in(at, async (folder, name) => {
      if (name === undefined)
        return FileError.fail("BadPath", `Cannot delete the ${this.root} directory itself`)
      const { kind } = await folder.look(name)
      await (kind === "directory" ? folder.removeFolder(name) : folder.removeFile(name))
      await folder.sync()
    })
  }

  /** Gives a file or a directory another name, which nothing has. */
  rename(from: ModelPath.ModelPath, to: ModelPath.ModelPath): Promise<void> {
    if (from.names.every((name, index) => name === to.names[index]) && to.names.length > from.names.length) {
      return Promise.reject(
        new FileError.FileError({
          reason: "BadPath",
          message: `Cannot move ${from.shown} into itself, to ${to.shown}`
        })
      )
    }
    return this.#in(from, async (folder, name) => {
      if (name === undefined)
        return FileError.fail("BadPath", `Cannot rename the ${this.root} directory itself`)
      const { kind } = await folder.look(name)
      if (kind !== "file" && kind !== "directory") return refuseKind(from, kind)
      await this.#in(
        to,
        async (target, newName) => {
          if (newName === undefined || (await isThere(target, newName))) {
            return refuseExisting(`The destination ${to.shown}`)
          }
          if (kind === "file") await takeName(folder, name, target, newName, to, "The destination")
          else await folder.rename(name, target, newName)
          await target.sync()
        },
        "make"
      )
      await folder.sync()
    })
  }

  #encode(at: ModelPath.ModelPath, text: string): Buffer {
    if (!text.isWellFormed()) {
      FileError.fail(
        "NotText",
        `The text for ${at.shown} holds half of a surrogate pair; nothing was written`
      )
    }
    const bytes = Buffer.from(text)
    if (bytes.length > this.#maxFileBytes) {
      FileError.fail(
        "TooLarge",
        `The file ${at.shown} would have ${bytes.length} bytes, and ${this.#maxFileBytes} are allowed; nothing was written`
      )
    }
    return bytes
  }

  /** Opens the directory that a path's last name is in. Without a name, the path is the root. */
  async #in<A>(
    { names, shown }: ModelPath.ModelPath,
    use: (folder: Folder, name: string | undefined) => Promise<A>,
    missing?: "make"
  ): Promise<A> {
    let folder = await Folder.open(this.#directory)
    const opened = [folder]
    try {
      for (const name of names.slice(0, -1)) {
        folder = await enter(folder, name, missing)
        opened.push(folder)
      }
      return await use(folder, names.at(-1))
    } catch (error) {
      throw explained(error, shown)
    } finally {
      for (const folder of opened) await folder.close()
    }
  }
}

const enter = async (folder: Folder, name: string, missing: "make" | undefined): Promise<Folder> => {
  try {
    return await folder.folder(name)
  } catch (error) {
    if (missing === undefined || codeOf(error) !== "ENOENT") throw error
    await folder.makeFolder(name).catch((error: unknown) => {
      if (codeOf(error) !== "EEXIST") throw error
    })
    return await folder.folder(name)
  }
}

const using = async <A>(opening: Promise<Folder>, use: (folder: Folder) => Promise<A>): Promise<A> => {
  const folder = await opening
  try {
    return await use(folder)
  } finally {
    await folder.close()
  }
}

/** What the system says of a path, as the model can understand it. */
const explained = (error: unknown, shown: string): unknown => {
  switch (codeOf(error)) {
    case "ENOENT":
      return new FileError.FileError({
        reason: "NotFound",
        message: `The path ${shown} does not exist. Please provide a valid path.`
      })
    case "ENOTDIR":
    case "ELOOP":
      return new FileError.FileError({
        reason: "BadPath",
        message: `The path ${shown} leads through something that is no directory, or a symbolic link, which this tool does not follow`
      })
    case "EACCES":
    case "EPERM":
      return new FileError.FileError({ reason: "Refused", message: `Permission denied for ${shown}` })
    case "ENAMETOOLONG":
      return new FileError.FileError({
        reason: "BadPath",
        message: `The path ${shown} is too long for this system`
      })
    case undefined:
      return error
    default:
      return new FileError.FileError({
        reason: "Refused",
        message: `The system refused the command for ${shown} (${codeOf(error)})`
      })
  }
}

const refuseKind = (at: ModelPath.ModelPath, kind: "file" | "directory" | "link" | "other"): never =>
  kind === "link"
    ? FileError.fail("BadPath", `${at.shown} is a symbolic link, which this tool does not follow`)
    : FileError.fail("NotText", `The path ${at.shown} is not a file.`)

const refuseExisting = (what: string): never => FileError.fail("Exists", `${what} already exists`)

const isThere = async (folder: Folder, name: string): Promise<boolean> => {
  try {
    await folder.look(name)
    return true
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false
    throw error
  }
}

/** Writes a file that `place` gives its name to. It is gone afterwards, if it still has its own. */
const placed = async (
  folder: Folder,
  bytes: Buffer,
  mode: number,
  place: (temporary: string) => Promise<void>
): Promise<void> => {
  const temporary = `.toolspan-${crypto.randomUUID()}.tmp`
  try {
    await folder.write(temporary, bytes, mode)
    await place(temporary)
  } catch (error) {
    await folder.removeFile(temporary).catch(() => {})
    throw error
  }
  await folder.sync()
}

/** Gives a file another name, which nothing has: by a second link, since a renaming would take the place of what is there. */
const takeName = async (
  folder: Folder,
  name: string,
  target: Folder,
  newName: string,
  at: ModelPath.ModelPath,
  what = "File"
): Promise<void> => {
  try {
    await folder.link(name, target, newName)
  } catch (error) {
    if (codeOf(error) === "EEXIST") refuseExisting(`${what} ${at.shown}`)
    if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"].includes(codeOf(error) ?? "")) throw error
    // A file system without links.
    return await folder.rename(name, target, newName)
  }
  await folder.removeFile(name)
}

const isSame = (a: Identity, b: Identity): boolean =>
  a.dev === b.dev &&
  a.ino === b.ino &&
  a.mtimeNs === b.mtimeNs &&
  a.ctimeNs === b.ctimeNs &&
  a.size === b.size

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const decode = (bytes: Buffer, at: ModelPath.ModelPath): string => {
  if (bytes.includes(0)) refuseBytes(at)
  try {
    return utf8.decode(bytes)
  } catch {
    return refuseBytes(at)
  }
}

const refuseBytes = (at: ModelPath.ModelPath): never =>
  FileError.fail("NotText", `The file ${at.shown} is no text in UTF-8, which is all that this tool reads`)
