/** Tools for tests: one for each way in which a call can end. */

import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

export class OutOfStock extends Schema.TaggedError<OutOfStock>("OutOfStock")("OutOfStock", {
  item: Schema.String
}) {}

export const Greet = Tool.make("greet", {
  description: "Greets somebody",
  parameters: Schema.Struct({ name: Schema.String }),
  success: Schema.Struct({ greeting: Schema.String })
})

export const Order = Tool.make("order", {
  parameters: Schema.Struct({ item: Schema.String }),
  success: Schema.String,
  failure: OutOfStock
})

/** The same as `Order`, with its failures as results. */
export const TryOrder = Tool.make("try_order", {
  parameters: Schema.Struct({ item: Schema.String }),
  success: Schema.String,
  failure: OutOfStock,
  failureMode: "return"
})

export const Crash = Tool.make("crash", { success: Schema.Void })

export const Hang = Tool.make("hang", { success: Schema.Void })

/** Declares a positive result; its handler gives what it is asked for. */
export const Count = Tool.make("count", {
  parameters: Schema.Struct({ result: Schema.Number }),
  success: Schema.Number.check(Schema.isGreaterThan(0))
})

export const Progress = Tool.make("progress", {
  parameters: Schema.Struct({ steps: Schema.Number }),
  success: Schema.Struct({ step: Schema.Number })
})

export const toolkit = Toolkit.make(Greet, Order, TryOrder, Crash, Hang, Count, Progress)

const order = ({ item }: { readonly item: string }) =>
  item === "unobtainium" ? Effect.fail(new OutOfStock({ item })) : Effect.succeed(`ordered ${item}`)

export const handlers = toolkit.toLayer({
  greet: ({ name }) => Effect.succeed({ greeting: `Hello, ${name}` }),
  order,
  try_order: order,
  crash: () => Effect.die(new RangeError("secret detail")),
  hang: () => Effect.never,
  count: ({ result }) => Effect.succeed(result),
  progress: ({ steps }, { preliminary }) =>
    Effect.as(
      Effect.forEach(
        Array.from({ length: steps }, (_, step) => ({ step })),
        preliminary
      ),
      { step: steps }
    )
})

/** All results of a call. */
export const collect = <A, E, R, E2, R2>(call: Effect.Effect<Stream.Stream<A, E, R>, E2, R2>) =>
  Effect.flatMap(call, (results) => Stream.runCollect(results))
