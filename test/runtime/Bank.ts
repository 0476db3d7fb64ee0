/** A bank for tests of the runtime: tools that move money, and a book of what they really did. */
import type * as LanguageModel from "effect/ai/LanguageModel"
import type * as Prompt from "effect/ai/Prompt"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Agent from "../../src/runtime/Agent.ts"
import type { AgentError } from "../../src/runtime/AgentError.ts"
import type { AgentEvent } from "../../src/runtime/AgentEvent.ts"
import * as AgentRuntime from "../../src/runtime/AgentRuntime.ts"
import { RunStore } from "../../src/runtime/RunStore.ts"
import * as ScriptedModel from "../../src/testing/ScriptedModel.ts"

/** What the handlers really did, in its order; and what they wait for. */
export class Book extends Context.Service<
  Book,
  { readonly done: Array<string>; readonly gate: Deferred.Deferred<void> }
>()("test/Book") {
  static layer = Layer.sync(Book, () => ({ done: [] as Array<string>, gate: Deferred.makeUnsafe<void>() }))
}

export class Overdrawn extends Schema.TaggedError<Overdrawn>("Overdrawn")("Overdrawn", {
  message: Schema.String
}) {}

const amount = { parameters: Schema.Struct({ amount: Schema.Number }), success: Schema.String }

/** Runs without asking; not to be run twice. */
export const Transfer = Tool.make("transfer", { ...amount, failure: Overdrawn })
/** The same, with its failures as results. */
export const TryTransfer = Tool.make("try_transfer", {
  ...amount,
  failure: Overdrawn,
  failureMode: "return"
})
/** Asks always. */
export const Pay = Tool.make("pay", { ...amount, needsApproval: true })
/** Asks for large amounts, and cannot say for 13; dies for 14. */
export const Refund = Tool.make("refund", {
  ...amount,
  needsApproval: ({ amount }: { readonly amount: number }) => {
    if (amount === 13) return Effect.fail("cannot say") as never
    if (amount === 14) throw new Error("dies")
    return amount > 100
  }
})
/** Annotated as destructive. */
export const Close = Tool.make("close", { success: Schema.String }).annotate(Tool.Destructive, true)
/** Idempotent: fails until it was called so often. */
export const Book3 = Tool.make("flaky", { ...amount, failure: Overdrawn }).annotate(Tool.Idempotent, true)
/** Waits for the gate, and says when it is interrupted. */
export const Wait = Tool.make("wait", { ...amount, success: Schema.String })
/** Dies. */
export const Crash = Tool.make("crash", { success: Schema.String })
/** Tells of three steps. */
export const Steps = Tool.make("steps", { success: Schema.Number })
/** Interrupts itself. */
export const GiveUp = Tool.make("give_up", { success: Schema.String })

export const toolkit = Toolkit.make(
  Transfer,
  TryTransfer,
  Pay,
  Refund,
  Close,
  Book3,
  Wait,
  Crash,
  Steps,
  GiveUp
)

const transfer = ({ amount }: { readonly amount: number }) =>
  Effect.flatMap(Book, ({ done }) =>
    amount < 0
      ? Effect.fail(new Overdrawn({ message: `no ${amount} here` }))
      : Effect.sync(() => {
          done.push(`transfer ${amount}`)
          return `transferred ${amount}`
        })
  )

export const handlers = toolkit.toLayer(
  Effect.map(Book, (book) => {
    const withBook = Effect.provideService(Book, book)
    const does = (what: string) => Effect.sync(() => void book.done.push(what))
    let flaky = 0
    return {
      transfer: (params) => withBook(transfer(params)),
      try_transfer: (params) => withBook(transfer(params)),
      pay: ({ amount }) => Effect.as(does(`pay ${amount}`), `paid ${amount}`),
      refund: ({ amount }) => Effect.as(does(`refund ${amount}`), `refunded ${amount}`),
      close: () => Effect.as(does("close"), "closed"),
      flaky: ({ amount }) => {
        book.done.push(`try ${++flaky}`)
        return flaky < amount ? Effect.fail(new Overdrawn({ message: "not yet" })) : Effect.succeed("at last")
      },
      wait: ({ amount }) =>
        does(`wait ${amount}`).pipe(
          Effect.andThen(Deferred.await(book.gate)),
          Effect.andThen(does(`waited ${amount}`)),
          Effect.as(`waited ${amount}`),
          Effect.onInterrupt(() => does(`interrupted ${amount}`))
        ),
      crash: () => Effect.die(new RangeError("secret detail")),
      steps: (_, { preliminary }) => Effect.as(Effect.forEach([1, 2], preliminary), 3),
      give_up: () => Effect.interrupt
    }
  })
)

/** The agent, in the runtime in memory, with a model that answers from a script. */
export const bank = (
  options: Partial<Omit<Agent.Options<typeof toolkit.tools, never, never>, "toolkit">> = {}
) => Agent.make({ name: "bank", toolkit, ...options })

/** All that a test of the agent in memory needs. */
export const layer = (
  agent: {
    readonly layer: Layer.Layer<
      never,
      never,
      LanguageModel.LanguageModel | AgentRuntime.AgentRuntime | Handlers
    >
  },
  turns: ReadonlyArray<ScriptedModel.Turn>
) =>
  agent.layer.pipe(
    Layer.provideMerge(ScriptedModel.layer(turns)),
    Layer.provide(handlers),
    Layer.provideMerge(Book.layer),
    Layer.provideMerge(AgentRuntime.layerMemory)
  )

type Handlers = Tool.HandlersFor<typeof toolkit.tools>

/** All that happens in a run. */
export const events = (
  stream: Stream.Stream<AgentEvent, AgentError, AgentRuntime.AgentRuntime>
): Effect.Effect<Array<AgentEvent>, AgentError, AgentRuntime.AgentRuntime> => Stream.runCollect(stream)

/** How it ended. */
export const end = (events: ReadonlyArray<AgentEvent>) => {
  const last = events.at(-1)
  if (last?._tag !== "Ended") throw new Error(`the last event is ${last?._tag}`)
  return last.outcome
}

/** A conversation as it stands in the store, in short: role, and what is in it. */
export const history = (conversation: string) =>
  Effect.map(
    Effect.flatMap(RunStore, (store) => store.messages(conversation)),
    (messages) => messages.flatMap(short)
  )

const short = (message: Prompt.Message): ReadonlyArray<string> =>
  typeof message.content === "string"
    ? [`${message.role}: ${message.content}`]
    : message.content.map((part) => {
        switch (part.type) {
          case "text":
            return `${message.role}: ${part.text}`
          case "tool-call":
            return `call ${part.id} ${part.name} ${JSON.stringify(part.params)}`
          case "tool-result":
            return `${part.isFailure ? "failure" : "result"} ${part.id} ${part.name} ${JSON.stringify(part.result)}`
          default:
            return `${message.role}: ${part.type}`
        }
      })
