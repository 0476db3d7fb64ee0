/**
 * The content of one tool call on its recorded span: arguments, results, description and failures, as far as the content policy allows.
 */

import * as Tool from "effect/ai/Tool"
import type * as Context from "effect/Context"
import type * as Tracer from "effect/Tracer"
import type * as ContentPolicy from "../content/ContentPolicy.ts"
import {
  ATTR_EXCEPTION_MESSAGE,
  ATTR_GEN_AI_TOOL_CALL_ARGUMENTS,
  ATTR_GEN_AI_TOOL_CALL_RESULT,
  ATTR_GEN_AI_TOOL_DESCRIPTION,
  ATTR_TOOLSPAN_PRELIMINARY_RESULT,
  EVENT_TOOLSPAN_PRELIMINARY
} from "../semconv/Attributes.ts"
import { ContentWriter } from "../signals/ContentWriter.ts"
import type { Failure } from "../signals/Ending.ts"
import type { InstrumentedTool } from "../signals/InstrumentedTool.ts"
import * as ToolMetrics from "../signals/ToolMetrics.ts"
import type { Options, ToolCallInfo } from "./Options.ts"

/** Every method may be called on any span: one that throws is the tracer's matter, and ignored. */
export class SpanContent {
  readonly #span: Tracer.Span
  readonly #writer: ContentWriter
  readonly #tool: InstrumentedTool
  readonly #context: Context.Context<never>

  constructor(
    span: Tracer.Span,
    policy: ContentPolicy.Policy,
    tool: InstrumentedTool,
    toolName: string,
    context: Context.Context<never>
  ) {
    this.#span = span
    this.#writer = new ContentWriter(span, policy, toolName, context)
    this.#tool = tool
    this.#context = context
  }

  /** The parameters, and the tool's description, when the call starts. */
  started(params: unknown): void {
    const { policy } = this.#writer
    if (policy.arguments !== "off") {
      this.#writer.attribute(ATTR_GEN_AI_TOOL_CALL_ARGUMENTS, "arguments", params, this.#tool.argumentsMask)
    }
    if (policy.descriptions !== "off" && this.#tool.tool !== undefined) {
      const description = Tool.getDescription(this.#tool.tool)
      if (description !== undefined) {
        this.#writer.attribute(ATTR_GEN_AI_TOOL_DESCRIPTION, "descriptions", description)
      }
    }
  }

  /** The encoded final result of a successful call. */
  result(encoded: unknown): void {
    if (this.#writer.policy.results !== "off") {
      this.#writer.attribute(ATTR_GEN_AI_TOOL_CALL_RESULT, "results", encoded, this.#tool.resultMask)
    }
  }

  /** A preliminary result, as an event; with its encoded value where the policy allows. */
  preliminary(encoded: unknown, time: bigint): void {
    const text =
      this.#writer.policy.results === "off"
        ? undefined
        : this.#writer.capture(
            ATTR_TOOLSPAN_PRELIMINARY_RESULT,
            "results",
            encoded,
            "event",
            this.#tool.resultMask
          )
    try {
      this.#span.event(
        EVENT_TOOLSPAN_PRELIMINARY,
        time,
        text === undefined ? {} : { [ATTR_TOOLSPAN_PRELIMINARY_RESULT]: text }
      )
    } catch {}
  }

  /** The user's own attributes. */
  custom(hook: NonNullable<Options["attributes"]>, call: ToolCallInfo): void {
    try {
      const attributes = hook(call)
      for (const key in attributes) this.#span.attribute(key, attributes[key])
    } catch {
      ToolMetrics.dropped("hook_failed", this.#context)
    }
  }

  /** The message of a failure, for status description and exception event; undefined where the policy says no. */
  failure(failure: Failure): string | undefined {
    if (this.#writer.policy.errors === "off") return undefined
    const { error } = failure
    const message = error instanceof Error ? error.message : typeof error === "string" ? error : undefined
    return message === undefined
      ? undefined
      : this.#writer.capture(ATTR_EXCEPTION_MESSAGE, "errors", message, "span")
  }

  /** Says on the span what was cut. */
  ended(): void {
    this.#writer.ended()
  }
}
