/**
 * One turn of a model: what is seen of its span, its answer and its tool calls.
 *
 * Is told of each part of the answer, of each call that reaches `handle`, and of the end, and changes nothing but the stamp that it puts on
 * tool calls. What is said of content is in `TurnContent.ts`, of approvals in `ApprovalTelemetry.ts`.
 */
import type * as Response from "effect/ai/Response"
import type * as Cause from "effect/Cause"
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
import * as ApprovalTelemetry from "../signals/ApprovalTelemetry.ts"
import * as Ending from "../signals/Ending.ts"
import { bounded } from "../signals/Identifier.ts"
import type { InstrumentedTool } from "../signals/InstrumentedTool.ts"
import type { TurnScope } from "../signals/TurnScope.ts"
import type { DecidedCalls } from "./DecidedCalls.ts"
import type { InstrumentedToolkit } from "./InstrumentedToolkit.ts"
import { ToolCall } from "./ToolCall.ts"
import type { TurnContent } from "./TurnContent.ts"

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

/** A call that the provider executes. `call`: watched from its start to its end. */
interface ProvidedCall {
  readonly toolName: string
  readonly call: ToolCall | undefined
}

export class Turn {
  readonly span: Tracer.Span
  readonly #request: Request
  #toolkit: InstrumentedToolkit
  /**
   * Names of the calls that neither reached `handle` nor have a result nor wait for an approval, by id. A model may give an id twice, or
   * an empty one.
   */
  readonly #open = new Map<string, Array<string>>()
  /** How many calls reached `handle` before the answer told of them, and how many have no result yet, by id. */
  readonly #ahead = new Map<string, number>()
  readonly #running = new Map<string, number>()
  readonly #counts = new Map<InstrumentedTool, number>()
  /** Calls that the provider executes, by id. */
  readonly #provided = new Map<string, Array<ProvidedCall>>()
  #finish: Response.FinishPart | undefined
  #ended = false
  #hasFailed = false

  constructor(request: Request, toolkit: InstrumentedToolkit) {
    this.#request = request
    this.#toolkit = toolkit
    this.span = request.span
  }

  /** Whether all is said of this turn. */
  get ended(): boolean {
    return this.#ended
  }

  /** Whether it ended without an answer: another one, then, is another attempt at it. */
  get hasFailed(): boolean {
    return this.#hasFailed
  }

  /** Upstream has the toolkit, and has run nothing yet. */
  resolved(toolkit: InstrumentedToolkit): void {
    this.#toolkit = toolkit
    if (this.span.sampled) quietly(() => this.#request.content?.tools(toolkit))
  }

  /** A call reaches `handle`. Gives its origin, if it is an approved one of the conversation. */
  handled(toolCallId: string | undefined): Origin | undefined {
    const origin = this.#request.approved.take(toolCallId)
    if (origin !== undefined || toolCallId === undefined) return origin
    if (this.#take(toolCallId) === undefined) add(this.#ahead, toolCallId, 1)
    add(this.#running, toolCallId, 1)
    return undefined
  }

  /** Tells of the parts of the answer, in their order. Never throws. */
  see(parts: ReadonlyArray<Response.AnyPart>): void {
    for (const part of parts) {
      try {
        this.#part(part)
      } catch {
        // A part of a shape that upstream does not make.
      }
    }
  }

  /** The same parts, tool calls stamped. Never throws. */
  stamped<Part extends Response.AnyPart>(parts: ReadonlyArray<Part>): ReadonlyArray<Part> {
    let stamped: Array<Part> | undefined
    for (let index = 0; index < parts.length; index++) {
      const part = parts[index]
      if (part?.type !== "tool-call" || part.providerExecuted) continue
      try {
        const stamp = ToolCallContext.stamp(this.span, this.#request.scope.nowMillis())
        if (stamp === undefined) continue
        stamped ??= parts.slice()
        stamped[index] = { ...part, metadata: { ...part.metadata, [ToolCallContext.KEY]: stamp } }
      } catch {
        // It goes on as it is.
      }
    }
    return stamped ?? parts
  }

  /** Upstream fails. Who reads its answer may fail, too: that is no matter of the turn's calls. */
  failed(cause: Cause.Cause<unknown>): void {
    // Where the call itself reached `handle`, its own telemetry has said so.
    if (Ending.fromCause(cause).outcome === "unknown_tool") {
      this.#count(this.#toolkit.tool(""), "unknown_tool")
    }
  }

  /** The turn ends, or is about to. The first time counts. */
  end(exit: Exit.Exit<unknown, unknown>): void {
    if (this.#ended) return
    this.#ended = true
    this.#hasFailed = exit._tag === "Failure"
    const ending = exit._tag === "Failure" ? Ending.fromCause(exit.cause) : Ending.success
    quietly(() => this.#leftOver(ending))
    quietly(() => this.#streaks())
    if (this.span.sampled) quietly(() => this.#describe(ending))
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
    const tool = this.#toolkit.tool(name)
    this.#counts.set(tool, (this.#counts.get(tool) ?? 0) + 1)
    if (this.span.sampled) this.#request.content?.toolCall(id, name)
    if (take(this.#ahead, id)) return
    const names = this.#open.get(id)
    if (names === undefined) this.#open.set(id, [name])
    else names.push(name)
  }

  #answered({ encodedResult, id }: ToolResultPart): void {
    if (take(this.#running, id)) return
    // No handler made this result: upstream did, or a model that runs calls itself.
    const name = this.#take(id)
    if (name === undefined) return
    const type = Predicate.hasProperty(encodedResult, "type") ? encodedResult.type : undefined
    if (type === "execution-denied") this.#count(this.#toolkit.tool(name), "denied")
    else if (type === "execution-interrupted") this.#notStarted(id, name)
  }

  #approvalRequested({ approvalId, toolCallId }: Response.ToolApprovalRequestPart): void {
    const toolName = this.#take(toolCallId) ?? this.#waits(toolCallId) ?? OTHER
    const tool = this.#toolkit.tool(toolName)
    ApprovalTelemetry.requested(this.#request.scope, this.span, { approvalId, toolCallId, toolName, tool })
  }

  /** A call that the provider would execute waits for an approval (MCP servers do): it has not begun. */
  #waits(id: string): string | undefined {
    const provided = this.#provided.get(id)?.shift()
    provided?.call?.end(Ending.notStarted)
    return provided?.toolName
  }

  #notStarted(id: string, name: string): void {
    this.#request.scope.event(this.span, EVENT_TOOLSPAN_TOOL_NOT_STARTED, {
      [ATTR_GEN_AI_TOOL_NAME]: bounded(name),
      [ATTR_GEN_AI_TOOL_CALL_ID]: bounded(id)
    })
    this.#count(this.#toolkit.tool(name), "not_started")
  }

  /** The oldest open call of this id: it is open no more. */
  #take(id: string): string | undefined {
    const names = this.#open.get(id)
    const name = names?.shift()
    if (names?.length === 0) this.#open.delete(id)
    return name
  }

  #providerCall({ id, name, params }: ToolCallPart): void {
    const { isStreamed, scope } = this.#request
    let call: ToolCall | undefined
    // A chunk that comes after the end of the turn's span: somebody below had kept it.
    if (isStreamed && !this.#ended) {
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
    const calls = this.#provided.get(id) ?? []
    calls.push({ toolName: name, call })
    this.#provided.set(id, calls)
  }

  #providerResult(part: ToolResultPart): void {
    const provided = this.#provided.get(part.id)
    const call = provided?.[0]?.call
    if (call !== undefined) call.result(part)
    else if (!part.preliminary) this.#providerExecuted(part.id, part.name, Ending.fromResult(part).outcome)
    if (!part.preliminary) provided?.shift()
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
  #leftOver({ outcome }: Ending.Ending): void {
    const ending = outcome === "cancelled" ? Ending.cancelled : Ending.abandoned
    for (const [id, calls] of this.#provided) {
      for (const { call, toolName } of calls) {
        if (call === undefined) this.#providerExecuted(id, toolName, ending.outcome)
        else call.end(ending)
      }
    }
    if (!this.#request.resolves) return
    for (const [id, names] of this.#open) for (const name of names) this.#notStarted(id, name)
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

  #count(tool: InstrumentedTool, outcome: ToolOutcome): void {
    this.#toolkit.count(this.#request.scope.context, tool, outcome)
  }
}

const add = (counts: Map<string, number>, key: string, change: number): void => {
  counts.set(key, (counts.get(key) ?? 0) + change)
}

/** Takes one away; whether there was one. */
const take = (counts: Map<string, number>, key: string): boolean => {
  const has = (counts.get(key) ?? 0) > 0
  if (has) add(counts, key, -1)
  return has
}

/** What a tracer, or a part of the history, throws costs what would be said, and nothing else. */
const quietly = (say: () => void): void => {
  try {
    say()
  } catch {}
}
