/**
 * Hands one call to its handler, and waits for its result: one attempt.
 *
 * The handler knows agent, conversation and origin from the references of `propagation/`, and nothing else of the runtime.
 */
import * as AiError from "effect/ai/AiError"
import type * as Prompt from "effect/ai/Prompt"
import type * as Tool from "effect/ai/Tool"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { CurrentAgent, CurrentConversation, type Origin, ToolCallOrigin } from "../propagation/Origin.ts"
import * as Ending from "../signals/Ending.ts"
import type { Worker } from "./Definition.ts"
import * as Results from "./Results.ts"
import type { CallResult } from "./RunStore.ts"

/** How an attempt ended. */
export interface Ended {
  readonly result: CallResult
  /** The handler failed or died: another attempt may go better. */
  readonly mayBeRetried: boolean
  /** What the tool failed the program with: the run fails, too. */
  readonly failure: Cause.Cause<unknown> | undefined
}

/** One attempt. It does not fail; it can be interrupted. `progress`: is given each preliminary result, encoded. */
export const attempt = (
  worker: Worker,
  call: Prompt.ToolCallPart,
  conversation: string,
  origin: Origin,
  progress: (result: unknown) => void
): Effect.Effect<Ended> => {
  let final: Tool.HandlerResult<Tool.Any> | undefined
  const handled = Effect.flatMap(
    // The boundary where the type of the parameters ends: the toolkit decodes them.
    worker.toolkit.handle(call.name, call.params as never, call.id),
    Stream.runForEachArray((results) =>
      Effect.sync(() => {
        for (const result of results) {
          if (result.preliminary) progress(result.encodedResult)
          else final = result
        }
      })
    )
  ) as Effect.Effect<void, unknown>
  return Effect.matchCauseEffect(
    Effect.updateContext(handled, (context: Context.Context<never>) =>
      Context.merge(worker.context, context).pipe(
        Context.add(CurrentAgent, worker.definition.name),
        Context.add(CurrentConversation, conversation),
        Context.add(ToolCallOrigin, origin)
      )
    ),
    {
      onSuccess: () =>
        Effect.sync(() =>
          final === undefined
            ? failed(Cause.die(new Error(`Tool "${call.name}": its handler gave no final result`)))
            : fromResult(final)
        ),
      // Whoever interrupts this fiber does not get here: a handler that interrupts itself does, and has failed.
      onFailure: (cause) => Effect.sync(() => failed(cause))
    }
  )
}

const fromResult = (result: Tool.HandlerResult<Tool.Any>): Ended => ({
  result: {
    result: result.encodedResult,
    isFailure: result.isFailure,
    ...(result.modelOutput !== undefined && { modelOutput: result.modelOutput })
  },
  mayBeRetried: result.isFailure && (result.failureOrigin ?? "handler") === "handler",
  failure: undefined
})

const failed = (cause: Cause.Cause<unknown>): Ended => {
  const { failure, outcome } = Ending.fromCause(cause)
  const error = failure?.error
  // The model's mistakes, for the model to mend.
  if ((outcome === "unknown_tool" || outcome === "invalid_arguments") && AiError.isAiError(error)) {
    return { result: Results.fromAiError(error), mayBeRetried: false, failure: undefined }
  }
  return {
    result: outcome === "defect" ? Results.broken(undefined) : Results.broken(error),
    mayBeRetried: outcome === "failure" || outcome === "defect",
    failure: cause
  }
}
