/**
 * The agent of the crash tests: it moves money, looks things up, and asks before it pays. What its tools really do is a line of a ledger
 * that no store knows of; a worker can be told to die at chosen points around it.
 */
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Agent from "../../src/runtime/Agent.ts"
import type * as Points from "./Points.ts"

/** What a worker does to the world; nothing by default. */
export interface World {
  /** Writes a line of the ledger, for good. */
  readonly write: (line: string) => Effect.Effect<void>
  /** Passes a point: sometimes the worker dies there. */
  readonly pass: Points.Pass
}
export const World = Context.Reference<World>("test/crash/World", {
  defaultValue: () => ({ write: () => Effect.void, pass: () => Effect.void })
})
const write = (line: string) => Effect.flatMap(World, ({ write }) => write(line))
const pass = (point: Points.Point) => Effect.flatMap(World, ({ pass }) => pass(point))

const amount = { parameters: Schema.Struct({ amount: Schema.Number }), success: Schema.String }

/** Not to be run twice. */
export const Transfer = Tool.make("transfer", amount)
/** Not to be run twice, and asks. */
export const Pay = Tool.make("pay", {
  ...amount,
  needsApproval: () => Effect.as(pass("while it asks"), true)
})
/** May be run again. */
export const LookUp = Tool.make("look_up", amount).annotate(Tool.Readonly, true)

export const toolkit = Toolkit.make(Transfer, Pay, LookUp)

export const agent = Agent.make({ name: "clerk", toolkit })

const does =
  (what: string) =>
  ({ amount }: { readonly amount: number }, { toolCallId }: { readonly toolCallId?: string | undefined }) =>
    pass("before the call").pipe(
      Effect.andThen(Effect.sleep(Math.random() * 20)),
      Effect.andThen(write(`${what} ${toolCallId}`)),
      Effect.andThen(pass("after the effect")),
      Effect.as(`${what} ${amount}`)
    )

export const handlers = toolkit.toLayer({
  transfer: does("transfer"),
  pay: does("pay"),
  look_up: does("look_up")
})

/** Ids are those of a conversation, so that the ledger can be read. */
const call = (prompt: Prompt.Prompt, n: number, name: string): Response.PartEncoded => ({
  type: "tool-call",
  id: `${conversationOf(prompt)}/${n}`,
  name,
  params: { amount: n }
})

const conversationOf = (prompt: Prompt.Prompt): string => {
  const [first] = prompt.content
  const [part] = first?.role === "user" ? first.content : []
  return part?.type === "text" ? part.text : ""
}

/** What the model answers depends on what was said, and on nothing else. */
const answer = (prompt: Prompt.Prompt): ReadonlyArray<Response.PartEncoded> => {
  const turns = prompt.content.filter(({ role }) => role === "assistant").length
  switch (turns) {
    case 0:
      return [call(prompt, 1, "transfer"), call(prompt, 2, "look_up"), call(prompt, 3, "transfer")]
    case 1:
      return [call(prompt, 4, "pay"), call(prompt, 5, "transfer")]
    case 2:
      return [call(prompt, 6, "look_up"), call(prompt, 7, "pay")]
    default:
      return [{ type: "text", text: "done" }]
  }
}

/** How many calls a run makes. */
export const CALLS = 7

/** The turn, counted from 0, in which the model makes its nth call. */
export const turnOf = (call: number): number => (call <= 3 ? 0 : call <= 5 ? 1 : 2)

export const model = Layer.effect(LanguageModel.LanguageModel)(
  LanguageModel.make({
    generateText: ({ prompt }) =>
      Effect.gen(function* () {
        const turn = prompt.content.filter(({ role }) => role === "assistant").length
        yield* write(`asked ${conversationOf(prompt)} ${turn}`)
        yield* pass("in the model's answer")
        const parts = answer(prompt)
        const calls = parts.some(({ type }) => type === "tool-call")
        return [
          ...parts,
          {
            type: "finish",
            reason: calls ? "tool-calls" : "stop",
            usage: { inputTokens: {}, outputTokens: {} }
          }
        ]
      }),
    streamText: () => Stream.empty
  })
)
