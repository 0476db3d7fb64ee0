/**
 * An agent: a model that answers, tools that it may call, and limits; run turn after turn until it has its answer, waits for approvals or
 * must stop.
 *
 * The agent is the same wherever it runs: in memory, on a file, on many machines. Which, the layer of `AgentRuntime` says.
 */
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import type * as Tool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as Check from "../options/Check.ts"
import type { AgentError } from "./AgentError.ts"
import type { AgentEvent } from "./AgentEvent.ts"
import { AgentRuntime } from "./AgentRuntime.ts"
import * as Conversation from "./Conversation.ts"
import * as Definition from "./Definition.ts"
import * as Id from "./Id.ts"
import type { Outcome } from "./Outcome.ts"
import type { NewRun } from "./RunStore.ts"
import * as RunTelemetry from "./RunTelemetry.ts"

/** What defines an agent. */
export interface Options<Tools extends Record<string, Tool.Any>, E, R> extends Definition.Options {
  /**
   * The tools, as `LanguageModel.generateText` takes them: a toolkit whose handlers a layer provides, one that has its handlers, or an
   * effect that gives one. To see its calls, hand over what `ToolkitInstrumentation.instrument` gives.
   */
  readonly toolkit: Toolkit.WithHandler<Tools> | Effect.Effect<Toolkit.WithHandler<Tools>, E, R>
}

/** What is said to an agent. An input that makes no sense is a defect that says why. */
export interface Input {
  /** Appended to the conversation. Approvals of calls in it, and decisions on them, count as they do upstream: take them from nobody as they are. */
  readonly prompt: Prompt.RawInput
  /** The conversation that goes on; by default a new one. One run at a time. */
  readonly conversation?: string | undefined
  /** Makes it one run, however often it is asked for: by default each time another. */
  readonly runId?: string | undefined
}

export interface Agent<E, R> {
  readonly name: string
  /** Lets this process work on its runs. The model, the handlers and what they need are those in scope where it is provided. */
  readonly layer: Layer.Layer<never, E, R | LanguageModel.LanguageModel | AgentRuntime>
  /** Runs it, and gives what happens, the last of it `Ended`: when the answer is there, or when approvals are waited for. */
  readonly run: (input: Input) => Stream.Stream<AgentEvent, AgentError, AgentRuntime>
  /** Runs it, and gives how it ended. */
  readonly generate: (input: Input) => Effect.Effect<Outcome, AgentError, AgentRuntime>
  /** Records a run and gives its id, at once. A durable runtime works on it; elsewhere it waits for {@link resume}. */
  readonly start: (input: Input) => Effect.Effect<string, AgentError, AgentRuntime>
  /** Goes on with a run: one that waited and was decided upon, one that was started, one whose process died. Looks on, if it goes on anyway. */
  readonly resume: (runId: string) => Stream.Stream<AgentEvent, AgentError, AgentRuntime>
}

/** Throws an `Error` that names the option that makes no sense. */
export const make = <Tools extends Record<string, Tool.Any>, E = never, R = never>(
  options: Options<Tools, E, R>
): Agent<E, R | Tool.HandlerServices<Tools[keyof Tools]>> => {
  const { toolkit, ...rest } = options
  const definition = Definition.make(rest)
  const { name } = definition

  const begin = (input: Input) =>
    Effect.flatMap(AgentRuntime, (runtime) =>
      Effect.flatMap(newRun(name, input), (run) =>
        Effect.as(runtime.begin(run), { runtime, runId: run.runId })
      )
    )

  const register = Effect.gen(function* () {
    const runtime = yield* AgentRuntime
    const model = yield* LanguageModel.LanguageModel
    // The boundary where the types of the tools end: what their handlers need is in the context.
    const handling = (yield* Effect.isEffect(toolkit) ? toolkit : Effect.succeed(toolkit)) as unknown
    const context = yield* Effect.context<never>()
    yield* runtime.register({ definition, model, toolkit: handling as Definition.Tools, context })
  })

  return {
    name,
    layer: Layer.effectDiscard(register) as Layer.Layer<
      never,
      E,
      R | Tool.HandlerServices<Tools[keyof Tools]> | LanguageModel.LanguageModel | AgentRuntime
    >,
    run: (input) => Stream.unwrap(Effect.map(begin(input), ({ runId, runtime }) => runtime.follow(runId))),
    generate: (input) => Effect.flatMap(begin(input), ({ runId, runtime }) => runtime.outcome(runId)),
    start: (input) =>
      Effect.flatMap(begin(input), ({ runId, runtime }) => Effect.as(runtime.wake(runId), runId)),
    resume: (runId) => Stream.unwrap(Effect.map(AgentRuntime, (runtime) => runtime.follow(runId)))
  }
}

const newRun = (agent: string, input: Input): Effect.Effect<NewRun> =>
  Effect.withFiber((fiber) =>
    Effect.sync(() => {
      Check.validate(`Agent "${agent}"`, inputChecks, input)
      return Conversation.take(
        {
          runId: input.runId ?? crypto.randomUUID(),
          conversation: input.conversation ?? crypto.randomUUID(),
          agent,
          messages: Prompt.make(input.prompt).content,
          caller: RunTelemetry.callerOf(fiber)
        },
        fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()
      )
    })
  )

const inputChecks: Check.Checks<Input> = {
  prompt: ["text or messages", (value) => typeof value === "string" || typeof value === "object"],
  conversation: [Id.ALLOWED, Id.isValid],
  runId: [Id.ALLOWED, Id.isValid]
}
