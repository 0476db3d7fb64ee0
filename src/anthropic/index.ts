/**
 * Anthropic's models as a `LanguageModel` of effect/ai, and Anthropic's tools. The client needs the package `@anthropic-ai/sdk`.
 */
export * as AnthropicClient from "./AnthropicClient.ts"
export * as AnthropicLanguageModel from "./AnthropicLanguageModel.ts"
export * as AnthropicTools from "./AnthropicTools.ts"
export * as BashHandler from "./bash/BashHandler.ts"
export * as BashSession from "./bash/BashSession.ts"
export * as ComputerHandler from "./computer/ComputerHandler.ts"
export * as MemoryHandler from "./directory/MemoryHandler.ts"
export * as TextEditorHandler from "./directory/TextEditorHandler.ts"
export type { ModelConfig } from "./ModelConfig.ts"
export type { CacheControl, ErrorInfo, Finish, Thinking } from "./ProviderMetadata.ts"
export { ToolOptions } from "./ToolOptions.ts"
