/**
 * The agent of the demo: observed as a user would observe theirs.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ContentPolicy from "../../content/ContentPolicy.ts"
import * as LanguageModelInstrumentation from "../../instrumentation/LanguageModelInstrumentation.ts"
import * as ToolkitInstrumentation from "../../instrumentation/ToolkitInstrumentation.ts"
import * as Agent from "../../runtime/Agent.ts"
import { AgentRuntime } from "../../runtime/AgentRuntime.ts"
import type { Outcome, Waiting } from "../../runtime/Outcome.ts"
import * as Script from "./Script.ts"
import * as Workspace from "./Workspace.ts"

export const agent = Agent.make({
  name: "workspace-auditor",
  toolkit: ToolkitInstrumentation.instrument(Workspace.toolkit)
})

/** The agent at work over `directory`. `repository`: whether there is a history to look at. `store`: the file that the run is kept in. */
export const layer = (directory: string, repository: boolean, store: string | undefined) =>
  agent.layer.pipe(
    Layer.provide(LanguageModelInstrumentation.layer(Script.model(repository))),
    Layer.provide(Workspace.layer(directory, store))
  )

/** Error texts and reasons are shown, too: these are the demo's own. */
const content = ContentPolicy.make({ errors: "redacted", reasons: "redacted" })

/** Goes on with a run until it has ended, or waits and `decide` has decided nothing. */
export const work = <E, R>(
  runId: string,
  decide: (approvals: Waiting["approvals"]) => Effect.Effect<boolean, E, R>
) =>
  Effect.gen(function* () {
    const runtime = yield* AgentRuntime
    let outcome: Outcome = yield* runtime.outcome(runId)
    while (outcome._tag === "Waiting" && (yield* decide(outcome.approvals))) {
      outcome = yield* runtime.outcome(runId)
    }
    return outcome
  }).pipe(Effect.provideService(ContentPolicy.ContentPolicy, content))
