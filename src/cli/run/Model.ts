/**
 * The model that `--model` names: one of Anthropic's, with the key of the environment, and observed.
 */
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as CliError from "effect/cli/CliError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as AnthropicClient from "../../anthropic/AnthropicClient.ts"
import * as AnthropicLanguageModel from "../../anthropic/AnthropicLanguageModel.ts"
import * as LanguageModelInstrumentation from "../../instrumentation/LanguageModelInstrumentation.ts"
import * as Refusal from "../Refusal.ts"

type Model = Layer.Layer<LanguageModel.LanguageModel, CliError.UserError>

export const layer = (name: string): Model =>
  (process.env["ANTHROPIC_API_KEY"] ?? "").trim() === ""
    ? refused(Refusal.make(`--model ${name} needs a key of Anthropic's: set ANTHROPIC_API_KEY`))
    : LanguageModelInstrumentation.layer(AnthropicLanguageModel.layer({ model: name })).pipe(
        Layer.provide(AnthropicClient.layerConfig()),
        Layer.catchCause((cause) => refused(Refusal.ofCause(`The model ${name} could not be set up`, cause)))
      )

const refused = (error: CliError.UserError): Model =>
  Layer.effect(LanguageModel.LanguageModel)(Effect.fail(error))
