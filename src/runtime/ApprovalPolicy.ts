/**
 * Whether a call needs an approval: by its tool, statically or for these very parameters, and by the agent.
 */
import type * as Prompt from "effect/ai/Prompt"
import type * as Tool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import { type Definition, isDestructive } from "./Definition.ts"

/**
 * Fails closed: a tool that cannot say, because it fails or dies, needs one. Parameters that do not decode need none: such a call never
 * reaches its handler.
 */
export const isNeeded = (
  definition: Definition,
  tool: Tool.Any,
  call: Prompt.ToolCallPart,
  messages: ReadonlyArray<Prompt.Message>
): boolean | Effect.Effect<boolean> => {
  if (definition.askDestructive && isDestructive(tool)) return true
  const { needsApproval } = tool
  if (typeof needsApproval !== "function") return needsApproval ?? false
  // The boundary where the type of the parameters ends. What decoding needs was provided with the toolkit.
  const decoding = Schema.decodeUnknownEffect(tool.parametersSchema)(call.params) as Effect.Effect<
    unknown,
    unknown
  >
  return Effect.flatMap(Effect.exit(decoding), (params) => {
    if (Exit.isFailure(params)) return Effect.succeed(false)
    return Effect.suspend(() => {
      const needed = needsApproval(params.value, { toolCallId: call.id, messages })
      return (Effect.isEffect(needed) ? needed : Effect.succeed(needed)) as Effect.Effect<boolean>
    }).pipe(Effect.catchCause(() => Effect.succeed(true)))
  })
}
