/**
 * The tools that Anthropic defines, one definition for each version of the API.
 */
export * from "./ServerTools.ts"
export { Bash_20241022, Bash_20250124 } from "./tools/Bash.ts"
export {
  ComputerUse_20241022,
  ComputerUse_20250124,
  ComputerUse_20251124
} from "./tools/ComputerUse.ts"
export { Memory_20250818 } from "./tools/Memory.ts"
export {
  TextEditor_20241022,
  TextEditor_20250124,
  TextEditor_20250429,
  TextEditor_20250728
} from "./tools/TextEditor.ts"
