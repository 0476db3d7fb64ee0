/**
 * The tools that Anthropic defines, one definition for each version of the API.
 */
export * from "./ServerTools.ts"
export { Bash_20241022, Bash_20250124 } from "./tools/Bash.ts"
