/**
 * The file that a user gives: its default export is an agent, and the layer of what the agent needs.
 */
import { existsSync } from "node:fs"
import { createRequire } from "node:module"
import * as path from "node:path"
import type * as LanguageModel from "effect/ai/LanguageModel"
import type * as CliError from "effect/cli/CliError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import type * as Agent from "../../runtime/Agent.ts"
import type { AgentRuntime } from "../../runtime/AgentRuntime.ts"
import * as Refusal from "../Refusal.ts"

/** An agent, and the layer that lets this process work on its runs. */
export interface Module {
  readonly agent: Pick<Agent.Agent<unknown, unknown>, "name" | "run" | "resume">
  readonly layer: Layer.Layer<never, unknown, AgentRuntime>
}

/** Loads it. `model`: the one to use, whatever its layer has. Fails with one line that says what is wrong with it. */
export const load = (
  file: string,
  model: Layer.Layer<LanguageModel.LanguageModel, CliError.UserError> | undefined
): Effect.Effect<Module, CliError.UserError> =>
  Effect.suspend(() => {
    const filename = path.resolve(file)
    if (!existsSync(filename)) return Refusal.fail(`There is no file ${filename}: MODULE is ${SHAPE}`)
    let exported: unknown
    try {
      exported = require(filename)
    } catch (error) {
      return Effect.fail(Refusal.make(`${filename} could not be loaded: ${explain(error)}`, error))
    }
    const module = Predicate.hasProperty(exported, "default") ? exported.default : undefined
    if (!Predicate.hasProperty(module, "agent") || !isAgent(module.agent)) {
      return Refusal.fail(`${filename} has no agent: MODULE is ${SHAPE}`)
    }
    if (!Predicate.hasProperty(module, "layer") || !Layer.isLayer(module.layer)) {
      return Refusal.fail(`${filename} has no layer for its agent: MODULE is ${SHAPE}`)
    }
    // The boundary where the types of the module end: what it promises is checked when its layer is built.
    const needed = module.layer as unknown as Layer.Layer<LanguageModel.LanguageModel, unknown>
    return Effect.succeed({
      agent: module.agent,
      layer: Layer.provide(module.agent.layer, model === undefined ? needed : Layer.merge(needed, model))
    })
  })

const SHAPE =
  "a file with the default export { agent, layer }, an agent of Agent.make and a layer of what it needs, its model and its handlers"

const require = createRequire(import.meta.url)

const explain = (error: unknown): string =>
  Predicate.hasProperty(error, "code") && error.code === "ERR_REQUIRE_ASYNC_MODULE"
    ? "it, or a module that it imports, has an await at its top level. Do that in its layer"
    : Refusal.messageOf(error)

const isAgent = (value: unknown): value is Agent.Agent<unknown, never> =>
  Predicate.hasProperty(value, "name") &&
  typeof value.name === "string" &&
  Predicate.hasProperty(value, "layer") &&
  Layer.isLayer(value.layer) &&
  Predicate.hasProperty(value, "run") &&
  Predicate.isFunction(value.run)
