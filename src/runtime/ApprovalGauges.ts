/**
 * What a durable store knows of waiting approvals, as gauges: every process that works on its runs reports the same.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { OTHER } from "../semconv/Attributes.ts"
import * as Instruments from "../semconv/Instruments.ts"
import type { Service as Store } from "./RunStore.ts"

/** How often, in milliseconds: no more often than metrics are read. */
const INTERVAL = 15_000

/** How soon to look again for the first agent. */
const SOON = 50

/** Reports for ever. `tools`: the names of those that may stand on metrics. A store that fails is asked again the next time. */
export const report = (store: Store, tools: () => ReadonlySet<string>): Effect.Effect<never> => {
  /** The tools that were reported, so that each falls back to 0. */
  const reported = new Set<string>()
  const once = Effect.gen(function* () {
    const waiting = new Map(
      [...reported].map((tool) => [tool, { count: 0, oldest: Number.POSITIVE_INFINITY }])
    )
    const known = tools()
    for (const { count, oldest, toolName } of yield* store.waiting) {
      const tool = known.has(toolName) ? toolName : OTHER
      const before = waiting.get(tool) ?? { count: 0, oldest: Number.POSITIVE_INFINITY }
      waiting.set(tool, { count: before.count + count, oldest: Math.min(before.oldest, oldest) })
    }
    const now = yield* Clock.currentTimeMillis
    const context = yield* Effect.context<never>()
    for (const [tool, { count, oldest }] of waiting) {
      reported.add(tool)
      Instruments.approvalStored(tool).updateUnsafe(count, context)
      const age = count === 0 ? 0 : Math.max(0, now - oldest) / 1000
      Instruments.approvalOldest(tool).updateUnsafe(age, context)
    }
  })
  const counted = once.pipe(
    Effect.catchCause((cause) => Effect.logDebug("toolspan: waiting approvals could not be counted", cause)),
    Effect.andThen(Effect.sleep(INTERVAL))
  )
  return Effect.forever(Effect.suspend(() => (tools().size === 0 ? Effect.sleep(SOON) : counted)))
}
