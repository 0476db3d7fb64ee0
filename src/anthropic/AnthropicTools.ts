/**
 * The tools that Anthropic defines, one definition for each version of the API.
 */
export * from "./ServerTools.ts"
