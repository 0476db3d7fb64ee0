/**
 * One call of `handle`, from its start to its one end: what is written on its span and counted on its metrics.
 *
 * The call is told what happens and changes nothing; a tracer that throws is ignored. Which content may be written is for
 * `SpanContent.ts`, how a call is watched for `ResultStream.ts` and `ToolkitInstrumentation.ts`.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import type * as Exit from "effect/Exit"
import * as Predicate from "effect/Predicate"
import * as Pull from "effect/Pull"
import * as References from "effect/References"
import type * as Tracer from "effect/Tracer"
import * as ContentPolicy from "../content/ContentPolicy.ts"
import { CurrentAgent, CurrentConversation, type Origin } from "../propagation/Origin.ts"
import {
  ATTR_ERROR_TYPE,
  ATTR_GEN_AI_AGENT_NAME,
  ATTR_GEN_AI_CONVERSATION_ID,
  ATTR_GEN_AI_OPERATION_NAME,
  ATTR_GEN_AI_TOOL_CALL_ID,
  ATTR_GEN_AI_TOOL_NAME,
  ATTR_GEN_AI_TOOL_TYPE,
  ATTR_TOOLSPAN_APPROVAL_ID,
  ATTR_TOOLSPAN_TOOL_ATTEMPT,
  ATTR_TOOLSPAN_TOOL_FAILURE_ORIGIN,
  ATTR_TOOLSPAN_TOOL_OUTCOME,
  ATTR_TOOLSPAN_TOOL_PRELIMINARY_COUNT,
  ATTR_TOOLSPAN_TOOL_PROVIDER_EXECUTED,
  OPERATION_EXECUTE_TOOL,
  PRELIMINARY_EVENT_LIMIT
} from "../semconv/Attributes.ts"
import { propagated } from "../semconv/PropagatedSpan.ts"
import type { StartAttributes } from "../semconv/SpanStart.ts"
import * as Ending from "../signals/Ending.ts"
import { bounded } from "../signals/Identifier.ts"
import type { InstrumentedTool } from "../signals/InstrumentedTool.ts"
import * as SpanFailure from "../signals/SpanFailure.ts"
import type * as ToolMetrics from "../signals/ToolMetrics.ts"
import * as ToolSpan from "../signals/ToolSpan.ts"
import type { Options } from "./Options.ts"
import { SpanContent } from "./SpanContent.ts"

/** What one `handle` was given. */
export interface Request {
  readonly tool: InstrumentedTool
  readonly toolName: string
  readonly toolCallId: string | undefined
  readonly params: unknown
  readonly origin: Origin | undefined
  /** The provider executes it: it is only watched here. */
  readonly providerExecuted?: boolean
}

/** What is the same for all calls of a toolkit. */
export interface Settings {
  readonly options: Options
  /** Undefined: the policy of the scope of the call. */
  readonly policy: ContentPolicy.Policy | undefined
}

export class ToolCall {
  /** The span of this call; undefined when nobody traces. */
  readonly span: Tracer.Span | undefined
  readonly #clock: Clock.Clock
  readonly #timed: boolean
  readonly #startTime: bigint
  readonly #series: ToolMetrics.ToolSeries | undefined
  /** Undefined when the span is not recorded: then no content is looked at. */
  readonly #content: SpanContent | undefined
  #preliminary = 0
  #consumers = 0
  #ended = false
  #onEnd: (() => void) | undefined

  constructor(
    request: Request,
    { options, policy }: Settings,
    tracer: Tracer.Tracer | undefined,
    context: Context.Context<never>,
    currentSpan: Tracer.AnySpan | undefined
  ) {
    const { origin, tool } = request
    const agentName = Context.get(context, CurrentAgent) ?? options.agentName
    this.#clock = Context.get(context, Clock.Clock)
    this.#timed = Context.get(context, References.TracerTimingEnabled)
    this.#startTime = this.#clock.currentTimeNanosUnsafe()
    if (options.metrics !== false) {
      this.#series = tool.metrics.in(context, agentName)
    }
    if (tracer === undefined) return
    const current = propagated(currentSpan)
    const parent = origin?.parent ?? current
    this.span = ToolSpan.open(tracer, context, {
      name: tool.spanName,
      kind: "internal",
      parent,
      link: origin?.linked === false || parent?.spanId === current?.spanId ? undefined : current,
      startTime: this.#spanTime(this.#startTime),
      attributes: initialAttributes(
        request,
        agentName,
        Context.get(context, CurrentConversation) ?? options.conversationId
      )
    })
    if (this.span?.sampled !== true) return
    try {
      const inForce = tool.policy(policy ?? Context.get(context, ContentPolicy.ContentPolicy))
      this.#content = new SpanContent(this.span, inForce, tool, request.toolName, context)
    } catch {
      // What was provided as the policy is none: no content, then.
    }
  }

  /** Counts the start and describes the call on its span. */
  started({ params, toolCallId, toolName }: Request, { options }: Settings): void {
    this.#series?.started()
    this.#content?.started(params)
    if (options.attributes !== undefined) {
      this.#content?.custom(options.attributes, { toolName, toolCallId, params })
    }
  }

  /** Has `f` run when the call ends, however it does. */
  onEnd(f: () => void): void {
    this.#onEnd = f
  }

  /** A consumer opened the result stream. */
  opened(): void {
    this.#consumers++
  }

  /**
   * A read of the result stream ended. The final result is the end of the call: upstream gives nothing after it. That there is no
   * more says nothing: another consumer may have it.
   */
  readonly pulled = (exit: Exit.Exit<ReadonlyArray<Ending.Result>, unknown>): undefined => {
    if (this.#ended) return
    if (exit._tag === "Success") {
      for (const result of exit.value) this.result(result)
    } else if (!Pull.isDoneCause(exit.cause)) {
      this.end(Ending.fromCause(exit.cause))
    }
  }

  /** A consumer closed the result stream, and the last one has not seen the final result. */
  closed(ending: Ending.Ending): void {
    if (--this.#consumers === 0) this.end(ending)
  }

  /** Ends the call. The first time counts. */
  end(ending: Ending.Ending): void {
    if (this.#ended) return
    this.#ended = true
    this.#onEnd?.()
    const endTime = this.#clock.currentTimeNanosUnsafe()
    if (this.span !== undefined) this.#endSpan(this.span, ending, endTime)
    this.#series?.ended(ending, Number(endTime - this.#startTime) / 1e9)
  }

  /** A result came. A final one is the end. */
  result(result: Ending.Result): void {
    if (!Predicate.isObject(result)) return
    if (!result.preliminary) {
      if (!result.isFailure) this.#content?.result(result.encodedResult)
      this.end(Ending.fromResult(result))
    } else if (++this.#preliminary <= PRELIMINARY_EVENT_LIMIT) {
      this.#content?.preliminary(result.encodedResult, this.#spanTime(this.#clock.currentTimeNanosUnsafe()))
    }
  }

  #endSpan(span: Tracer.Span, ending: Ending.Ending, endTime: bigint): void {
    const { failure, outcome } = ending
    let message: string | undefined
    try {
      if (span.sampled) {
        span.attribute(ATTR_TOOLSPAN_TOOL_OUTCOME, outcome)
        if (this.#preliminary > 0) span.attribute(ATTR_TOOLSPAN_TOOL_PRELIMINARY_COUNT, this.#preliminary)
        if (failure !== undefined) {
          span.attribute(ATTR_ERROR_TYPE, failure.errorType)
          if (failure.origin !== undefined) {
            span.attribute(ATTR_TOOLSPAN_TOOL_FAILURE_ORIGIN, failure.origin)
          }
          message = this.#content?.failure(failure)
        }
        this.#content?.ended()
      }
    } catch {
      // Attributes are lost with a tracer that throws; the end is still told.
    }
    try {
      span.end(this.#spanTime(endTime), SpanFailure.exitOf(ending, message))
    } catch {
      // The tracer failed; the call did not.
    }
  }

  #spanTime(time: bigint): bigint {
    return this.#timed ? time : 0n
  }
}

const initialAttributes = (
  { origin, providerExecuted, tool, toolCallId, toolName }: Request,
  agentName: string | undefined,
  conversationId: string | undefined
): StartAttributes["attributes"] => {
  const attributes: Record<string, string | number | boolean> = {
    [ATTR_GEN_AI_OPERATION_NAME]: OPERATION_EXECUTE_TOOL,
    [ATTR_GEN_AI_TOOL_NAME]: tool.tool === undefined ? bounded(toolName) : toolName
  }
  if (tool.type !== undefined) attributes[ATTR_GEN_AI_TOOL_TYPE] = tool.type
  if (toolCallId !== undefined) attributes[ATTR_GEN_AI_TOOL_CALL_ID] = bounded(toolCallId)
  if (agentName !== undefined) attributes[ATTR_GEN_AI_AGENT_NAME] = agentName
  if (conversationId !== undefined) attributes[ATTR_GEN_AI_CONVERSATION_ID] = conversationId
  if (origin?.approvalId !== undefined) attributes[ATTR_TOOLSPAN_APPROVAL_ID] = origin.approvalId
  if (origin?.attempt !== undefined) attributes[ATTR_TOOLSPAN_TOOL_ATTEMPT] = origin.attempt
  if (providerExecuted) attributes[ATTR_TOOLSPAN_TOOL_PROVIDER_EXECUTED] = true
  return attributes
}
