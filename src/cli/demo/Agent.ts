/**
 * The agent of the demo: turns of a model, with the toolkit instrumented, until it calls no more tools.
 */

import * as LanguageModel from "effect/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import * as Effect from "effect/Effect"
import * as ToolkitInstrumentation from "../../instrumentation/ToolkitInstrumentation.ts"
import { CurrentAgent } from "../../propagation/Origin.ts"
import {
  ATTR_GEN_AI_AGENT_NAME,
  ATTR_GEN_AI_OPERATION_NAME,
  OPERATION_INVOKE_AGENT
} from "../../semconv/Attributes.ts"
import * as Workspace from "./Workspace.ts"

const name = "workspace-auditor"

/** The toolkit, as a user would wrap it. Error texts are shown, too: these are the demo's own. */
const toolkit = ToolkitInstrumentation.instrument(Workspace.toolkit, { content: { errors: "redacted" } })

/** Answers the question, in one trace. */
export const run = Effect.fnUntraced(
  function* (question: string) {
    const { traceId } = yield* Effect.currentSpan
    let prompt = Prompt.make(question)
    let response = yield* LanguageModel.generateText({ prompt, toolkit })
    while (response.toolCalls.length > 0) {
      prompt = Prompt.concat(prompt, Prompt.fromResponseParts(response.content))
      response = yield* LanguageModel.generateText({ prompt, toolkit })
    }
    return { text: response.text, traceId }
  },
  Effect.provideService(CurrentAgent, name),
  Effect.withSpan(`${OPERATION_INVOKE_AGENT} ${name}`, {
    attributes: { [ATTR_GEN_AI_OPERATION_NAME]: OPERATION_INVOKE_AGENT, [ATTR_GEN_AI_AGENT_NAME]: name }
  })
)
