/**
 * The tools of the demo: real ones, over one directory.
 *
 * They read inside that directory only, and write into a folder of their own. How they are called is in `Script.ts`.
 */

import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as ByteSize from "effect/ByteSize"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"
import * as ChildProcess from "effect/process/ChildProcess"
import * as ChildProcessSpawner from "effect/process/ChildProcessSpawner"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

/** Folders that nobody means by "this project". */
const skipped = new Set([".git", "node_modules", "dist", "coverage", "target", ".venv", ".cache"])
/** How much of a directory the tools look at: it may be anybody's home. */
const FILE_LIMIT = 500
const READ_LIMIT = 64 * 1024
/** How many files are searched between two preliminary results. */
const PROGRESS_STEP = 40

/** A file that cannot be read: `reason` is the system's word for it, such as `NotFound`. */
export class FileError extends Schema.TaggedError<FileError>()("FileError", {
  path: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `cannot read ${this.path}: ${this.reason}`
  }
}

const File = Schema.Struct({ path: Schema.String, bytes: Schema.Number })
const Match = Schema.Struct({ path: Schema.String, line: Schema.Number, text: Schema.String })

export const ListFiles = Tool.make("list_files", {
  description: "Lists the files of the workspace, without hidden build folders",
  parameters: Schema.Struct({ limit: Schema.Number }),
  success: Schema.Struct({ files: Schema.Array(File) }),
  failure: FileError,
  failureMode: "return"
})

export const SearchText = Tool.make("search_text", {
  description: "Searches the files of the workspace for a text",
  parameters: Schema.Struct({ text: Schema.NonEmptyString }),
  success: Schema.Struct({ searched: Schema.Number, matches: Schema.Array(Match) }),
  failure: FileError,
  failureMode: "return"
})

export const ReadFile = Tool.make("read_file", {
  description: "Reads a file of the workspace",
  parameters: Schema.Struct({ path: Schema.String }),
  success: Schema.Struct({ text: Schema.String, bytes: Schema.Number }),
  failure: FileError,
  failureMode: "return"
})

export const GitLog = Tool.make("git_log", {
  description: "Lists the latest commits of the workspace",
  parameters: Schema.Struct({ limit: Schema.Number }),
  success: Schema.Struct({ commits: Schema.Array(Schema.String) }),
  failure: FileError,
  failureMode: "return"
})

export const WriteReport = Tool.make("write_report", {
  description: "Writes a report into a temporary folder",
  parameters: Schema.Struct({ title: Schema.String, lines: Schema.Array(Schema.String) }),
  success: Schema.Struct({ path: Schema.String }),
  failure: FileError,
  failureMode: "return",
  needsApproval: true
})

export const toolkit = Toolkit.make(ListFiles, SearchText, ReadFile, GitLog, WriteReport)

/** The handlers, over `directory`. `store`: the file of the run, which is not part of what is looked at. */
export const layer = (directory: string, store?: string) =>
  toolkit.toLayer(
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const spawner = yield* ChildProcessSpawner.ChildProcessSpawner

      const own = new Set(
        store === undefined ? [] : ["", "-wal", "-shm"].map((suffix) => path.resolve(store) + suffix)
      )

      const failed = (file: string) =>
        Effect.mapError(
          (error: PlatformError.PlatformError) => new FileError({ path: file, reason: error.reason._tag })
        )

      const walk = Effect.fnUntraced(function* (limit: number) {
        const files: Array<typeof File.Type> = []
        const folders = [""]
        for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
          // A folder that cannot be read is passed over, unless it is the workspace itself.
          const reading = failed(folder || directory)(fs.readDirectoryEntries(path.join(directory, folder)))
          const entries = yield* folder === "" ? reading : Effect.orElseSucceed(reading, () => [])
          for (const { name, type } of [...entries].sort((a, b) => (a.name < b.name ? -1 : 1))) {
            const file = path.join(folder, name)
            if (type === "Directory" && !skipped.has(name)) folders.push(file)
            if (type !== "File" || own.has(path.resolve(directory, file))) continue
            const info = yield* Effect.option(fs.stat(path.join(directory, file)))
            if (Option.isNone(info)) continue
            files.push({ path: file, bytes: Number(ByteSize.toBigInt(info.value.size)) })
            if (files.length >= limit) return files
          }
        }
        return files
      })

      const read = Effect.fnUntraced(function* (file: string) {
        const absolute = path.resolve(directory, file)
        if (path.relative(directory, absolute).startsWith("..")) {
          return yield* new FileError({ path: file, reason: "OutsideWorkspace" })
        }
        return yield* failed(file)(fs.readFileString(absolute))
      })

      return toolkit.of({
        list_files: ({ limit }) => Effect.map(walk(Math.min(limit, FILE_LIMIT)), (files) => ({ files })),

        search_text: Effect.fnUntraced(function* ({ text: wanted }, { preliminary }) {
          // Files without a size are empty, or no files at all: some of the system's never end.
          const files = (yield* walk(FILE_LIMIT)).filter(({ bytes }) => bytes > 0 && bytes <= READ_LIMIT)
          const matches: Array<typeof Match.Type> = []
          for (const [index, file] of files.entries()) {
            const text = yield* Effect.orElseSucceed(read(file.path), () => "")
            const lines = text.split("\n")
            for (const [number, line] of lines.entries()) {
              if (line.includes(wanted)) {
                matches.push({ path: file.path, line: number + 1, text: line.trim().slice(0, 120) })
              }
            }
            if ((index + 1) % PROGRESS_STEP === 0) yield* preliminary({ searched: index + 1, matches: [] })
          }
          return { searched: files.length, matches }
        }),

        read_file: ({ path: file }) =>
          Effect.map(read(file), (text) => ({ text: text.slice(0, READ_LIMIT), bytes: text.length })),

        git_log: Effect.fnUntraced(
          function* ({ limit }) {
            const command = ChildProcess.make(
              "git",
              ["log", `--max-count=${Math.trunc(limit)}`, "--pretty=%h %s"],
              { cwd: directory, stderr: "ignore" }
            )
            const git = yield* failed(".git")(spawner.spawn(command))
            const lines = Stream.splitLines(Stream.decodeText(git.stdout))
            const commits = yield* failed(".git")(Stream.runCollect(lines))
            if ((yield* failed(".git")(git.exitCode)) !== 0) {
              return yield* new FileError({ path: ".git", reason: "GitFailed" })
            }
            return { commits }
          },
          (effect) => Effect.scoped(effect)
        ),

        write_report: Effect.fnUntraced(function* ({ lines, title }) {
          const folder = yield* failed("the temporary folder")(
            fs.makeTempDirectory({ prefix: "toolspan-demo-" })
          )
          const report = path.join(folder, "report.md")
          yield* failed(report)(fs.writeFileString(report, [`# ${title}`, "", ...lines, ""].join("\n")))
          return { path: report }
        })
      })
    })
  )
