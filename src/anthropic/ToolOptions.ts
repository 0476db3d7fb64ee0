/**
 * Fields of a tool's definition that effect/ai has no place for, as an annotation: `tool.annotate(ToolOptions, { defer_loading: true })`.
 * Server tools take them as arguments, too.
 */
import type { BetaTool } from "@anthropic-ai/sdk/resources/beta/messages"
import * as Context from "effect/Context"

export type Options = Pick<
  BetaTool,
  "allowed_callers" | "cache_control" | "defer_loading" | "eager_input_streaming" | "input_examples"
>

export const ToolOptions = Context.Reference<Options>("toolspan/anthropic/ToolOptions", {
  defaultValue: () => ({})
})
