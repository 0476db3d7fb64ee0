/**
 * Writes content on the recorded span of one tool call, as far as the content policy allows.
 *
 * All text of arguments, results, descriptions and failures passes here. What cannot be captured is counted as dropped; what was cut is
 * listed on the span.
 */

import * as Tool from "effect/ai/Tool"
import type * as Context from "effect/Context"
import type * as Tracer from "effect/Tracer"
import * as Capture from "../content/Capture.ts"
import type * as ContentPolicy from "../content/ContentPolicy.ts"
import type { Mask } from "../content/SensitiveSchema.ts"
import {
  ATTR_GEN_AI_TOOL_CALL_ARGUMENTS,
  ATTR_GEN_AI_TOOL_CALL_RESULT,
  ATTR_GEN_AI_TOOL_DESCRIPTION,
  ATTR_TOOLSPAN_CONTENT_TRUNCATED,
  ATTR_TOOLSPAN_PRELIMINARY_RESULT,
  EVENT_TOOLSPAN_PRELIMINARY
} from "../semconv/Attributes.ts"
import type { Failure } from "./Ending.ts"
import type { InstrumentedTool } from "./InstrumentedTool.ts"
import type { Options, ToolCallInfo } from "./Options.ts"
import * as ToolMetrics from "./ToolMetrics.ts"

/** Every method may be called on any span: one that throws is the tracer's matter, and ignored. */
export class SpanContent {
  readonly #span: Tracer.Span
  readonly #policy: ContentPolicy.Policy
  readonly #tool: InstrumentedTool
  readonly #toolName: string
  readonly #context: Context.Context<never>
  #truncated: Array<string> | undefined

  constructor(
    span: Tracer.Span,
    policy: ContentPolicy.Policy,
    tool: InstrumentedTool,
    toolName: string,
    context: Context.Context<never>
  ) {
    this.#span = span
    this.#policy = policy
    this.#tool = tool
    this.#toolName = toolName
    this.#context = context
  }

  /** The parameters, and the tool's description, when the call starts. */
  started(params: unknown): void {
    if (this.#policy.arguments !== "off") {
      this.#attribute(ATTR_GEN_AI_TOOL_CALL_ARGUMENTS, "arguments", params, this.#tool.argumentsMask)
    }
    if (this.#policy.descriptions !== "off" && this.#tool.tool !== undefined) {
      const description = Tool.getDescription(this.#tool.tool)
      if (description !== undefined) {
        this.#attribute(ATTR_GEN_AI_TOOL_DESCRIPTION, "descriptions", description, undefined)
      }
    }
  }

  /** The encoded final result of a successful call. */
  result(encoded: unknown): void {
    if (this.#policy.results !== "off") {
      this.#attribute(ATTR_GEN_AI_TOOL_CALL_RESULT, "results", encoded, this.#tool.resultMask)
    }
  }

  /** A preliminary result, as an event; with its encoded value where the policy allows. */
  preliminary(encoded: unknown, time: bigint): void {
    const text =
      this.#policy.results === "off"
        ? undefined
        : this.#capture(ATTR_TOOLSPAN_PRELIMINARY_RESULT, "results", encoded, "event", this.#tool.resultMask)
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
    if (this.#policy.errors === "off") return undefined
    const { error } = failure
    const message = error instanceof Error ? error.message : typeof error === "string" ? error : undefined
    return message === undefined
      ? undefined
      : this.#capture("exception.message", "errors", message, "span", undefined)
  }

  /** Says on the span what was cut. */
  ended(): void {
    if (this.#truncated !== undefined) this.#write(ATTR_TOOLSPAN_CONTENT_TRUNCATED, this.#truncated)
  }

  #attribute(key: string, kind: ContentPolicy.ContentKind, value: unknown, mask: Mask | undefined): void {
    const text = this.#capture(key, kind, value, "span", mask)
    if (text !== undefined) this.#write(key, text)
  }

  #write(key: string, value: unknown): void {
    try {
      this.#span.attribute(key, value)
    } catch {}
  }

  #capture(
    key: string,
    kind: ContentPolicy.ContentKind,
    value: unknown,
    signal: "span" | "event",
    mask: Mask | undefined
  ): string | undefined {
    const captured = Capture.capture(
      this.#policy,
      { kind, toolName: this.#toolName, value },
      { signal, mask }
    )
    switch (captured._tag) {
      case "Captured":
        if (captured.originalBytes !== undefined) this.#cut(key, captured.originalBytes)
        return captured.text
      case "Dropped":
        ToolMetrics.dropped(captured.reason, this.#context)
        return undefined
      case "Off":
        return undefined
    }
  }

  /** A span keeps one entry a name, so that a stream of large preliminary results does not grow it. */
  #cut(key: string, bytes: number): void {
    this.#truncated ??= []
    if (!this.#truncated.some((entry) => entry.startsWith(`${key}:`))) this.#truncated.push(`${key}:${bytes}`)
  }
}
