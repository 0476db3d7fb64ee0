/**
 * `toolspan demo`: a scripted model drives real tools over the current directory, and the trace is shown. One of its tools needs an
 * approval; the answer may come later, in another process.
 */
import * as Console from "effect/Console"
import * as Argument from "effect/cli/Argument"
import type * as CliError from "effect/cli/CliError"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Prompt from "effect/cli/Prompt"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as TraceContext from "../propagation/TraceContext.ts"
import * as AgentRuntime from "../runtime/AgentRuntime.ts"
import { RunStore } from "../runtime/RunStore.ts"
import * as Answer from "./Answer.ts"
import * as Agent from "./demo/Agent.ts"
import * as Script from "./demo/Script.ts"
import * as Refusal from "./Refusal.ts"
import * as Store from "./Store.ts"
import * as Switch from "./Switch.ts"
import * as Telemetry from "./Telemetry.ts"

export const command = Command.make(
  "demo",
  {
    yes: Switch.make("yes", "Allow what needs an approval").pipe(Flag.withAlias("y")),
    no: Switch.make("no", "Deny what needs an approval"),
    later: Switch.make(
      "later",
      "Keep the run in FILE (default: a temporary one) instead of waiting for an answer. Needs Node 22.16 or later"
    ),
    resume: Flag.String("resume").pipe(
      Flag.withMetavar("FILE"),
      Flag.withDescription("Go on with a run that was kept, in the same trace"),
      Flag.optional
    ),
    file: Argument.String("FILE").pipe(Argument.withDescription("Where --later keeps it"), Argument.optional)
  },
  Effect.fnUntraced(function* (flags) {
    yield* check(flags)
    // Somebody may be watching: an alert that follows from this should not wait for a minute.
    process.env["OTEL_METRIC_EXPORT_INTERVAL"] ||= "10000"
    if (Option.isSome(flags.resume)) {
      const file = flags.resume.value
      return yield* Effect.provide(resume(flags, file), Store.layer(file, { create: false }))
    }
    if (!flags.later) {
      return yield* Effect.provide(begin(flags, undefined), AgentRuntime.layerMemory)
    }
    const file = yield* place(flags.file)
    yield* Effect.provide(later(flags, file), Store.layer(file, { create: true }))
  }, Refusal.ofStores)
).pipe(
  Command.withDescription(
    "Run a scripted agent with real tools over the current directory, and show its trace"
  )
)

interface Flags {
  readonly yes: boolean
  readonly no: boolean
  readonly later: boolean
  readonly resume: Option.Option<string>
  readonly file: Option.Option<string>
}

/** One answer at most can be given beforehand. */
const check = ({ file, later, no, resume, yes }: Flags): Effect.Effect<void, CliError.UserError> => {
  const answers = (
    [
      ["yes", yes],
      ["no", no],
      ["later", later]
    ] as const
  ).flatMap(([name, on]) => (on ? [`--${name}`] : []))
  if (answers.length > 1) {
    return Refusal.fail(`${answers.join(" and ")} exclude each other: give one of them`)
  }
  if (Option.isSome(file) && (!later || Option.isSome(resume))) {
    return Refusal.fail(`"${file.value}" is not expected here: a file is where --later keeps a new run`)
  }
  return Effect.void
}

/** The file that was given, else a new temporary one. */
const place = (file: Option.Option<string>) =>
  Effect.gen(function* () {
    if (Option.isSome(file)) return file.value
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    return path.join(yield* fs.makeTempDirectory({ prefix: "toolspan-demo-" }), "runs.db")
  })

/** The runs of the demo in the store that go on. */
const unfinished = Effect.flatMap(RunStore, (store) => store.unfinished({ agent: Agent.agent.name }))

/** A new run, in a store. */
const later = (flags: Flags, file: string) =>
  Effect.gen(function* () {
    const [waiting] = yield* unfinished
    if (waiting !== undefined) {
      return yield* Refusal.fail(
        `A run of the demo waits in ${file}: go on with --resume ${file}, or give another file`
      )
    }
    yield* begin(flags, file)
  }).pipe(Effect.provide(AgentRuntime.layer))

/** A new run. `file`: where it is kept, if it is. */
const begin = (flags: Flags, file: string | undefined) =>
  Effect.gen(function* () {
    yield* Console.log(`User: ${Script.question.replace(Script.leakedKey, "sk-live-…")}`)
    yield* work(
      Effect.flatMap(Agent.agent.start({ prompt: Script.question }), (runId) => working(runId, flags)).pipe(
        // The one span above all stretches, so that they are one tree.
        Effect.withSpan("toolspan demo")
      ),
      file
    )
  })

/** Goes on with the run that is in the store. */
const resume = (flags: Flags, file: string) =>
  Effect.gen(function* () {
    const [waiting] = yield* unfinished
    if (waiting === undefined) {
      return yield* Console.log("Nothing waits in this conversation: it is finished.")
    }
    yield* work(working(waiting.runId, flags), file)
  }).pipe(Effect.provide(AgentRuntime.layer))

const working = (runId: string, { later, no, yes }: Flags) =>
  Agent.work(runId, (approvals) =>
    later
      ? Effect.succeed(false)
      : Effect.as(
          Answer.decide(approvals, {
            given: yes ? "yes" : no ? "no" : undefined,
            ask:
              process.stdin.isTTY && process.stdout.isTTY
                ? (message) => Prompt.run(Prompt.Confirm({ message }))
                : undefined,
            say: Console.log,
            otherwise: "--yes allows it, --later keeps it."
          }),
          true
        )
  )

/** Works on a run, and tells how it ended and where its trace is. */
const work = <E, R>(
  run: Effect.Effect<Effect.Success<ReturnType<typeof working>>, E, R>,
  file: string | undefined
) =>
  Effect.gen(function* () {
    const directory = process.cwd()
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const repository = yield* Effect.orElseSucceed(fs.exists(`${directory}/.git`), () => false)
    const outcome = yield* run.pipe(
      Effect.provide(Agent.layer(directory, repository, file)),
      // Inside the command: the trace is printed, and delivered, before the answer.
      Effect.provide(Telemetry.layer(process.env, { serviceName: "toolspan-demo", print: "live" }))
    )
    switch (outcome._tag) {
      case "Finished":
        yield* Console.log(`Agent: ${outcome.text}`)
        break
      case "Waiting": {
        const store = path.resolve(file ?? "")
        yield* Console.log(
          `The agent waits for an answer. Go on with: toolspan demo --resume ${store}\n` +
            `Or answer it first: toolspan approvals list --store ${store}`
        )
        break
      }
      default:
        return yield* Refusal.fail(
          outcome._tag === "Failed" ? `The run failed: ${outcome.error.message}` : "The run was stopped"
        )
    }
    const { progress } = yield* Effect.flatMap(RunStore, (store) => store.get(outcome.runId))
    const place = progress.latest && TraceContext.toSpan(progress.latest)
    const where = place && Telemetry.whereToLook(process.env, place.traceId)
    if (where !== undefined) yield* Console.log(`\n${where}`)
  })
