/**
 * The HTTP APIs of the stack's programs, and waiting until they say what is expected.
 */
import * as Effect from "effect/Effect"

/** JSON of a shape that a test states. */
// biome-ignore lint/suspicious/noExplicitAny: the shape is the program's, and what is wrong with it fails the test that reads it.
export type Json = any

/** The JSON that a GET answers; undefined when it is not answered with 2xx and JSON. */
export const get = (url: string): Effect.Effect<Json> =>
  Effect.promise(() =>
    fetch(url, { signal: AbortSignal.timeout(10_000) }).then(
      (response) => (response.ok ? response.json() : undefined),
      () => undefined
    )
  ).pipe(Effect.catchCause(() => Effect.undefined))

/** Asks again every quarter of a second until there is an answer; undefined after `seconds`. */
export const until = <A, E, R>(
  ask: Effect.Effect<A | undefined, E, R>,
  seconds: number
): Effect.Effect<A | undefined, E, R> =>
  Effect.gen(function* () {
    const deadline = performance.now() + seconds * 1000
    for (;;) {
      const answer = yield* ask
      if (answer !== undefined || performance.now() > deadline) return answer
      yield* Effect.sleep("250 millis")
    }
  })

/** One series of the answer to an instant query. */
export interface Sample {
  readonly metric: Readonly<Record<string, string>>
  readonly value: number
}

/** The answer of Prometheus to an instant query, now. */
export const query = (prometheus: string, expression: string): Effect.Effect<ReadonlyArray<Sample>> =>
  Effect.map(
    get(`${prometheus}/api/v1/query?query=${encodeURIComponent(expression)}`),
    (answer) =>
      answer?.data?.result?.map(({ metric, value }: Json) => ({ metric, value: Number(value[1]) })) ?? []
  )
