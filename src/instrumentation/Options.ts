/**
 * What a user can set when instrumenting a toolkit, and the check that it is meant.
 */
import type * as ContentPolicy from "../content/ContentPolicy.ts"
import * as Check from "../options/Check.ts"

/** A call, as the hooks of {@link Options} see it. */
export interface ToolCallInfo {
  readonly toolName: string
  readonly toolCallId: string | undefined
  /** The parameters as given to `handle`, encoded, not redacted. */
  readonly params: unknown
}

/** Options of `ToolkitInstrumentation.instrument`, and of `LanguageModelInstrumentation` for the toolkits handed to its models. */
export interface Options {
  /** `gen_ai.agent.name` where the scope of the call names none (`CurrentAgent`). */
  readonly agentName?: string | undefined
  /** `gen_ai.conversation.id` where the scope of the call names none (`CurrentConversation`). */
  readonly conversationId?: string | undefined
  /** What content to capture; default: the `ContentPolicy` of the scope of the call. A tool's own annotation wins over both. */
  readonly content?: ContentPolicy.Options | undefined
  /**
   * More attributes for the span, asked for when it starts and only if it is recorded. They are yours: not redacted, not capped. If it
   * throws, they are dropped and counted.
   */
  readonly attributes?: ((call: ToolCallInfo) => Readonly<Record<string, unknown>>) | undefined
  /** Gives the *handler* a call id when the caller gave none. The span never shows it. */
  readonly generateCallId?: (() => string) | undefined
  /** Whether to update metrics; default `true`. */
  readonly metrics?: boolean | undefined
}

const checks: Check.Checks<Options> = {
  agentName: ["a non-empty string", Check.isText],
  conversationId: ["a non-empty string", Check.isText],
  content: ["an object of content options", Check.isRecord],
  attributes: ["a function of the call", Check.isFunction],
  generateCallId: ["a function without parameters", Check.isFunction],
  metrics: ["true or false", Check.isBoolean]
}

/** Throws an `Error` that names the first bad option of `subject`, its value and what is allowed. */
export const validate = (subject: string, options: Options): void => Check.validate(subject, checks, options)
