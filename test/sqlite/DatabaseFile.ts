/**
 * A place for a database file, removed with the scope.
 */
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import * as Effect from "effect/Effect"

export const make = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "toolspan-sqlite-"))),
    (directory) => Effect.sync(() => fs.rmSync(directory, { recursive: true }))
  ),
  (directory) => path.join(directory, "test.db")
)
