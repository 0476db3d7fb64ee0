/**
 * The handler of the tool `AnthropicBash`: runs calls in a {@link BashSession} and writes what the model reads.
 *
 * A result is the output, then the exit code; in square brackets between them whatever else the model needs to know of its shell.
 */
import * as Effect from "effect/Effect"
import type * as Bash from "../tools/Bash.ts"
import { BashError } from "./BashError.ts"
import * as BashSession from "./BashSession.ts"

/** The handlers for `toolkit.toLayer`, by the name of the tool. */
export interface Handlers {
  readonly AnthropicBash: (params: Bash.Parameters) => Effect.Effect<string, BashError>
}

/**
 * Handlers that run commands in the session in scope: `toolkit.toLayer(BashHandler.make).pipe(Layer.provide(BashSession.layer()))`, and
 * spread into the object of all handlers where the toolkit has more tools.
 */
export const make: Effect.Effect<Handlers, never, BashSession.BashSession> = Effect.map(
  BashSession.BashSession,
  (session) => ({
    AnthropicBash: ({ command, restart }) =>
      Effect.gen(function* () {
        if (restart === true) yield* session.restart
        if (command !== undefined) return textOf(yield* session.run(command), session.workingDirectory)
        if (restart === true) return restartedText(session.workingDirectory)
        return yield* new BashError({
          reason: "NothingToDo",
          message: "The call has neither a command nor restart: true. Give the command to run."
        })
      })
  })
)

const restartedText = (workingDirectory: string): string =>
  `[The shell was ended, with everything that was started in it. The next command starts a new one in ${workingDirectory}.]`

const textOf = (completed: BashSession.Completed, workingDirectory: string): string => {
  const { background, ended, exitCode, output, restarted, signal } = completed
  const blocks: Array<string> = []
  if (restarted !== undefined) {
    blocks.push(
      `[This is a new shell, in ${workingDirectory}: ${
        restarted === "cancelled" ? "the command before was cancelled, which ended" : "something ended"
      } the old one, with its variables and background processes.]`
    )
  }
  if (background !== "") {
    blocks.push(
      `[Written by background processes since the last command:]\n${withoutLastNewline(background)}`
    )
    if (output !== "") blocks.push("[Written by this command:]")
  }
  if (output !== "") blocks.push(withoutLastNewline(output))
  blocks.push(signal === null ? `[exit code ${exitCode}]` : `[ended by ${signal}]`)
  if (ended) {
    blocks.push(
      `[That ended the shell, with everything that was started in it. The next command starts a new one in ${workingDirectory}.]`
    )
  }
  return blocks.join("\n")
}

const withoutLastNewline = (text: string): string => (text.endsWith("\n") ? text.slice(0, -1) : text)
