/**
 * One call of a method of a model: what upstream is given in place of the caller's options, and the turn, or the turns if somebody below
 * tries again, that come of it.
 */
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import type * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Predicate from "effect/Predicate"
import * as Tracer from "effect/Tracer"
import * as ApprovalHistory from "../propagation/ApprovalHistory.ts"
import { ToolCallOrigin } from "../propagation/Origin.ts"
import {
  ATTR_GEN_AI_AGENT_NAME,
  ATTR_GEN_AI_CONVERSATION_ID,
  ATTR_GEN_AI_OPERATION_NAME,
  OPERATION_CHAT
} from "../semconv/Attributes.ts"
import { propagated } from "../semconv/PropagatedSpan.ts"
import * as ApprovalTelemetry from "../signals/ApprovalTelemetry.ts"
import * as SpanFailure from "../signals/SpanFailure.ts"
import { TurnScope } from "../signals/TurnScope.ts"
import { DecidedCalls } from "./DecidedCalls.ts"
import type { InstrumentedToolkit, WithHandler } from "./InstrumentedToolkit.ts"
import type { ObservedToolkits } from "./ObservedToolkits.ts"
import { Turn } from "./Turn.ts"
import { TurnContent } from "./TurnContent.ts"
import * as TurnTracer from "./TurnTracer.ts"
import * as View from "./View.ts"

/** The methods of a model that make a turn. */
export type Method = "generateText" | "generateObject" | "streamText"

/** The options of those methods, as far as they are read here. */
export type CallOptions = Pick<
  LanguageModel.GenerateTextOptions<never>,
  "prompt" | "disableToolCallResolution"
> & { readonly toolkit?: unknown }

export class ModelCall {
  /** What upstream is given. */
  readonly options: CallOptions
  /** What upstream runs with. */
  readonly services: Context.Context<Tracer.ParentSpan>
  readonly #method: Method
  readonly #scope: TurnScope
  readonly #toolkits: ObservedToolkits
  readonly #messages: ReadonlyArray<Prompt.Message>
  readonly #decided: ReadonlyArray<ApprovalHistory.Decided>
  readonly #firstSpan: Tracer.Span
  readonly #tracer: Tracer.Tracer
  #turn: Turn
  #claimed = false
  #toolkit: InstrumentedToolkit

  /** Opens the span of the turn. Undefined when that fails: then nothing is observed. */
  static start(
    toolkits: ObservedToolkits,
    method: Method,
    options: CallOptions,
    tracer: Tracer.Tracer,
    context: Context.Context<never>,
    currentSpan: Tracer.AnySpan | undefined
  ): ModelCall | undefined {
    let scope: TurnScope | undefined
    let span: Tracer.Span | undefined
    try {
      scope = new TurnScope(tracer, context, toolkits.settings)
      span = scope.open({
        name: `LanguageModel.${method}`,
        kind: "client",
        parent: propagated(currentSpan),
        link: undefined,
        startTime: scope.now(),
        attributes: attributesOf(scope)
      })
      return span && new ModelCall(toolkits, method, options, scope, span)
    } catch {
      if (scope !== undefined) scope.end(span, scope.now())
      return undefined
    }
  }

  private constructor(
    toolkits: ObservedToolkits,
    method: Method,
    options: CallOptions,
    scope: TurnScope,
    span: Tracer.Span
  ) {
    this.#toolkits = toolkits
    this.#method = method
    this.#scope = scope
    this.#messages = messagesOf(options.prompt)
    this.#decided = decidedIn(this.#messages)
    this.#toolkit = toolkits.none
    this.options = { ...options, ...this.#observedToolkit(options.toolkit) }
    this.#firstSpan = span
    this.#turn = this.#begin(span)
    this.#tracer = TurnTracer.make(scope.tracer, {
      spanName: span.name,
      current: span,
      answer: (open) => this.#spanFor(open),
      isAnswered: () => this.#claimed
    })
    this.services = Context.add(Context.make(Tracer.ParentSpan, span), Tracer.Tracer, this.#tracer)
  }

  /** A chunk of a streamed answer: the same parts, tool calls stamped. */
  readonly chunk = <Part extends Response.AnyPart>(parts: ReadonlyArray<Part>): ReadonlyArray<Part> => {
    this.#turn.see(parts)
    return this.#turn.stamped(parts)
  }

  /** The same answer, its tool calls stamped. */
  answer(response: unknown): unknown {
    // A span that cannot be changed has not told of its end.
    this.#ending(this.#turn, Exit.succeed(response))
    const content = contentOf(response)
    if (content === undefined) return response
    const stamped = this.#turn.stamped(content.parts)
    return stamped === content.parts ? response : withContent(content.response, stamped)
  }

  /** Upstream fails. */
  failed(cause: Cause.Cause<unknown>): void {
    this.#turn.failed(cause)
  }

  /** The call is over. Upstream has ended its span before, if it asked for one. */
  end(exit: Exit.Exit<unknown, unknown>): void {
    const turn = this.#turn
    this.#ending(turn, exit)
    if (turn.span.status._tag === "Started") {
      try {
        // A span that upstream would not have made: it says no more than ours may.
        turn.span.end(this.#scope.endTime(), SpanFailure.ofTurn(exit))
      } catch {}
    }
  }

  /** The span of this turn, for upstream. A nested call of another model, with a span of the same name, is not answered with it. */
  #spanFor(open: () => Tracer.Span): Tracer.Span | undefined {
    if (!this.#claimed) {
      this.#claimed = true
      return this.#turn.span
    }
    // After an answer, another one is of another model: a judge, say.
    if (!this.#turn.hasFailed) return undefined
    const span = open()
    for (const [key, value] of Object.entries(attributesOf(this.#scope))) span.attribute(key, value)
    this.#turn = this.#begin(span)
    return span
  }

  /** A turn on this span, which says all that there is to say before it ends. */
  #begin(span: Tracer.Span): Turn {
    const { context, policy } = this.#scope
    const content =
      span.sampled && TurnContent.isCaptured(policy) ? new TurnContent(span, policy, context) : undefined
    try {
      content?.input(this.#messages)
    } catch {
      // A conversation that was never decoded, for instance.
    }
    const turn = new Turn(
      {
        scope: this.#scope,
        span,
        approved: new DecidedCalls(this.#decided),
        isStreamed: this.#method === "streamText",
        resolves: this.options.disableToolCallResolution !== true,
        content,
        callsSoFar: (toolName) => callsSinceUser(this.#messages, toolName)
      },
      this.#toolkit
    )
    const { end } = span
    try {
      span.end = (time, exit) => {
        // A span that waits for its export holds nothing of the conversation.
        span.end = end
        this.#ending(turn, exit)
        end.call(span, time, exit)
      }
    } catch {
      // A span that cannot be changed: events that come after its end are lost.
    }
    return turn
  }

  #ending(turn: Turn, exit: Exit.Exit<unknown, unknown>): void {
    if (!turn.ended && exit._tag === "Success" && this.#method !== "streamText") {
      turn.see(contentOf(exit.value)?.parts ?? [])
    }
    turn.end(exit)
  }

  /** The toolkit for upstream: instrumented, and telling the turn of each call. */
  #observedToolkit(toolkit: unknown): Pick<CallOptions, "toolkit"> | undefined {
    if (toolkit === undefined) return undefined
    return {
      toolkit: this.#toolkits.observe(toolkit, (withHandler, instrumented) => {
        this.#toolkit = instrumented
        this.#turn.resolved(instrumented)
        this.#decisions()
        return this.#withOrigins(withHandler)
      })
    }
  }

  #withOrigins(withHandler: WithHandler): WithHandler {
    return View.withMembers(withHandler, {
      handle: (name, params, toolCallId, options) =>
        Effect.withFiber((fiber) => {
          const origin = this.#turn.handled(toolCallId)
          // What the handler does is its own, but for where it stands.
          let context = fiber.context
          if (fiber.cache.tracer === this.#tracer) {
            context = Context.add(context, Tracer.Tracer, this.#scope.tracer)
          }
          if (fiber.cache.span === this.#firstSpan && this.#turn.span !== this.#firstSpan) {
            context = Context.add(context, Tracer.ParentSpan, this.#turn.span)
          }
          if (origin !== undefined) context = Context.add(context, ToolCallOrigin, origin)
          return Effect.setContext(withHandler.handle(name, params, toolCallId, options), context)
        })
    })
  }

  /** Says what was decided since the last turn, as far as upstream acts on it: without the tool, the turn fails. */
  #decisions(): void {
    if (Object.keys(this.#toolkit.tools).length === 0) return
    for (const decided of this.#decided) {
      try {
        const tool = this.#toolkit.tool(decided.toolCall.name)
        if (decided.response.approved && tool.tool === undefined) continue
        const isNew = ApprovalTelemetry.decided(this.#scope, this.#turn.span, decided, tool)
        if (isNew && !decided.response.approved) this.#toolkit.count(this.#scope.context, tool, "denied")
      } catch {
        // One that cannot be read costs itself.
      }
    }
  }
}

const attributesOf = ({ agentName, conversationId }: TurnScope): Readonly<Record<string, string>> => ({
  [ATTR_GEN_AI_OPERATION_NAME]: OPERATION_CHAT,
  ...(agentName !== undefined && { [ATTR_GEN_AI_AGENT_NAME]: agentName }),
  ...(conversationId !== undefined && { [ATTR_GEN_AI_CONVERSATION_ID]: conversationId })
})

/** A conversation that was never decoded may hold anything. */
const decidedIn = (messages: ReadonlyArray<Prompt.Message>): ReadonlyArray<ApprovalHistory.Decided> => {
  try {
    return ApprovalHistory.decided(messages)
  } catch {
    return []
  }
}

const messagesOf = (prompt: Prompt.RawInput): ReadonlyArray<Prompt.Message> =>
  typeof prompt === "string"
    ? Prompt.make(prompt).content
    : Predicate.hasProperty(prompt, "content") && Array.isArray(prompt.content)
      ? prompt.content
      : []

/** The parts of an answer that came at once. */
const contentOf = (
  response: unknown
): { readonly response: object; readonly parts: ReadonlyArray<Response.AnyPart> } | undefined =>
  Predicate.hasProperty(response, "content") && Array.isArray(response.content)
    ? { response, parts: response.content }
    : undefined

/** The answer with other parts. Whoever made it may have kept it, to give it again: it is not changed. */
const withContent = (response: object, content: ReadonlyArray<Response.AnyPart>): object =>
  response instanceof LanguageModel.GenerateTextResponse
    ? Object.assign(Object.create(Object.getPrototypeOf(response)), response, { content })
    : View.withMembers(response, { content })

/** How often a tool was called since the last message of the user. */
const callsSinceUser = (messages: ReadonlyArray<Prompt.Message>, toolName: string): number => {
  let count = 0
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index]
    if (message === undefined || message.role === "user") break
    if (message.role !== "assistant") continue
    for (const part of message.content) {
      if (part.type === "tool-call" && !part.providerExecuted && part.name === toolName) count++
    }
  }
  return count
}
