/**
 * What is emitted of one stretch of a run: its span `invoke_agent {agent}`, what happens on it, and its metrics.
 *
 * Turns and calls have spans of their own, made by whoever instruments model and toolkit: not here. The runtime says what it alone knows:
 * approvals, denials, calls that it did not run, replays, calls that were lost. Where nobody traces there is no span, and metrics all the same.
 */
import * as Prompt from "effect/ai/Prompt"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Tracer from "effect/Tracer"
import type { Origin } from "../propagation/Origin.ts"
import * as ToolCallContext from "../propagation/ToolCallContext.ts"
import * as TraceContext from "../propagation/TraceContext.ts"
import {
  ATTR_ERROR_TYPE,
  ATTR_GEN_AI_AGENT_NAME,
  ATTR_GEN_AI_CONVERSATION_ID,
  ATTR_GEN_AI_OPERATION_NAME,
  ATTR_GEN_AI_TOOL_CALL_ID,
  ATTR_GEN_AI_TOOL_NAME,
  ATTR_GEN_AI_TOOL_TYPE,
  ATTR_TOOLSPAN_RUN_RECOVERED,
  ATTR_TOOLSPAN_RUN_STATE,
  ATTR_TOOLSPAN_TOOL_ATTEMPT,
  ATTR_TOOLSPAN_TOOL_OUTCOME,
  EVENT_TOOLSPAN_TOOL_NOT_STARTED,
  EVENT_TOOLSPAN_TOOL_REPLAYED,
  OPERATION_EXECUTE_TOOL,
  OPERATION_INVOKE_AGENT,
  OTHER,
  type RunState,
  type ToolOutcome
} from "../semconv/Attributes.ts"
import * as Instruments from "../semconv/Instruments.ts"
import * as ApprovalTelemetry from "../signals/ApprovalTelemetry.ts"
import { bounded } from "../signals/Identifier.ts"
import { InstrumentedTool } from "../signals/InstrumentedTool.ts"
import * as SpanFailure from "../signals/SpanFailure.ts"
import * as ToolSpan from "../signals/ToolSpan.ts"
import { TurnScope } from "../signals/TurnScope.ts"
import type { Approval } from "./ApprovalRecord.ts"
import type { Tools } from "./Definition.ts"
import type { Progress, Run, Trace } from "./RunStore.ts"

/** What is known of the tools of one worker. */
export class ToolSignals {
  readonly #tools: ReadonlyMap<string, InstrumentedTool>
  readonly #unknown = new InstrumentedTool(undefined)

  constructor({ tools }: Tools) {
    this.#tools = new Map(Object.entries(tools).map(([name, tool]) => [name, new InstrumentedTool(tool)]))
  }

  of(name: string): InstrumentedTool {
    return this.#tools.get(name) ?? this.#unknown
  }
}

export class RunTelemetry {
  /** The span of the stretch, to be the parent of what happens in it. Undefined when nobody traces. */
  readonly span: Tracer.Span | undefined
  readonly #scope: TurnScope
  readonly #tools: ToolSignals
  readonly #agent: string
  readonly #clock: Clock.Clock
  readonly #startTime: bigint
  /** Whose events nobody reads, when nobody traces. */
  readonly #events: Tracer.Span
  #toolCalls = 0
  #turns = 0

  constructor(fiber: Fiber.Fiber<unknown, unknown>, run: Run, tools: ToolSignals, recovered: boolean) {
    const tracer = ToolSpan.activeTracer(fiber)
    const { caller, first, latest } = run.progress
    this.#tools = tools
    this.#agent = run.agent
    this.#scope = new TurnScope(tracer ?? Tracer.nativeTracer, fiber.context, {
      options: { agentName: run.agent, conversationId: run.conversation },
      policy: undefined
    })
    this.#clock = fiber.getRef(Clock.Clock)
    this.#startTime = this.#clock.currentTimeNanosUnsafe()
    const start = {
      name: `${OPERATION_INVOKE_AGENT} ${run.agent}`,
      kind: "internal",
      // Later stretches stand beside the first one; below it, if it stands alone.
      parent: (caller && TraceContext.toSpan(caller)) ?? (first && TraceContext.toSpan(first)),
      link: latest && TraceContext.toSpan(latest),
      startTime: this.#startTime,
      attributes: {
        [ATTR_GEN_AI_OPERATION_NAME]: OPERATION_INVOKE_AGENT,
        [ATTR_GEN_AI_AGENT_NAME]: run.agent,
        [ATTR_GEN_AI_CONVERSATION_ID]: run.conversation,
        ...(recovered && { [ATTR_TOOLSPAN_RUN_RECOVERED]: true })
      }
    } as const
    this.span = tracer === undefined ? undefined : this.#scope.open(start)
    this.#events = this.span ?? ToolSpan.unread(start.name)
  }

  /** The place of this stretch, for the next one. */
  get trace(): Trace | undefined {
    return this.span && TraceContext.fromSpan(this.span)
  }

  /** Where calls come from that nobody below has stamped: from this stretch. */
  stamp(): ToolCallContext.Stamp | undefined {
    return this.span && ToolCallContext.stamp(this.span, this.#clock.currentTimeMillisUnsafe())
  }

  /** The model has answered; it calls each of these tools so often since the user last said something. */
  turn(streaks: ReadonlyMap<string, number>): void {
    this.#turns++
    for (const [name, count] of streaks) this.#tools.of(name).metrics.streak(this.#scope.context, count)
  }

  /** A call is handed to its handler. */
  called(): void {
    this.#toolCalls++
  }

  asked({ approvalId, toolCallId, toolName }: Approval, toolCall: Prompt.ToolCallPart): void {
    const tool = this.#tools.of(toolName)
    ApprovalTelemetry.requested(this.#scope, this.#events, {
      approvalId,
      toolCallId,
      toolName,
      tool,
      toolCall
    })
  }

  /** The run acts on a decision. */
  decided(approval: Approval, toolCall: Prompt.ToolCallPart): void {
    const { decided } = approval
    if (decided === undefined) return
    const response = Prompt.toolApprovalResponsePart({
      approvalId: approval.approvalId,
      approved: decided.decision === "approved",
      ...(decided.reason !== undefined && { reason: decided.reason }),
      options: {
        [ToolCallContext.KEY]: {
          decidedAt: new Date(decided.at).toISOString(),
          ...(decided.approver !== undefined && { approver: decided.approver }),
          ...(decided.decision === "expired" && { expired: true })
        }
      }
    })
    const tool = this.#tools.of(approval.toolName)
    ApprovalTelemetry.decided(
      this.#scope,
      this.#events,
      { approvalId: approval.approvalId, response, toolCall },
      tool,
      approval.requestedAt
    )
    if (decided.decision !== "approved") this.#count(tool, "denied")
  }

  /** A call that will not run. */
  notStarted({ id, name }: Prompt.ToolCallPart): void {
    this.#event(EVENT_TOOLSPAN_TOOL_NOT_STARTED, id, name)
    this.#count(this.#tools.of(name), "not_started")
  }

  /** A stored result is given again. */
  replayed({ id, name }: Prompt.ToolCallPart): void {
    this.#event(EVENT_TOOLSPAN_TOOL_REPLAYED, id, name)
    Instruments.toolReplays(this.#tools.of(name).tool?.name ?? OTHER).updateUnsafe(1, this.#scope.context)
  }

  /** A call that was started at this time (milliseconds since the epoch), and nobody recorded how it ended. */
  lost({ id, name, options }: Prompt.ToolCallPart, startedAt: number, attempt: number): void {
    const tool = this.#tools.of(name)
    const now = this.#scope.now()
    const started = BigInt(Math.trunc(startedAt)) * 1_000_000n
    const span =
      this.span &&
      this.#scope.open({
        name: tool.spanName,
        kind: "internal",
        parent: ToolCallContext.origin({ options })?.parent ?? this.span,
        link: this.span,
        startTime: started < now ? started : now,
        attributes: {
          [ATTR_GEN_AI_OPERATION_NAME]: OPERATION_EXECUTE_TOOL,
          [ATTR_GEN_AI_TOOL_NAME]: bounded(name),
          [ATTR_GEN_AI_TOOL_CALL_ID]: bounded(id),
          ...(tool.type !== undefined && { [ATTR_GEN_AI_TOOL_TYPE]: tool.type }),
          ...(this.#scope.agentName !== undefined && { [ATTR_GEN_AI_AGENT_NAME]: this.#scope.agentName }),
          ...(this.#scope.conversationId !== undefined && {
            [ATTR_GEN_AI_CONVERSATION_ID]: this.#scope.conversationId
          }),
          [ATTR_TOOLSPAN_TOOL_ATTEMPT]: attempt,
          [ATTR_TOOLSPAN_TOOL_OUTCOME]: "outcome_unknown" satisfies ToolOutcome,
          [ATTR_ERROR_TYPE]: "ToolOutcomeUnknown"
        }
      })
    this.#quietly(() =>
      span?.end(
        this.#scope.endTime(),
        SpanFailure.exitOf(
          {
            outcome: "outcome_unknown",
            failure: { errorType: "ToolOutcomeUnknown", origin: undefined, error: undefined }
          },
          undefined
        )
      )
    )
    this.#count(tool, "outcome_unknown")
  }

  /** Where one call comes from. */
  origin(call: Prompt.ToolCallPart, approvalId: string | undefined, attempt: number): Origin {
    return {
      ...(ToolCallContext.origin(call) ?? { parent: this.span }),
      approvalId,
      attempt: attempt > 1 ? attempt : undefined,
      // Asked for in this very stretch: the turn stands below it.
      linked: this.#turns === 0
    }
  }

  /** The stretch is over. `errorType`: of a failed one. */
  end(state: RunState, errorType: string | undefined): void {
    const { span } = this
    this.#quietly(() => {
      if (span?.sampled) {
        span.attribute(ATTR_TOOLSPAN_RUN_STATE, state)
        if (errorType !== undefined) span.attribute(ATTR_ERROR_TYPE, errorType)
      }
      span?.end(
        this.#scope.endTime(),
        errorType === undefined
          ? state === "cancelled"
            ? Exit.interrupt()
            : Exit.void
          : SpanFailure.ofRun(errorType)
      )
    })
    const agent = { [ATTR_GEN_AI_AGENT_NAME]: this.#agent }
    const seconds = Number(this.#clock.currentTimeNanosUnsafe() - this.#startTime) / 1e9
    Instruments.invokeAgentDuration(
      errorType === undefined ? agent : { ...agent, [ATTR_ERROR_TYPE]: errorType }
    ).updateUnsafe(seconds, this.#scope.context)
    Instruments.invokeAgentToolCalls(agent).updateUnsafe(this.#toolCalls, this.#scope.context)
    Instruments.invokeAgentInferenceCalls(agent).updateUnsafe(this.#turns, this.#scope.context)
  }

  #event(name: string, toolCallId: string, toolName: string): void {
    this.#scope.event(this.#events, name, {
      [ATTR_GEN_AI_TOOL_NAME]: bounded(toolName),
      [ATTR_GEN_AI_TOOL_CALL_ID]: bounded(toolCallId)
    })
  }

  #count(tool: InstrumentedTool, outcome: ToolOutcome): void {
    tool.metrics.in(this.#scope.context, this.#agent).counted(outcome)
  }

  /** A tracer that throws costs the telemetry, never the run. */
  #quietly(say: () => void): void {
    try {
      say()
    } catch {}
  }
}

/** The span that a run is asked for under, if anybody traces. */
export const callerOf = (fiber: Fiber.Fiber<unknown, unknown>): Trace | undefined => {
  if (ToolSpan.activeTracer(fiber) === undefined) return undefined
  const span = Context.getOrUndefined(fiber.context, Tracer.ParentSpan)
  return span && TraceContext.fromSpan(span)
}

/** The progress with this stretch in it. */
export const withStretch = (progress: Progress, trace: Trace | undefined): Progress => ({
  ...progress,
  stretches: progress.stretches + 1,
  ...(trace !== undefined && { first: progress.first ?? trace, latest: trace })
})
