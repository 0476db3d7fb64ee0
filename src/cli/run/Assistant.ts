/**
 * The agent of `toolspan run --model`: it works in the current directory, by a shell, and asks before each command.
 */

import type * as LanguageModel from "effect/ai/LanguageModel"
import * as Toolkit from "effect/ai/Toolkit"
import * as Layer from "effect/Layer"
import * as AnthropicTools from "../../anthropic/AnthropicTools.ts"
import * as BashHandler from "../../anthropic/bash/BashHandler.ts"
import * as BashSession from "../../anthropic/bash/BashSession.ts"
import * as ToolkitInstrumentation from "../../instrumentation/ToolkitInstrumentation.ts"
import * as Agent from "../../runtime/Agent.ts"
import type { AgentRuntime } from "../../runtime/AgentRuntime.ts"

const toolkit = Toolkit.make(AnthropicTools.Bash_20250124())

export const agent = Agent.make({
  name: "assistant",
  instructions: "You help in the directory that you are in. Somebody reads every command before it runs.",
  toolkit: ToolkitInstrumentation.instrument(toolkit)
})

export const layer = <E>(
  model: Layer.Layer<LanguageModel.LanguageModel, E>
): Layer.Layer<never, E, AgentRuntime> =>
  agent.layer.pipe(
    Layer.provide(model),
    Layer.provide(toolkit.toLayer(BashHandler.make)),
    Layer.provide(BashSession.layer())
  )
