/**
 * The prompt of a turn, read once: by the observer and by upstream.
 */
import * as Prompt from "effect/ai/Prompt"
import * as Predicate from "effect/Predicate"

/**
 * The prompt as upstream makes it; or, if it is none, what upstream will refuse in the same way. An iterable can often be read only
 * once, which is here.
 */
export const read = (input: Prompt.RawInput): Prompt.RawInput => {
  // Upstream takes what is no iterable as the prompt that its type says it is.
  if (typeof input === "string" || !Predicate.isIterable(input)) return input
  let messages: ReadonlyArray<Prompt.MessageEncoded>
  try {
    messages = Array.from(input)
  } catch (error) {
    return failing(error)
  }
  try {
    return Prompt.make(messages)
  } catch {
    return messages
  }
}

/** An iterable that ends as the one that was read. */
const failing = (error: unknown): Iterable<never> => ({
  [Symbol.iterator]: () => {
    throw error
  }
})
