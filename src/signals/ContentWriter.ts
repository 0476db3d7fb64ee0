/**
 * Writes content on one recorded span, as far as a content policy allows.
 *
 * What cannot be captured is counted as dropped; what was cut is listed on the span.
 */
import type * as Context from "effect/Context"
import type * as Tracer from "effect/Tracer"
import * as Capture from "../content/Capture.ts"
import type * as ContentPolicy from "../content/ContentPolicy.ts"
import type { Mask } from "../content/SensitiveSchema.ts"
import { ATTR_TOOLSPAN_CONTENT_TRUNCATED } from "../semconv/Attributes.ts"
import * as ToolMetrics from "./ToolMetrics.ts"

/** Every method may be called on any span: one that throws is the tracer's matter, and ignored. */
export class ContentWriter {
  readonly policy: ContentPolicy.Policy
  readonly #span: Tracer.Span
  readonly #toolName: string | undefined
  readonly #context: Context.Context<never>
  #truncated: Array<string> | undefined

  /** `toolName`: of the tool that the content is of, if it is of one. */
  constructor(
    span: Tracer.Span,
    policy: ContentPolicy.Policy,
    toolName: string | undefined,
    context: Context.Context<never>
  ) {
    this.policy = policy
    this.#span = span
    this.#toolName = toolName
    this.#context = context
  }

  /** Captures a piece of content as an attribute. */
  attribute(key: string, kind: ContentPolicy.ContentKind, value: unknown, mask?: Mask): void {
    const text = this.capture(key, kind, value, "span", mask)
    if (text !== undefined) this.#write(key, text)
  }

  /** The text of a piece of content that becomes `key` of this signal; undefined where it may not, or cannot, be captured. */
  capture(
    key: string,
    kind: ContentPolicy.ContentKind,
    value: unknown,
    signal: "span" | "event",
    mask?: Mask
  ): string | undefined {
    const captured = Capture.capture(this.policy, { kind, toolName: this.#toolName, value }, { signal, mask })
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

  /** Says on the span what was cut. */
  ended(): void {
    if (this.#truncated !== undefined) this.#write(ATTR_TOOLSPAN_CONTENT_TRUNCATED, this.#truncated)
  }

  #write(key: string, value: unknown): void {
    try {
      this.#span.attribute(key, value)
    } catch {}
  }

  /** A span keeps one entry a name, so that a stream of large preliminary results does not grow it. */
  #cut(key: string, bytes: number): void {
    this.#truncated ??= []
    if (!this.#truncated.some((entry) => entry.startsWith(`${key}:`))) this.#truncated.push(`${key}:${bytes}`)
  }
}
