/**
 * The span of one command of a session: named for the shell, with its process id, the exit code and, as the content policy allows for
 * arguments, the command.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Tracer from "effect/Tracer"
import * as Capture from "../../content/Capture.ts"
import * as ContentPolicy from "../../content/ContentPolicy.ts"
import * as ProcessAttributes from "../process/ProcessAttributes.ts"

/** Runs `effect`, which runs `command`, in a span of its own. `content` wins over the policy in scope. */
export const withCommandSpan =
  (executable: string, command: string, content: ContentPolicy.Options | undefined) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, Tracer.ParentSpan>> =>
    Effect.andThen(writeCommand(command, content), effect).pipe(
      Effect.withSpan(executable, {
        kind: "client",
        attributes: { [ProcessAttributes.ATTR_PROCESS_EXECUTABLE_NAME]: executable }
      })
    )

const writeCommand = (command: string, content: ContentPolicy.Options | undefined): Effect.Effect<void> =>
  Effect.gen(function* () {
    const span = yield* Effect.currentSpan
    if (!span.sampled) return
    const policy = ContentPolicy.forTool(yield* ContentPolicy.ContentPolicy, content)
    const captured = Capture.capture(
      policy,
      { kind: "arguments", toolName: "AnthropicBash", value: command },
      { signal: "span" }
    )
    if (captured._tag !== "Captured") return
    span.attribute(ProcessAttributes.ATTR_PROCESS_COMMAND_LINE, unwrapped(captured.text))
  }).pipe(Effect.ignore)

/** Arguments are captured as the JSON of an object: a text is its field `value`. */
const unwrapped = (json: string): string => {
  const parsed: unknown = JSON.parse(json)
  return Predicate.hasProperty(parsed, "value") && typeof parsed.value === "string" ? parsed.value : json
}
