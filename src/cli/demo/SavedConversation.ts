/**
 * The file in which a conversation of the demo waits for an answer: the conversation as `effect/ai` encodes it, and the trace to go on in.
 */
import * as Prompt from "effect/ai/Prompt"
import * as CliError from "effect/cli/CliError"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import type * as TraceContext from "../../propagation/TraceContext.ts"

export interface SavedConversation {
  readonly prompt: Prompt.Prompt
  /** Place of the agent's span; undefined where nothing was traced. */
  readonly trace: TraceContext.TraceContext | undefined
}

const File = Schema.fromJsonString(
  Schema.Struct({
    prompt: Prompt.Prompt,
    trace: Schema.optional(
      Schema.Struct({ traceparent: Schema.String, tracestate: Schema.optionalKey(Schema.String) })
    )
  })
)

/** Saves it, as a whole or not at all. Without a file, in a new temporary one. Gives its path. */
export const save = (conversation: SavedConversation, file: string | undefined) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const target = path.resolve(
      file ?? path.join(yield* fs.makeTempDirectory({ prefix: "toolspan-demo-" }), "conversation.json")
    )
    const temporary = `${target}.${process.pid}.tmp`
    // Only for the one who asked: it holds what was said.
    yield* fs.writeFileString(temporary, yield* Schema.encodeEffect(File)(conversation), { mode: 0o600 })
    yield* Effect.onError(fs.rename(temporary, target), () => Effect.ignore(fs.remove(temporary)))
    return target
  }).pipe(
    Effect.mapError((cause) =>
      failure(`Could not save the conversation in ${file ?? "a temporary file"}`, cause)
    )
  )

/** Reads it. */
export const load = (file: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    return yield* Schema.decodeEffect(File)(yield* fs.readFileString(file))
  }).pipe(
    Effect.mapError((cause) =>
      failure(`Could not go on with ${file}: it is no conversation that "toolspan demo --later" saved`, cause)
    )
  )

const failure = (what: string, cause: Error): CliError.UserError =>
  new CliError.UserError({ cause, userMessage: `${what}. ${cause.message}` })
