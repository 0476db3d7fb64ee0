/**
 * An attribute of the current span that says what a tool was asked for: as the content policy allows for arguments, secrets masked.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Capture from "../../content/Capture.ts"
import * as ContentPolicy from "../../content/ContentPolicy.ts"

/** Writes it, if it may be and anybody looks. `content` wins over the policy in scope. Never fails. */
export const annotate = (
  attribute: string,
  toolName: string,
  text: string,
  content: ContentPolicy.Options | undefined
): Effect.Effect<void> =>
  Effect.gen(function* () {
    const span = yield* Effect.currentSpan
    if (!span.sampled) return
    const policy = ContentPolicy.forTool(yield* ContentPolicy.ContentPolicy, content)
    const captured = Capture.capture(policy, { kind: "arguments", toolName, value: text }, { signal: "span" })
    if (captured._tag === "Captured") span.attribute(attribute, unwrapped(captured.text))
  }).pipe(Effect.ignore)

/** Arguments are captured as the JSON of an object: a text is its field `value`. */
const unwrapped = (json: string): string => {
  const parsed: unknown = JSON.parse(json)
  return Predicate.hasProperty(parsed, "value") && typeof parsed.value === "string" ? parsed.value : json
}
