/**
 * Loads modules that stand on optional peer dependencies. Where one is not installed, says how to install it.
 */
import { createRequire } from "node:module"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

/** A package that is needed and not installed. */
export class MissingPackage extends Data.TaggedError("MissingPackage")<{
  readonly packageName: string
  readonly message: string
}> {}

/** Loads a module. Dies with {@link MissingPackage}, or with whatever else went wrong: neither is for the program to handle. */
export const load = <A>(module: () => Promise<A>): Effect.Effect<A> =>
  Effect.orDie(Effect.tryPromise({ try: module, catch: (error) => explain(error) ?? error }))

/** The error that says what to install, if `error` says that a package was not found. */
export const explain = (error: unknown): MissingPackage | undefined => {
  if (!(error instanceof Error) || !("code" in error)) return undefined
  if (error.code !== "ERR_MODULE_NOT_FOUND" && error.code !== "MODULE_NOT_FOUND") return undefined
  const packageName = /'((?:@[\w.-]+\/)?\w[\w.-]*)[/\w.-]*'/.exec(error.message)?.[1]
  if (packageName === undefined) return undefined
  const range = peers()[packageName]
  const install = range === undefined ? packageName : `"${packageName}@${range}"`
  return new MissingPackage({
    packageName,
    message: `toolspan/sdk needs the package ${packageName}, which is not installed. Install it: npm install ${install}`
  })
}

/** The versions that fit together: later ones of OpenTelemetry do not. */
const peers = (): Readonly<Record<string, string>> =>
  // Our own package file.
  (createRequire(import.meta.url)("../../package.json") as { peerDependencies: Record<string, string> })
    .peerDependencies
