/**
 * The agent of the demo: turns of a model, observed, until it calls no more tools, or waits for an answer that nobody gives now.
 */

import * as LanguageModel from "effect/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import * as Effect from "effect/Effect"
import type * as Tracer from "effect/Tracer"
import * as LanguageModelInstrumentation from "../../instrumentation/LanguageModelInstrumentation.ts"
import * as Approval from "../../propagation/Approval.ts"
import { CurrentAgent } from "../../propagation/Origin.ts"
import * as TraceContext from "../../propagation/TraceContext.ts"
import {
  ATTR_GEN_AI_AGENT_NAME,
  ATTR_GEN_AI_OPERATION_NAME,
  OPERATION_INVOKE_AGENT
} from "../../semconv/Attributes.ts"
import * as ScriptedModel from "../../testing/ScriptedModel.ts"
import type * as Answer from "./Answer.ts"
import type * as SavedConversation from "./SavedConversation.ts"
import * as Workspace from "./Workspace.ts"

const name = "workspace-auditor"

/** The model, as a user would observe theirs. Error texts and reasons are shown, too: these are the demo's own. */
export const model = (turns: ReadonlyArray<ScriptedModel.Turn>) =>
  LanguageModelInstrumentation.layer(ScriptedModel.layer(turns), {
    content: { errors: "redacted", reasons: "redacted" }
  })

/** How far the agent came. */
export interface Outcome {
  /** Its answer; undefined while it waits for one. */
  readonly text: string | undefined
  readonly conversation: SavedConversation.SavedConversation
  readonly traceId: string
}

/** Goes on with the conversation in one trace: that of `parent`, if there is one. */
export const run = (conversation: Prompt.Prompt, answer: Answer.Answer, parent: Tracer.AnySpan | undefined) =>
  turns(conversation, answer).pipe(
    Effect.provideService(CurrentAgent, name),
    Effect.withSpan(`${OPERATION_INVOKE_AGENT} ${name}`, {
      parent,
      attributes: { [ATTR_GEN_AI_OPERATION_NAME]: OPERATION_INVOKE_AGENT, [ATTR_GEN_AI_AGENT_NAME]: name }
    })
  )

const turns = Effect.fnUntraced(function* (conversation: Prompt.Prompt, answer: Answer.Answer) {
  const span = yield* Effect.currentSpan
  const outcome = (prompt: Prompt.Prompt, text: string | undefined): Outcome => ({
    text,
    traceId: span.traceId,
    conversation: { prompt, trace: TraceContext.fromSpan(span) }
  })
  let prompt = conversation
  while (true) {
    const pending = Approval.pending(prompt)
    if (pending.length > 0) {
      const content = yield* answer(pending)
      if (content.length === 0) return outcome(prompt, undefined)
      prompt = Prompt.concat(prompt, Prompt.fromMessages([Prompt.toolMessage({ content })]))
    }
    const response = yield* LanguageModel.generateText({ prompt, toolkit: Workspace.toolkit })
    prompt = Prompt.concat(prompt, Prompt.fromResponseParts(response.content))
    if (response.toolCalls.length === 0) return outcome(prompt, response.text)
  }
})
