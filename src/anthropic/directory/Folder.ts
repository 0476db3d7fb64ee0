/**
 * Open directories, and what is in them by name: no path is ever looked up as a whole, and no link is followed, so that nobody who swaps a
 * directory for a link meanwhile leads out.
 *
 * On Linux each directory is held open, and names are looked up in what is held (by `/proc/self/fd`), which holds against races. Elsewhere
 * names are joined to the directory's path after a look at it: that holds against links that are there, not against one that is put there
 * at that very moment. Hard links are what they are everywhere: another name of a file, which a write replaces and does not change.
 */
import * as fs from "node:fs"
import * as fsp from "node:fs/promises"
import * as path from "node:path"
import * as Predicate from "effect/Predicate"

const { O_CREAT, O_DIRECTORY = 0, O_EXCL, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY, O_WRONLY } = fs.constants

const isHeld = process.platform === "linux" && fs.existsSync("/proc/self/fd")

/** What tells whether a file is still the one that was read. */
export interface Identity {
  readonly dev: bigint
  readonly ino: bigint
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
  readonly size: bigint
}

export type Kind = "file" | "directory" | "link" | "other"

export interface Entry {
  readonly kind: Kind
  readonly identity: Identity
  readonly mode: number
}

/** The code of an error of the system, `ENOENT` and the like. */
export const codeOf = (error: unknown): string | undefined =>
  Predicate.hasProperty(error, "code") && typeof error.code === "string" ? error.code : undefined

export class Folder {
  readonly #handle: fsp.FileHandle
  readonly #path: string

  private constructor(handle: fsp.FileHandle, path: string) {
    this.#handle = handle
    this.#path = path
  }

  /** Opens the directory that everything else is looked up in. */
  static async open(directory: string): Promise<Folder> {
    return new Folder(await fsp.open(directory, O_RDONLY | O_DIRECTORY), directory)
  }

  close(): Promise<void> {
    return this.#handle.close()
  }

  /** Opens a directory in this one. Fails with `ENOTDIR` or `ELOOP` if it is none, or a link. */
  async folder(name: string): Promise<Folder> {
    if (!isHeld && (await this.look(name)).kind !== "directory") throw notDirectory()
    const child = this.#at(name)
    return new Folder(await fsp.open(child, O_RDONLY | O_DIRECTORY | O_NOFOLLOW), path.join(this.#path, name))
  }

  /** What is there under this name, itself and not what it links to. */
  async look(name: string): Promise<Entry> {
    return toEntry(await fsp.lstat(this.#at(name), { bigint: true }))
  }

  async names(): Promise<ReadonlyArray<string>> {
    return await fsp.readdir(isHeld ? `/proc/self/fd/${this.#handle.fd}` : this.#path)
  }

  /** Reads a file, `maxBytes` at most; undefined if it is larger. Fails with `EINVAL` if it is no file: nothing else is ever opened. */
  async read(
    name: string,
    maxBytes: number
  ): Promise<{ readonly entry: Entry; readonly bytes: Buffer | undefined }> {
    if ((await this.look(name)).kind !== "file") throw notFile()
    // Does not wait for a writer, should it have become a pipe meanwhile.
    const handle = await fsp.open(this.#at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    try {
      const entry = toEntry(await handle.stat({ bigint: true }))
      if (entry.kind !== "file") throw notFile()
      const bytes = Buffer.alloc(maxBytes + 1)
      let length = 0
      while (length < bytes.length) {
        const { bytesRead } = await handle.read(bytes, length, bytes.length - length)
        if (bytesRead === 0) break
        length += bytesRead
      }
      return { entry, bytes: length > maxBytes ? undefined : bytes.subarray(0, length) }
    } finally {
      await handle.close()
    }
  }

  /** Writes a new file, whole or not at all, and makes it last. */
  async write(name: string, bytes: Uint8Array, mode: number): Promise<void> {
    const handle = await fsp.open(this.#at(name), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode)
    try {
      await handle.writeFile(bytes)
      await handle.chmod(mode)
      await handle.sync()
    } finally {
      await handle.close()
    }
  }

  async makeFolder(name: string): Promise<void> {
    await fsp.mkdir(this.#at(name))
  }

  /** Renames what is here to a name in `to`, whatever is there. */
  async rename(name: string, to: Folder, newName: string): Promise<void> {
    await fsp.rename(this.#at(name), to.#at(newName))
  }

  /** Gives a file a second name. Fails with `EEXIST` if something has it. */
  async link(name: string, to: Folder, newName: string): Promise<void> {
    await fsp.link(this.#at(name), to.#at(newName))
  }

  async removeFile(name: string): Promise<void> {
    await fsp.unlink(this.#at(name))
  }

  /** Removes a directory and all that is in it. Links are removed, and not what they lead to. */
  async removeFolder(name: string): Promise<void> {
    const folder = await this.folder(name)
    try {
      for (const child of await folder.names()) {
        if ((await folder.look(child)).kind === "directory") await folder.removeFolder(child)
        else await folder.removeFile(child)
      }
    } finally {
      await folder.close()
    }
    await fsp.rmdir(this.#at(name))
  }

  /** Makes the names in it last. */
  async sync(): Promise<void> {
    try {
      await this.#handle.sync()
    } catch (error) {
      // Not every file system can.
      if (codeOf(error) !== "EINVAL" && codeOf(error) !== "EPERM") throw error
    }
  }

  #at(name: string): string {
    return isHeld ? `/proc/self/fd/${this.#handle.fd}/${name}` : path.join(this.#path, name)
  }
}

const toEntry = (stat: fs.BigIntStats): Entry => ({
  kind: stat.isFile() ? "file" : stat.isDirectory() ? "directory" : stat.isSymbolicLink() ? "link" : "other",
  identity: {
    dev: stat.dev,
    ino: stat.ino,
    mtimeNs: stat.mtimeNs,
    ctimeNs: stat.ctimeNs,
    size: stat.size
  },
  mode: Number(stat.mode & 0o777n)
})

const withCode = (code: string): Error => Object.assign(new Error(code), { code })
const notDirectory = (): Error => withCode("ENOTDIR")
const notFile = (): Error => withCode("EINVAL")
