/**
 * A run of an agent with one tool call, in memory and not traced, next to the loop that one would write by hand.
 */

import * as LanguageModel from "effect/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Agent from "../src/runtime/Agent.ts"
import * as AgentRuntime from "../src/runtime/AgentRuntime.ts"
import * as Measure from "./Measure.ts"
import { handlers, toolkit } from "./ToolCall.ts"
import { bare } from "./Turn.ts"

const BATCH = 20

const byHand = (prompt: Prompt.RawInput) =>
  Effect.gen(function* () {
    let history = Prompt.make(prompt)
    while (true) {
      const response = yield* LanguageModel.generateText({ prompt: history, toolkit })
      const parts: Array<Response.AnyPart> = response.content
      history = Prompt.concat(history, Prompt.fromResponseParts(parts))
      if (response.toolCalls.length === 0) return response.text
    }
  })

const agent = Agent.make({ name: "forecaster", toolkit })

const batch = <A, E, R>(run: Effect.Effect<A, E, R>) =>
  Effect.forEach(Array.from({ length: BATCH }), () => run, { discard: true })

export const run = async (rounds: number): Promise<void> => {
  const model = Layer.effect(LanguageModel.LanguageModel)(bare)
  const question = "How will the weather be?"
  const runtime = agent.layer.pipe(
    Layer.provide([model, handlers]),
    Layer.provideMerge(AgentRuntime.layerMemory)
  )
  const rows = await Measure.compare(
    [
      [
        "a loop over generateText",
        () => Effect.runPromise(batch(byHand(question)).pipe(Effect.provide([model, handlers])))
      ],
      [
        "the runtime in memory",
        () => Effect.runPromise(batch(agent.generate({ prompt: question })).pipe(Effect.provide(runtime)))
      ]
    ],
    { batch: BATCH, rounds }
  )
  Measure.print("A run with one tool call: two model requests, not traced", rows, {
    "the runtime in memory": 1.5
  })
}
