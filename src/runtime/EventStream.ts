/**
 * The stream of what somebody tells of a run.
 */
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { AgentError } from "./AgentError.ts"
import type { AgentEvent } from "./AgentEvent.ts"

/** What `tell` gives while it runs; ends as it does. A slow reader does not hold up the run. */
export const make = (
  tell: (give: (event: AgentEvent) => void) => Effect.Effect<unknown, AgentError, Scope.Scope>
): Stream.Stream<AgentEvent, AgentError> =>
  Stream.callback(
    (queue) =>
      Effect.matchCauseEffect(
        tell((event) => Queue.offerUnsafe(queue, event)),
        { onSuccess: () => Queue.end(queue), onFailure: (cause) => Queue.failCause(queue, cause) }
      ),
    { bufferSize: Number.POSITIVE_INFINITY }
  )
