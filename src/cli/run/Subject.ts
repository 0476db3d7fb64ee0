/**
 * Whom the words after `toolspan run` are said to: the agent of a module, or with `--model` alone one of our own.
 */
import { existsSync } from "node:fs"
import type * as CliError from "effect/cli/CliError"
import * as Effect from "effect/Effect"
import * as Refusal from "../Refusal.ts"
import * as Assistant from "./Assistant.ts"
import * as Model from "./Model.ts"
import * as Module from "./Module.ts"

export interface Subject extends Module.Module {
  /** How messages name it. */
  readonly named: string
  readonly prompt: string | undefined
}

/** A file there is, or the name of one that was meant. */
const isModule = (word: string): boolean => existsSync(word) || /^\S+\.[cm]?[jt]s$/.test(word)

/** `words`: MODULE and PROMPT. With a model, a single one that names no module is the prompt. */
export const resolve = (
  words: ReadonlyArray<string>,
  modelName: string | undefined
): Effect.Effect<Subject, CliError.UserError> => {
  const [first, second] = words
  const model = modelName === undefined ? undefined : Model.layer(modelName)
  if (model !== undefined && second === undefined && (first === undefined || !isModule(first))) {
    return Effect.succeed({
      agent: Assistant.agent,
      layer: Assistant.layer(model),
      named: "the assistant",
      prompt: first
    })
  }
  if (first === undefined) return Refusal.fail("Which agent? Give MODULE, or --model for one of our own")
  return Effect.map(Module.load(first, model), (module) => ({ ...module, named: first, prompt: second }))
}
