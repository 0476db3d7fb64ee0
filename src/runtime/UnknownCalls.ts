/**
 * Calls that were started and of which nobody recorded how they ended, since their worker was lost: for an operator to find out.
 *
 * The model was told that the outcome is unknown. What the operator says is what the call comes to from then on, if it is asked for again.
 */
import * as Effect from "effect/Effect"
import type { AgentError } from "./AgentError.ts"
import { RunStore, type UnknownCall } from "./RunStore.ts"

/** All of them, oldest first; `resolved` tells those that an operator has found out about. */
export const list: Effect.Effect<ReadonlyArray<UnknownCall>, AgentError, RunStore> = Effect.flatMap(
  RunStore,
  (store) => store.unknownCalls
)

/** Says what a call came to: its result, encoded, as its tool would have given it. `CallNotUnknown`. */
export const resolve = (
  call: Pick<UnknownCall, "conversation" | "toolCallId">,
  result: { readonly result: unknown; readonly isFailure?: boolean | undefined }
): Effect.Effect<void, AgentError, RunStore> =>
  Effect.flatMap(RunStore, (store) =>
    store.resolveCall(call.conversation, call.toolCallId, {
      result: result.result,
      isFailure: result.isFailure ?? false
    })
  )
