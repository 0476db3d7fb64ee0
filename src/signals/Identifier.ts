/**
 * Ids and names that others make up, in a bounded form.
 */

/** Longest id, and name of a tool that the toolkit lacks, in characters: a model can make up any. */
const LIMIT = 256

/** The identifier, cut if it is very long; always well-formed text. */
export const bounded = (identifier: string): string =>
  identifier.length <= LIMIT ? identifier : identifier.slice(0, LIMIT).toWellFormed()
