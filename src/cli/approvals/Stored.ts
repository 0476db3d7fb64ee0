/**
 * What the commands on a store have in common: which store it is, and that it is there already.
 */
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Refusal from "../Refusal.ts"
import * as Store from "../Store.ts"
import * as Switch from "../Switch.ts"

const VARIABLE = "TOOLSPAN_STORE"

export const flag = Store.flag.pipe(
  Flag.withDescription(
    `Where runs are kept: a SQLite file, or postgres://user:password@host/database (default: what ${VARIABLE} says)`
  )
)

export const json = Switch.make("json", "Print JSON")

/** Opens the store for a command. */
export const provide = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  { store }: { readonly store: Option.Option<string> }
) =>
  Effect.suspend(() => {
    const place = Option.getOrElse(store, () => process.env[VARIABLE] ?? "")
    return place === ""
      ? Refusal.fail(`Which store? Give --store FILE or --store postgres://…, or set ${VARIABLE}`)
      : Effect.provide(effect, Store.layer(place, { create: false }))
  }).pipe(Refusal.ofStores)

/** Cells of the terminal; elsewhere room enough for a line of a log. */
export const columns = (): number => process.stdout.columns || 160
