/**
 * Builds all programs before the first test, so that no test's time has a build in it.
 */
import * as Effect from "effect/Effect"
import * as Programs from "./Programs.ts"

export default async (): Promise<void> => {
  const reason = Programs.skipReason(...Programs.binaries)
  if (reason !== undefined) {
    process.stderr.write(`[stack] tests that need them are skipped: ${reason}\n`)
    return
  }
  await Effect.runPromise(Effect.forEach(Programs.binaries, Programs.path, { discard: true }))
}
