/**
 * Where a tool call comes from: agent, conversation, and the place in a trace that asked for it.
 *
 * Whoever resolves a call provides these references around `handle`; the toolkit wrapper only reads them. Each has a default
 * that says "not known".
 */
import * as Context from "effect/Context"
import type * as Tracer from "effect/Tracer"

/** Name of the agent that acts in this scope; becomes `gen_ai.agent.name`. Not known by default. */
export const CurrentAgent = Context.Reference<string | undefined>("toolspan/propagation/CurrentAgent", {
  defaultValue: () => undefined
})

/** Id of the conversation in this scope; becomes `gen_ai.conversation.id`. Not known by default. */
export const CurrentConversation = Context.Reference<string | undefined>(
  "toolspan/propagation/CurrentConversation",
  { defaultValue: () => undefined }
)

/** What is known of the asking of one tool call. */
export interface Origin {
  /** The span of the turn that asked: the tool span becomes its child, in its trace. */
  readonly parent?: Tracer.AnySpan | undefined
  /** Whether the tool span links to the span under which the call runs; default: if that is another than `parent`. */
  readonly linked?: boolean | undefined
  /** Id of the approval that let the call run. */
  readonly approvalId?: string | undefined
  /** Which attempt at the same call this is, from 1. */
  readonly attempt?: number | undefined
}

/**
 * Origin of the one call of `handle` that it is provided around. The wrapper consumes it: the handler, and whatever the handler
 * calls, sees none.
 */
export const ToolCallOrigin = Context.Reference<Origin | undefined>("toolspan/propagation/ToolCallOrigin", {
  defaultValue: () => undefined
})
