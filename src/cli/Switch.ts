/**
 * A flag that is on or off, and off by default.
 */
import * as Flag from "effect/cli/Flag"

export const make = (name: string, description: string): Flag.Flag<boolean> =>
  Flag.Boolean(name).pipe(Flag.withoutNegation, Flag.withDescription(description), Flag.withDefault(false))
