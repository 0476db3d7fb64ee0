/**
 * The agent of `toolspan run --model`: it works in the current directory, with an editor and a shell, and asks before each change and each
 * command.
 */

import type * as LanguageModel from "effect/ai/LanguageModel"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as AnthropicTools from "../../anthropic/AnthropicTools.ts"
import * as BashHandler from "../../anthropic/bash/BashHandler.ts"
import * as BashSession from "../../anthropic/bash/BashSession.ts"
import * as TextEditorHandler from "../../anthropic/directory/TextEditorHandler.ts"
import * as ToolkitInstrumentation from "../../instrumentation/ToolkitInstrumentation.ts"
import * as Agent from "../../runtime/Agent.ts"
import type { AgentRuntime } from "../../runtime/AgentRuntime.ts"

const toolkit = Toolkit.make(AnthropicTools.TextEditor_20250728(), AnthropicTools.Bash_20250124())

export const agent = Agent.make({
  name: "assistant",
  instructions:
    "You help in the current directory, by an editor, whose paths are relative to it, and a shell. Somebody reads every change and every command before it is made.",
  toolkit: ToolkitInstrumentation.instrument(toolkit)
})

export const layer = <E>(
  model: Layer.Layer<LanguageModel.LanguageModel, E>
): Layer.Layer<never, E, AgentRuntime> =>
  agent.layer.pipe(
    Layer.provide(model),
    Layer.provide(
      toolkit.toLayer(
        Effect.map(BashHandler.make, (bash) => ({
          ...TextEditorHandler.make({ directory: process.cwd() }),
          ...bash
        }))
      )
    ),
    Layer.provide(BashSession.layer())
  )
