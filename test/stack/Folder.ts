/**
 * A new folder that is removed with its scope.
 */
import * as Fs from "node:fs"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/** `prefix` is a path; the folder's is that and six characters more. */
export const make = (prefix: string): Effect.Effect<string, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => Fs.mkdtempSync(prefix)),
    (folder) => Effect.sync(() => Fs.rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
  )
