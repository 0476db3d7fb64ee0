/**
 * The ids that a store takes: of runs, of conversations, of calls.
 */

const MAX_LENGTH = 256

/** What an id must be, for errors. */
export const ALLOWED = `1 to ${MAX_LENGTH} characters, no control characters among them`

/** Whether it is one. */
export const isValid = (id: unknown): boolean =>
  typeof id === "string" && id.length > 0 && id.length <= MAX_LENGTH && !/\p{Cc}|\p{Cs}/u.test(id)
