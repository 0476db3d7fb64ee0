/**
 * The span of one command of a session: named for the shell, with its process id, the exit code and, as the content policy allows for
 * arguments, the command.
 */
import * as Effect from "effect/Effect"
import type * as Tracer from "effect/Tracer"
import type * as ContentPolicy from "../../content/ContentPolicy.ts"
import * as ContentAttribute from "../process/ContentAttribute.ts"
import * as ProcessAttributes from "../process/ProcessAttributes.ts"

/** Runs `effect`, which runs `command`, in a span of its own. `content` wins over the policy in scope. */
export const withCommandSpan =
  (executable: string, command: string, content: ContentPolicy.Options | undefined) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, Tracer.ParentSpan>> =>
    Effect.andThen(
      ContentAttribute.annotate(
        ProcessAttributes.ATTR_PROCESS_COMMAND_LINE,
        "AnthropicBash",
        command,
        content
      ),
      effect
    ).pipe(
      Effect.withSpan(executable, {
        kind: "client",
        attributes: { [ProcessAttributes.ATTR_PROCESS_EXECUTABLE_NAME]: executable }
      })
    )
