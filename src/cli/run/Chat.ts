/**
 * A conversation with an agent: one run after the other, each until it is over, with the approvals that it asks for.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import type * as Agent from "../../runtime/Agent.ts"
import type { AgentError } from "../../runtime/AgentError.ts"
import type { AgentEvent } from "../../runtime/AgentEvent.ts"
import { AgentRuntime } from "../../runtime/AgentRuntime.ts"
import type { Outcome, Waiting } from "../../runtime/Outcome.ts"
import type { RunStore } from "../../runtime/RunStore.ts"
import * as Answer from "../Answer.ts"
import type { Keyboard } from "./Keyboard.ts"
import type { Narration } from "./Narration.ts"

export interface Chat {
  readonly agent: Pick<Agent.Agent<unknown, unknown>, "run" | "resume">
  readonly conversation: string
  readonly narration: Narration
  /** Somebody at the terminal, to be asked, and to stop a run by Ctrl-C; undefined where there is nobody. */
  readonly keyboard: Keyboard | undefined
  /** Whether what needs an approval is allowed without asking. */
  readonly yes: boolean
}

/** Says this to the agent, and gives how its run ended. */
export const say = (
  chat: Chat,
  prompt: string
): Effect.Effect<Outcome, AgentError, AgentRuntime | RunStore> => {
  const runId = crypto.randomUUID()
  const { agent, conversation } = chat
  return toItsEnd(chat, runId, agent.run({ prompt, conversation, runId })).pipe(
    // The one span above all stretches of the run.
    Effect.withSpan("toolspan run")
  )
}

/** Goes on with a run that was left. */
export const goOn = (
  chat: Chat,
  runId: string
): Effect.Effect<Outcome, AgentError, AgentRuntime | RunStore> =>
  toItsEnd(chat, runId, chat.agent.resume(runId))

/** Says what is typed, until there is no more. */
export const loop = (chat: Chat, keyboard: Keyboard): Effect.Effect<void, never, AgentRuntime | RunStore> =>
  Effect.gen(function* () {
    while (true) {
      const prompt = (yield* keyboard.read)?.trim()
      if (prompt === undefined || prompt === "exit") return
      if (prompt === "") continue
      yield* Effect.catch(say(chat, prompt), (error) => Effect.sync(() => chat.narration.warn(error.message)))
    }
  })

type Events = Stream.Stream<AgentEvent, AgentError, AgentRuntime>

const toItsEnd = (
  chat: Chat,
  runId: string,
  events: Events
): Effect.Effect<Outcome, AgentError, AgentRuntime | RunStore> =>
  Effect.gen(function* () {
    let outcome = yield* stretch(chat, runId, events)
    while (outcome._tag === "Waiting") {
      yield* Effect.catchTag(decide(chat, outcome.approvals), "Unanswered", () => cancel(runId))
      outcome = yield* stretch(chat, runId, chat.agent.resume(runId))
    }
    return outcome
  })

/** Ctrl-C, or the end of the input, in place of an answer. */
class Unanswered extends Data.TaggedError("Unanswered") {}

const decide = ({ keyboard, narration, yes }: Chat, approvals: Waiting["approvals"]) =>
  Answer.decide(approvals, {
    given: yes ? "yes" : undefined,
    ask: keyboard && ((question) => ask(keyboard, question)),
    say: (text) => Effect.sync(() => narration.say(text)),
    otherwise: "--yes allows it."
  })

const ask = (keyboard: Keyboard, question: string): Effect.Effect<boolean, Unanswered> =>
  Effect.flatMap(keyboard.ask(`${question} [y/n] `), (answer) => {
    if (answer === undefined) return Effect.fail(new Unanswered())
    const said = answer.trim().toLowerCase()
    if (said === "y" || said === "yes") return Effect.succeed(true)
    return said === "n" || said === "no" ? Effect.succeed(false) : ask(keyboard, question)
  })

const cancel = (runId: string) =>
  Effect.asVoid(Effect.flatMap(AgentRuntime, (runtime) => runtime.cancel(runId)))

/** Tells what happens until the run waits or is over. Ctrl-C stops it; once more, and the process ends. */
const stretch = (
  { keyboard, narration }: Chat,
  runId: string,
  events: Events
): Effect.Effect<Outcome, AgentError, AgentRuntime> =>
  Effect.gen(function* () {
    let outcome: Outcome | undefined
    const telling = Stream.runForEach(events, (event) =>
      Effect.sync(() => {
        narration.tell(event)
        if (event._tag === "Ended") outcome = event.outcome
      })
    )
    yield* keyboard === undefined ? telling : stoppable(telling, keyboard, runId, narration)
    if (outcome === undefined) throw new Error("a run that is followed ends with how it ended")
    return outcome
  })

const stoppable = (
  telling: Effect.Effect<void, AgentError, AgentRuntime>,
  keyboard: Keyboard,
  runId: string,
  narration: Narration
): Effect.Effect<void, AgentError, AgentRuntime> =>
  Effect.gen(function* () {
    const runtime = yield* AgentRuntime
    let stopping: Fiber.Fiber<unknown, unknown> | undefined
    const stop = () => {
      if (stopping !== undefined) process.exit(130)
      narration.note("Stopping … (Ctrl-C again leaves at once)")
      stopping = Effect.runFork(runtime.cancel(runId))
    }
    yield* keyboard.interruptible(telling, stop)
    if (stopping !== undefined) yield* Fiber.await(stopping)
  })
