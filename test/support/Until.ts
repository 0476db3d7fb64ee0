/** Waits, in real time, for what another process does. */
import * as Effect from "effect/Effect"

/** Until it holds; fails after ten seconds with what it waited for. */
export const until = (what: string, holds: () => boolean) =>
  Effect.promise(async () => {
    const since = Date.now()
    while (!holds()) {
      if (Date.now() - since > 10_000) throw new Error(`not within ten seconds: ${what}`)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  })
