/** Random conversations about approvals: parts in any order and grouping, of few ids, which are used again, and belong to nothing. */
import * as Prompt from "effect/ai/Prompt"
import * as fc from "fast-check"

const id = fc.constantFrom("x", "y", "z")

const call = fc
  .record({ id, name: fc.constantFrom("pay", "refund"), params: fc.record({ amount: fc.nat(9) }) })
  .map((part) => Prompt.toolCallPart({ ...part, providerExecuted: false }))

const request = fc
  .record({ approvalId: id, toolCallId: id })
  .map((part) => Prompt.toolApprovalRequestPart(part))

const response = fc
  .record({ approvalId: id, approved: fc.boolean() })
  .map((part) => Prompt.toolApprovalResponsePart(part))

const result = id.map((id) =>
  Prompt.toolResultPart({ id, name: "pay", isFailure: false, result: "paid", providerExecuted: false })
)

const text = fc.constant(Prompt.textPart({ text: "x" }))

/** Few results: each settles its call for good. */
const message: fc.Arbitrary<Prompt.Message> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .array(
        fc.oneof(
          { weight: 6, arbitrary: fc.oneof(call, request) },
          { weight: 1, arbitrary: fc.oneof(result, text) }
        ),
        { maxLength: 4 }
      )
      .map((content) => Prompt.assistantMessage({ content }))
  },
  {
    weight: 3,
    arbitrary: fc
      .array(fc.oneof({ weight: 4, arbitrary: response }, { weight: 1, arbitrary: result }), { maxLength: 3 })
      .map((content) => Prompt.toolMessage({ content }))
  },
  { weight: 1, arbitrary: text.map((part) => Prompt.userMessage({ content: [part] })) },
  { weight: 1, arbitrary: fc.constant(Prompt.systemMessage({ content: "x" })) }
)

export const conversation = fc.array(message, { maxLength: 14 })

/** All parts of one type in the messages of one role, in their order. */
export const partsOf = <Type extends Prompt.Part["type"]>(
  messages: ReadonlyArray<Prompt.Message>,
  role: Prompt.Message["role"],
  type: Type
): ReadonlyArray<Extract<Prompt.Part, { readonly type: Type }>> =>
  messages
    .filter((message) => message.role === role)
    .flatMap(({ content }): ReadonlyArray<Prompt.Part> => (typeof content === "string" ? [] : content))
    .filter((part): part is Extract<Prompt.Part, { readonly type: Type }> => part.type === type)
