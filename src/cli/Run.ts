/**
 * `toolspan run`: talks with an agent in the terminal, and asks there for its approvals.
 *
 * This process works on the runs itself, in its own fiber: somebody is there who waits for them. A durable store keeps them for the next
 * process all the same, so that no engine is needed, and several may use one store.
 */
import { text as wholeText } from "node:stream/consumers"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as AgentRuntime from "../runtime/AgentRuntime.ts"
import * as Id from "../runtime/Id.ts"
import * as MemoryRunStore from "../runtime/MemoryRunStore.ts"
import type { Outcome } from "../runtime/Outcome.ts"
import { RunStore } from "../runtime/RunStore.ts"
import * as Refusal from "./Refusal.ts"
import * as Chat from "./run/Chat.ts"
import * as Keyboard from "./run/Keyboard.ts"
import { Narration } from "./run/Narration.ts"
import * as Subject from "./run/Subject.ts"
import * as Store from "./Store.ts"
import * as Switch from "./Switch.ts"
import * as Telemetry from "./Telemetry.ts"

export const command = Command.make(
  "run",
  {
    module: Argument.String("MODULE").pipe(
      Argument.withDescription(
        "A file with the default export { agent, layer }: the layer has the model and the handlers of the agent. With --model it may lack either: the model, or all of it"
      ),
      Argument.optional
    ),
    prompt: Argument.String("PROMPT").pipe(
      Argument.withDescription(
        "What to say to it (default: what is typed; or read, where this is no terminal)"
      ),
      Argument.optional
    ),
    model: Flag.String("model").pipe(
      Flag.withMetavar("NAME"),
      Flag.withDescription(
        "A model of Anthropic's, such as claude-sonnet-4-5, with the key in ANTHROPIC_API_KEY. Without MODULE: for an agent with an editor and a shell in this directory, which asks before each change and each command"
      ),
      Flag.optional
    ),
    yes: Switch.make("yes", "Allow what needs an approval").pipe(Flag.withAlias("y")),
    store: Store.flag.pipe(
      Flag.withDescription(
        "Keep runs there: a SQLite file, or postgres://user:password@host/database (default: in memory)"
      )
    ),
    conversation: Flag.String("conversation").pipe(
      Flag.withMetavar("ID"),
      Flag.withDescription(
        "Go on with this conversation of the store, and with its run if that has not ended"
      ),
      Flag.optional
    ),
    trace: Switch.make("trace", "Print the trace of each run")
  },
  Effect.fnUntraced(
    function* ({ conversation, model, module, prompt, store, trace, yes }) {
      if (Option.isSome(conversation) && !Id.isValid(conversation.value)) {
        return yield* Refusal.fail(`--conversation is no id: ${Id.ALLOWED}`)
      }
      if (Option.isSome(conversation) && Option.isNone(store)) {
        return yield* Refusal.fail("--conversation goes on with what a store has: give --store, too")
      }
      const words = [module, prompt].flatMap(Option.toArray)
      const subject = yield* Subject.resolve(words, Option.getOrUndefined(model))
      const { agent, layer, named } = subject
      const isTerminal = process.stdin.isTTY && process.stdout.isTTY
      const chat: Chat.Chat = {
        agent,
        conversation: Option.getOrElse(conversation, () => crypto.randomUUID()),
        narration: new Narration(),
        keyboard: isTerminal ? yield* Keyboard.make : undefined,
        yes
      }
      const working = Layer.catchCause(layer, (cause) =>
        Layer.effectDiscard(Effect.fail(Refusal.ofCause(`The layer of ${named} could not be built`, cause)))
      )
      const talking = (left: string | undefined) =>
        talk(chat, left, subject.prompt).pipe(Effect.provide(Layer.provideMerge(working, AgentRuntime.layer)))
      const kept = Option.match(store, {
        onNone: () => Effect.provide(talking(undefined), MemoryRunStore.layer),
        onSome: (place) =>
          Effect.gen(function* () {
            const [left] = yield* (yield* RunStore).unfinished({ conversation: chat.conversation })
            if (Option.isNone(conversation)) chat.narration.note(`--conversation ${chat.conversation}`)
            yield* talking(left?.runId)
          }).pipe(Effect.provide(Store.layer(place, { create: true })))
      })
      yield* Effect.provide(
        kept,
        Telemetry.layer(process.env, { serviceName: agent.name, print: trace ? "finished" : "nothing" })
      )
    },
    Effect.scoped,
    Refusal.ofStores
  )
).pipe(Command.withDescription("Talk with an agent in the terminal, and decide there what it asks for"))

/** Goes on with the run that was left, and then says what there is to say. */
const talk = (chat: Chat.Chat, left: string | undefined, given: string | undefined) =>
  Effect.gen(function* () {
    let outcome: Outcome | undefined
    if (left !== undefined) {
      const store = yield* RunStore
      const { status } = yield* store.get(left)
      chat.narration.note("Going on with the run that has not ended")
      if (status === "running") {
        const seconds = Math.ceil(store.leaseMillis / 1000)
        chat.narration.note(`(its process was lost, or has it still: that is known in ${seconds} seconds)`)
      }
      outcome = yield* Chat.goOn(chat, left)
    }
    if (given === undefined && chat.keyboard !== undefined) return yield* Chat.loop(chat, chat.keyboard)
    const prompt = given ?? (yield* Effect.promise(() => wholeText(process.stdin))).trim()
    if (prompt !== "") outcome = yield* Chat.say(chat, prompt)
    else if (outcome === undefined) {
      return yield* Refusal.fail("There is nothing to say: give PROMPT, or write it to the standard input")
    }
    if (outcome?._tag !== "Finished") process.exitCode = 1
  })
