/**
 * One turn of a model: what is seen of its span, its answer and its tool calls.
 *
 * Is told of each part of the answer, of each call that reaches `handle`, and of the end, and changes nothing but the stamp that it puts on
 * tool calls. What is said of content is in `TurnContent.ts`, of approvals in `ApprovalTelemetry.ts`.
 */
import type * as Response from "effect/ai/Response"
import type * as Exit from "effect/Exit"
import * as Predicate from "effect/Predicate"
import type * as Tracer from "effect/Tracer"
import type { Origin } from "../propagation/Origin.ts"
import * as ToolCallContext from "../propagation/ToolCallContext.ts"
import {
  ATTR_ERROR_TYPE,
  ATTR_GEN_AI_RESPONSE_FINISH_REASONS,
  ATTR_GEN_AI_TOOL_CALL_ID,
  ATTR_GEN_AI_TOOL_NAME,
  ATTR_GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS,
  ATTR_GEN_AI_USAGE_INPUT_TOKENS,
  ATTR_GEN_AI_USAGE_OUTPUT_TOKENS,
  ATTR_GEN_AI_USAGE_REASONING_OUTPUT_TOKENS,
  ATTR_TOOLSPAN_TOOL_OUTCOME,
  EVENT_TOOLSPAN_TOOL_NOT_STARTED,
  EVENT_TOOLSPAN_TOOL_PROVIDER_EXECUTED,
  OTHER,
  type ToolOutcome
} from "../semconv/Attributes.ts"
import * as ApprovalTelemetry from "./ApprovalTelemetry.ts"
import type { DecidedCalls } from "./DecidedCalls.ts"
import * as Ending from "./Ending.ts"
import { bounded } from "./Identifier.ts"
import type { InstrumentedTool } from "./InstrumentedTool.ts"
import type { InstrumentedToolkit } from "./InstrumentedToolkit.ts"
import { ToolCall } from "./ToolCall.ts"
import type { TurnContent } from "./TurnContent.ts"
import type { TurnScope } from "./TurnScope.ts"

/** What a turn is begun with. */
export interface Request {
  readonly scope: TurnScope
  readonly span: Tracer.Span
  /** The approved calls of the conversation, which run first. */
  readonly approved: DecidedCalls
  readonly isStreamed: boolean
  /** Whether upstream runs the calls that the model asks for. */
  readonly resolves: boolean
  /** Undefined where no content is captured. */
  readonly content: TurnContent | undefined
  /** How often a tool was called since the user last said something, before this turn. */
  readonly callsSoFar: (toolName: string) => number
}

type ToolCallPart = Response.ToolCallPart<string, unknown>
type ToolResultPart = Extract<Response.AnyPart, { type: "tool-result" }>

export class Turn {
  readonly span: Tracer.Span
  readonly #request: Request
  #toolkit: InstrumentedToolkit
  /** Names of the calls that the answer asks for, by id. */
  readonly #names = new Map<string, string>()
  /** Ids of those that have neither a result nor wait for an approval. */
  readonly #open = new Set<string>()
  /** Ids of those that reached `handle`. */
  readonly #handled = new Set<string>()
  readonly #counts = new Map<InstrumentedTool, number>()
  /** Calls that the provider executes, by id. */
  readonly #provided = new Map<string, { readonly toolName: string; readonly call: ToolCall | undefined }>()
  #finish: Response.FinishPart | undefined
  #ended = false

  constructor(request: Request, toolkit: InstrumentedToolkit) {
    this.#request = request
    this.#toolkit = toolkit
    this.span = request.span
  }

  /** Whether all is said of this turn: another one, then, is another attempt at the same answer. */
  get ended(): boolean {
    return this.#ended
  }

  /** Upstream has the toolkit, and has run nothing yet. */
  resolved(toolkit: InstrumentedToolkit): void {
    this.#toolkit = toolkit
    if (this.span.sampled) this.#request.content?.tools(toolkit)
  }

  /** A call reaches `handle`. Gives its origin, if it is an approved one of the conversation. */
  handled(toolCallId: string | undefined): Origin | undefined {
    const origin = this.#request.approved.take(toolCallId)
    if (origin === undefined && toolCallId !== undefined) this.#handled.add(toolCallId)
    return origin
  }

  /** The parts of the answer, in their order: the same ones, tool calls stamped. Never throws. */
  parts<Part extends Response.AnyPart>(parts: ReadonlyArray<Part>): ReadonlyArray<Part> {
    let stamped: Array<Part> | undefined
    for (let index = 0; index < parts.length; index++) {
      const part = parts[index]
      if (part === undefined) continue
      try {
        this.#part(part)
        if (part.type !== "tool-call" || part.providerExecuted) continue
        const stamp = ToolCallContext.stamp(this.span, this.#request.scope.nowMillis())
        if (stamp === undefined) continue
        stamped ??= parts.slice()
        stamped[index] = { ...part, metadata: { ...part.metadata, [ToolCallContext.KEY]: stamp } }
      } catch {
        // A part of a shape that upstream does not make: it goes on as it is.
      }
    }
    return stamped ?? parts
  }

  /** The turn ends, or is about to. The first time counts. */
  end(exit: Exit.Exit<unknown, unknown>): void {
    if (this.#ended) return
    this.#ended = true
    try {
      this.#leftOver(exit)
      this.#streaks()
      const ending = exit._tag === "Failure" ? Ending.fromCause(exit.cause) : Ending.success
      // Where the call itself reached `handle`, its own telemetry has said so.
      if (ending.outcome === "unknown_tool") this.#count(this.#toolkit.tool(""), "unknown_tool")
      if (this.span.sampled) this.#describe(ending)
    } catch {
      // A tracer that throws costs the rest of what would be said.
    }
  }

  #part(part: Response.AnyPart): void {
    switch (part.type) {
      case "tool-call":
        if (part.providerExecuted) this.#providerCall(part)
        else this.#asked(part)
        break
      case "tool-result":
        if (part.providerExecuted) this.#providerResult(part)
        else if (!part.preliminary) this.#answered(part)
        break
      case "tool-approval-request":
        this.#approvalRequested(part)
        break
      case "finish":
        this.#finish = part
        break
      default:
        if (this.span.sampled) this.#request.content?.part(part)
    }
  }

  #asked({ id, name }: ToolCallPart): void {
    this.#names.set(id, name)
    this.#open.add(id)
    const tool = this.#toolkit.tool(name)
    this.#counts.set(tool, (this.#counts.get(tool) ?? 0) + 1)
    if (this.span.sampled) this.#request.content?.toolCall(id, name)
  }

  #answered({ encodedResult, id }: ToolResultPart): void {
    if (!this.#open.delete(id) || this.#handled.has(id)) return
    // No handler made this result: upstream did, or a model that runs calls itself.
    const type = Predicate.hasProperty(encodedResult, "type") ? encodedResult.type : undefined
    if (type === "execution-denied") this.#count(this.#toolOf(id), "denied")
    else if (type === "execution-interrupted") this.#notStarted(id)
  }

  #approvalRequested({ approvalId, toolCallId }: Response.ToolApprovalRequestPart): void {
    this.#open.delete(toolCallId)
    ApprovalTelemetry.requested(this.#request.scope, this.span, {
      approvalId,
      toolCallId,
      toolName: this.#names.get(toolCallId) ?? OTHER,
      tool: this.#toolOf(toolCallId)
    })
  }

  #notStarted(id: string): void {
    this.#request.scope.event(this.span, EVENT_TOOLSPAN_TOOL_NOT_STARTED, {
      [ATTR_GEN_AI_TOOL_NAME]: bounded(this.#names.get(id) ?? OTHER),
      [ATTR_GEN_AI_TOOL_CALL_ID]: bounded(id)
    })
    this.#count(this.#toolOf(id), "not_started")
  }

  #providerCall({ id, name, params }: ToolCallPart): void {
    const { isStreamed, scope } = this.#request
    let call: ToolCall | undefined
    if (isStreamed) {
      const request = {
        tool: this.#toolkit.providerTool(name),
        toolName: name,
        toolCallId: id,
        params,
        origin: { parent: this.span },
        providerExecuted: true
      }
      call = new ToolCall(request, this.#toolkit.settings, scope.tracer, scope.context, this.span)
      call.started(request, this.#toolkit.settings)
    }
    this.#provided.set(id, { toolName: name, call })
  }

  #providerResult(part: ToolResultPart): void {
    const provided = this.#provided.get(part.id)
    if (provided?.call !== undefined) provided.call.result(part)
    else if (!part.preliminary) this.#providerExecuted(part.id, part.name, Ending.fromResult(part).outcome)
    if (!part.preliminary) this.#provided.delete(part.id)
  }

  /** A call that the provider executed at times that are not known. */
  #providerExecuted(id: string, toolName: string, outcome: ToolOutcome): void {
    this.#request.scope.event(this.span, EVENT_TOOLSPAN_TOOL_PROVIDER_EXECUTED, {
      [ATTR_GEN_AI_TOOL_NAME]: bounded(toolName),
      [ATTR_GEN_AI_TOOL_CALL_ID]: bounded(id),
      [ATTR_TOOLSPAN_TOOL_OUTCOME]: outcome
    })
    this.#count(this.#toolkit.providerTool(toolName), outcome)
  }

  /** Calls that the answer leaves without a result. */
  #leftOver(exit: Exit.Exit<unknown, unknown>): void {
    const interrupted = exit._tag === "Failure" && Ending.fromCause(exit.cause).outcome === "cancelled"
    const ending = interrupted ? Ending.cancelled : Ending.abandoned
    for (const [id, { call, toolName }] of this.#provided) {
      if (call === undefined) this.#providerExecuted(id, toolName, ending.outcome)
      else call.end(ending)
    }
    if (!this.#request.resolves) return
    for (const id of this.#open) {
      if (!this.#handled.has(id)) this.#notStarted(id)
    }
  }

  #streaks(): void {
    const { callsSoFar, resolves, scope } = this.#request
    if (!resolves || !scope.metrics) return
    for (const [{ metrics, tool }, count] of this.#counts) {
      metrics.streak(scope.context, count + (tool === undefined ? 0 : callsSoFar(tool.name)))
    }
  }

  #describe({ failure }: Ending.Ending): void {
    if (failure !== undefined) this.#attribute(ATTR_ERROR_TYPE, failure.errorType)
    if (this.#finish !== undefined) {
      const { inputTokens, outputTokens } = this.#finish.usage
      this.#attribute(ATTR_GEN_AI_RESPONSE_FINISH_REASONS, [this.#finish.reason])
      this.#attribute(ATTR_GEN_AI_USAGE_INPUT_TOKENS, inputTokens.total)
      this.#attribute(ATTR_GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS, inputTokens.cacheRead)
      this.#attribute(ATTR_GEN_AI_USAGE_OUTPUT_TOKENS, outputTokens.total)
      this.#attribute(ATTR_GEN_AI_USAGE_REASONING_OUTPUT_TOKENS, outputTokens.reasoning)
    }
    this.#request.content?.ended()
  }

  /** What the provider has said of itself stays. */
  #attribute(key: string, value: unknown): void {
    if (value !== undefined && !this.span.attributes.has(key)) this.span.attribute(key, value)
  }

  #toolOf(id: string): InstrumentedTool {
    return this.#toolkit.tool(this.#names.get(id) ?? "")
  }

  #count(tool: InstrumentedTool, outcome: ToolOutcome): void {
    this.#toolkit.count(this.#request.scope.context, tool, outcome)
  }
}
