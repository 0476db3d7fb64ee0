/**
 * Approve in another process: one saves the conversation and ends, another reads it, hours or days later, and goes on in the same
 * trace. `node approve-in-another-process.ts` asks; with the file that it names, it approves.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { Effect, Layer, Schema } from "effect"
import { LanguageModel, Prompt, Tool, Toolkit } from "effect/ai"
import { Approval, LanguageModelInstrumentation } from "toolspan"
import { Sdk } from "toolspan/sdk"
import { Terminal } from "toolspan/terminal"
import { ScriptedModel } from "toolspan/testing"

const Deploy = Tool.make("deploy", { success: Schema.String, needsApproval: true })
const toolkit = Toolkit.make(Deploy)
const handlers = toolkit.toLayer({ deploy: () => Effect.succeed("version 2 is live") })

const saved = process.argv[2]

const provider = ScriptedModel.layer([
  saved === undefined ? [ScriptedModel.toolCall("call_1", "deploy", {})] : [ScriptedModel.text("Deployed.")]
])

const ask = Effect.gen(function* () {
  const { content } = yield* LanguageModel.generateText({ prompt: "Deploy", toolkit })
  const prompt = Prompt.concat(Prompt.make("Deploy"), Prompt.fromResponseParts(content))
  const file = `${tmpdir()}/conversation-${process.pid}.json`
  // Any store will do: the place in the trace is in the conversation.
  writeFileSync(file, JSON.stringify(Schema.encodeSync(Prompt.Prompt)(prompt)))
  console.log(file)
})

const approve = Effect.fnUntraced(function* (file: string) {
  const prompt = Schema.decodeUnknownSync(Prompt.Prompt)(JSON.parse(readFileSync(file, "utf8")))
  const decisions = yield* Effect.forEach(Approval.pending(prompt), ({ approvalId }) =>
    Approval.approve(approvalId, { approver: "ada@example.com" })
  )
  const answer = Prompt.fromMessages([Prompt.toolMessage({ content: decisions })])
  const { text } = yield* LanguageModel.generateText({ prompt: Prompt.concat(prompt, answer), toolkit })
  console.log(text)
})

await Effect.runPromise(
  (saved === undefined ? ask : approve(saved)).pipe(
    Effect.provide(Layer.merge(handlers, LanguageModelInstrumentation.layer(provider))),
    // In the terminal, and over OTLP: open the trace in Jaeger to see both processes in it.
    Effect.provide(Layer.provideMerge(Terminal.layer(), Sdk.layer({ serviceName: "deployer" })))
  )
)
