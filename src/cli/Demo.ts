/**
 * `toolspan demo`: a scripted model drives real tools over the current directory, and the trace is shown.
 */
import * as Console from "effect/Console"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as ScriptedModel from "../testing/ScriptedModel.ts"
import * as Agent from "./demo/Agent.ts"
import * as Script from "./demo/Script.ts"
import * as Workspace from "./demo/Workspace.ts"
import * as Telemetry from "./Telemetry.ts"

export const command = Command.make(
  "demo",
  {
    yes: Flag.Boolean("yes").pipe(
      Flag.withAlias("y"),
      Flag.withDescription("Answer yes to every question (none is asked yet)"),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function* () {
    const directory = process.cwd()
    const fs = yield* FileSystem.FileSystem
    const repository = yield* Effect.orElseSucceed(fs.exists(`${directory}/.git`), () => false)
    yield* Console.log(`User: ${Script.question.replace(Script.leakedKey, "sk-live-…")}`)
    const { text, traceId } = yield* Agent.run(Script.question).pipe(
      Effect.provide(Layer.merge(ScriptedModel.layer(Script.turns(repository)), Workspace.layer(directory))),
      // Inside the command: the trace is printed, and delivered, before the answer.
      Effect.provide(Telemetry.layer(process.env))
    )
    yield* Console.log(`Agent: ${text}`)
    const where = Telemetry.whereToLook(process.env, traceId)
    if (where !== undefined) yield* Console.log(`\n${where}`)
  })
).pipe(
  Command.withDescription(
    "Run a scripted agent with real tools over the current directory, and show its trace"
  )
)
