/**
 * Names for failures: the value of `error.type`.
 *
 * Low in cardinality by construction: a tag or a class name that the program's authors chose, never text of the failure.
 */
import * as AiError from "effect/ai/AiError"
import * as Predicate from "effect/Predicate"
import { redactText } from "../content/Redaction.ts"
import { OTHER } from "../semconv/Attributes.ts"

/** What a tag or a class name looks like, a package's included; anything else may be content. */
const identifier = /^@?[\w$.-]{1,60}(?:\/[\w$.-]{1,60}){0,3}$/

/**
 * The class of a failure or defect: the reason's tag of an `AiError`, else `_tag`, else the class name of an error object,
 * else `_OTHER`. Never throws, whatever it is given.
 */
export const fromUnknown = (error: unknown): string => {
  try {
    const name = nameOf(error)
    return name !== undefined && identifier.test(name) && redactText(name) === name ? name : OTHER
  } catch {
    return OTHER
  }
}

const nameOf = (error: unknown): string | undefined => {
  if (AiError.isAiError(error)) return error.reason._tag
  if (!Predicate.isObject(error)) return undefined
  if ("_tag" in error && typeof error._tag === "string") return error._tag
  return error instanceof Error ? error.constructor.name : undefined
}
