/**
 * `OTEL_*` variables for tests that build the layer in this process.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/** Sets these and no others of OpenTelemetry until the scope closes. */
export const set = (variables: Readonly<Record<string, string>>): Effect.Effect<void, never, Scope.Scope> =>
  Effect.asVoid(
    Effect.acquireRelease(
      Effect.sync(() => {
        const before = ours()
        replace(variables)
        return before
      }),
      (before) => Effect.sync(() => replace(before))
    )
  )

const ours = () =>
  Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      name.startsWith("OTEL_") && value !== undefined ? [[name, value]] : []
    )
  )

const replace = (variables: Readonly<Record<string, string>>) => {
  for (const name of Object.keys(ours())) delete process.env[name]
  Object.assign(process.env, variables)
}
