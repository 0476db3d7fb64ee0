/**
 * What a user can set when instrumenting a toolkit, and the check that it is meant.
 */
import type * as ContentPolicy from "../content/ContentPolicy.ts"

/** A call, as the hooks of {@link Options} see it. */
export interface ToolCallInfo {
  readonly toolName: string
  readonly toolCallId: string | undefined
  /** The parameters as given to `handle`, encoded, not redacted. */
  readonly params: unknown
}

/** Options of `ToolkitInstrumentation.instrument`. */
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

const checks: Readonly<Record<keyof Options, readonly [allowed: string, ok: (value: unknown) => boolean]>> = {
  agentName: ["a non-empty string", isName],
  conversationId: ["a non-empty string", isName],
  content: ["an object of content options", (value) => typeof value === "object" && value !== null],
  attributes: ["a function of the call", isFunction],
  generateCallId: ["a function without parameters", isFunction],
  metrics: ["true or false", (value) => typeof value === "boolean"]
}

function isName(value: unknown): boolean {
  return typeof value === "string" && value.length > 0
}

function isFunction(value: unknown): boolean {
  return typeof value === "function"
}

/** Throws an `Error` that names the first bad option, its value and what is allowed. */
export const validate = (options: Options): void => {
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(checks, name)) {
      throw new Error(
        `ToolkitInstrumentation.instrument: unknown option "${name}"; allowed: ${Object.keys(checks).join(", ")}`
      )
    }
    if (value === undefined) continue
    const [allowed, ok] = checks[name as keyof Options]
    if (!ok(value)) {
      throw new Error(
        `ToolkitInstrumentation.instrument: option "${name}" is ${describe(value)}; allowed: ${allowed}`
      )
    }
  }
}

const describe = (value: unknown): string =>
  typeof value === "string" ? JSON.stringify(value) : typeof value === "object" ? "an object" : String(value)
