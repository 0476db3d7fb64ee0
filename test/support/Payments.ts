/** Tools for tests of approvals: some that need one, some that do not; and a conversation with a model that calls them. */
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

const amount = { parameters: Schema.Struct({ amount: Schema.Number }), success: Schema.String }

export class Bounced extends Schema.TaggedError<Bounced>("Bounced")("Bounced", { amount: Schema.Number }) {}

/** Runs when somebody says yes. */
export const Pay = Tool.make("pay", { ...amount, needsApproval: true })
/** Runs when somebody says yes, and fails. */
export const Bounce = Tool.make("bounce", {
  ...amount,
  failure: Bounced,
  failureMode: "return",
  needsApproval: true
})
/** Asks only for large amounts. */
export const Refund = Tool.make("refund", {
  ...amount,
  needsApproval: ({ amount }: { readonly amount: number }) => amount > 100
})
/** Never asks. */
export const Balance = Tool.make("balance", { success: Schema.String })
/** Never asks, and never ends. */
export const Audit = Tool.make("audit", { success: Schema.String })

/** The provider runs it. */
export const Search = Tool.providerDefined({
  id: "test.web_search",
  customName: "web_search",
  providerName: "web_search",
  args: Schema.Struct({}),
  parameters: Schema.Struct({ query: Schema.String }),
  success: Schema.Struct({ hits: Schema.Number })
})({})

export const searchable = Toolkit.make(Search, Balance)

export const toolkit = Toolkit.make(Pay, Bounce, Refund, Balance, Audit)

export const handlers = toolkit.toLayer({
  pay: ({ amount }) => Effect.succeed(`paid ${amount}`).pipe(Effect.withSpan("bank.transfer")),
  bounce: ({ amount }) => Effect.fail(new Bounced({ amount })),
  refund: ({ amount }) => Effect.succeed(`refunded ${amount}`),
  balance: () => Effect.succeed("12 EUR"),
  audit: () => Effect.never
})

export type Method = "generateText" | "streamText"
export const methods: ReadonlyArray<Method> = ["generateText", "streamText"]

/** Any part of an answer, where its type does not matter. */
export type Part = Response.AnyPart

/** One turn of the model, by either method: its parts. A failure is a defect. */
export const turn = (
  method: Method,
  prompt: Prompt.RawInput,
  tools: Toolkit.Toolkit<typeof toolkit.tools> = toolkit
) =>
  Effect.orDie(
    method === "generateText"
      ? Effect.map(
          LanguageModel.generateText({ prompt, toolkit: tools }),
          ({ content }): ReadonlyArray<Part> => content
        )
      : Stream.runCollect(LanguageModel.streamText({ prompt, toolkit: tools }))
  )

/** The conversation after an answer, as it comes back from a store. */
export const after = (prompt: Prompt.Prompt, parts: ReadonlyArray<Part>): Prompt.Prompt =>
  restored(Prompt.concat(prompt, Prompt.fromResponseParts(parts)))

/** The conversation through JSON. */
export const restored = (prompt: Prompt.Prompt): Prompt.Prompt =>
  Schema.decodeUnknownSync(Prompt.Prompt)(
    JSON.parse(JSON.stringify(Schema.encodeSync(Prompt.Prompt)(prompt)))
  )

/** The conversation with decisions. */
export const decided = (
  prompt: Prompt.Prompt,
  ...content: ReadonlyArray<Prompt.ToolApprovalResponsePart>
): Prompt.Prompt => Prompt.concat(prompt, Prompt.fromMessages([Prompt.toolMessage({ content })]))
