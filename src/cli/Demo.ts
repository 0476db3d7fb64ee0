/**
 * `toolspan demo`: a scripted model drives real tools over the current directory, and the trace is shown. One of its tools needs an
 * approval; the answer may come later, in another process.
 */

import * as AiPrompt from "effect/ai/Prompt"
import * as Console from "effect/Console"
import * as Argument from "effect/cli/Argument"
import * as CliError from "effect/cli/CliError"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as TraceContext from "../propagation/TraceContext.ts"
import * as Agent from "./demo/Agent.ts"
import * as Answer from "./demo/Answer.ts"
import * as SavedConversation from "./demo/SavedConversation.ts"
import * as Script from "./demo/Script.ts"
import * as Workspace from "./demo/Workspace.ts"
import * as Telemetry from "./Telemetry.ts"

const onOff = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withoutNegation, Flag.withDescription(description), Flag.withDefault(false))

export const command = Command.make(
  "demo",
  {
    yes: onOff("yes", "Allow what needs an approval").pipe(Flag.withAlias("y")),
    no: onOff("no", "Deny what needs an approval"),
    later: onOff(
      "later",
      "Save the conversation in FILE (default: a temporary one) instead of waiting for an answer"
    ),
    resume: Flag.String("resume").pipe(
      Flag.withMetavar("FILE"),
      Flag.withDescription("Go on with a conversation that was saved, in the same trace"),
      Flag.optional
    ),
    file: Argument.String("FILE").pipe(Argument.withDescription("Where --later saves"), Argument.optional)
  },
  Effect.fnUntraced(function* (flags) {
    // Somebody may be watching: an alert that follows from this should not wait for a minute.
    process.env["OTEL_METRIC_EXPORT_INTERVAL"] ||= "10000"
    const answer = Answer.make(yield* given(flags), process.stdin.isTTY && process.stdout.isTTY)
    const directory = process.cwd()
    const fs = yield* FileSystem.FileSystem
    const repository = yield* Effect.orElseSucceed(fs.exists(`${directory}/.git`), () => false)
    const saved = Option.isSome(flags.resume) ? yield* SavedConversation.load(flags.resume.value) : undefined
    const conversation = saved?.prompt ?? AiPrompt.make(Script.question)
    const turns = Script.turns(repository).slice(turnsOf(conversation))
    if (turns.length === 0) return yield* Console.log("Nothing waits in this conversation: it is finished.")
    if (saved === undefined) {
      yield* Console.log(`User: ${Script.question.replace(Script.leakedKey, "sk-live-…")}`)
    }
    const outcome = yield* Agent.run(
      conversation,
      answer,
      saved?.trace && TraceContext.toSpan(saved.trace)
    ).pipe(
      Effect.provide(Layer.merge(Agent.model(turns), Workspace.layer(directory))),
      // Inside the command: the trace is printed, and delivered, before the answer.
      Effect.provide(Telemetry.layer(process.env))
    )
    const file = Option.getOrUndefined(Option.orElse(flags.file, () => flags.resume))
    if (outcome.text === undefined) {
      const path = yield* SavedConversation.save(outcome.conversation, file)
      yield* Console.log(`The agent waits for an answer. Go on with: toolspan demo --resume ${path}`)
    } else {
      // A decision that is saved without its result would run the tool again.
      if (saved !== undefined) yield* SavedConversation.save(outcome.conversation, file)
      yield* Console.log(`Agent: ${outcome.text}`)
    }
    const where = Telemetry.whereToLook(process.env, outcome.traceId)
    if (where !== undefined) yield* Console.log(`\n${where}`)
  })
).pipe(
  Command.withDescription(
    "Run a scripted agent with real tools over the current directory, and show its trace"
  )
)

interface Flags {
  readonly yes: boolean
  readonly no: boolean
  readonly later: boolean
  readonly file: Option.Option<string>
}

/** The answer that was given beforehand: one at most. */
const given = ({ file, later, no, yes }: Flags): Effect.Effect<Answer.Given, CliError.UserError> => {
  const answers = (
    [
      ["yes", yes],
      ["no", no],
      ["later", later]
    ] as const
  ).flatMap(([name, on]) => (on ? [name] : []))
  if (answers.length > 1) {
    return refused(`${answers.map((name) => `--${name}`).join(" and ")} exclude each other: give one of them`)
  }
  if (Option.isSome(file) && !later) {
    return refused(`"${file.value}" is not expected here: a file is where --later saves`)
  }
  return Effect.succeed(answers[0])
}

const refused = (message: string) => Effect.fail(new CliError.UserError({ cause: message }))

/** How many turns of the script a conversation has had. */
const turnsOf = (conversation: AiPrompt.Prompt): number =>
  conversation.content.filter(
    ({ content, role }) =>
      role === "assistant" && content.some(({ type }) => type === "text" || type === "tool-call")
  ).length
