/** Native spans and snapshots to test with: made outside the program, with the times that a test wants. */
import * as Context from "effect/Context"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"
import type { SpanSnapshot, ToolCall } from "../../src/terminal/SpanSnapshot.ts"

export const MILLI = 1_000_000n

/** A span of Effect's own tracer that started `start` milliseconds after the epoch. */
export const start = (
  name: string,
  options: {
    parent?: Tracer.AnySpan
    start?: number
    sampled?: boolean
    attributes?: Record<string, unknown>
  } = {}
): Tracer.NativeSpan => {
  const span = new Tracer.NativeSpan({
    name,
    parent: Option.fromNullishOr(options.parent),
    annotations: Context.empty(),
    links: [],
    startTime: BigInt(options.start ?? 0) * MILLI,
    kind: "internal",
    sampled: options.sampled ?? true
  })
  for (const [key, value] of Object.entries(options.attributes ?? {})) span.attribute(key, value)
  return span
}

export const end = (span: Tracer.Span, at = 1, exit: Exit.Exit<unknown, unknown> = Exit.void): void =>
  span.end(BigInt(at) * MILLI, exit)

/** A snapshot of a successful span from `start` to `end` milliseconds. */
export const snapshot = (
  name: string,
  start: number,
  end: number | undefined,
  rest: Partial<SpanSnapshot> = {}
): SpanSnapshot => ({
  name,
  spanId: "00f067aa0ba902b7",
  parentId: undefined,
  startTime: BigInt(start) * MILLI,
  endTime: end === undefined ? undefined : BigInt(end) * MILLI,
  state: end === undefined ? "unfinished" : "success",
  toolCall: undefined,
  errorType: undefined,
  errorMessage: undefined,
  eventCount: 0,
  links: [],
  linkCount: 0,
  ...rest
})

export const toolCall = (name: string, callId: string, rest: Partial<ToolCall> = {}): ToolCall => ({
  name,
  callId,
  outcome: undefined,
  arguments: undefined,
  result: undefined,
  preliminaryCount: 0,
  ...rest
})
