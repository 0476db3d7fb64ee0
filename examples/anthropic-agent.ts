/**
 * One of Anthropic's models that keeps notes between conversations, and edits files once somebody has allowed it:
 * `anthropic-agent.ts DIRECTORY "What to do"`, with ANTHROPIC_API_KEY set. Notes and files are below DIRECTORY; no path leads out of it.
 */
import { mkdirSync } from "node:fs"
import { Effect, Layer } from "effect"
import { Toolkit } from "effect/ai"
import { LanguageModelInstrumentation, ToolkitInstrumentation } from "toolspan"
import * as Anthropic from "toolspan/anthropic"
import { Agent, AgentRuntime, Approvals } from "toolspan/runtime"
import { Terminal } from "toolspan/terminal"

const [directory = ".", prompt = "What do you remember?"] = process.argv.slice(2)
for (const name of ["notes", "files"]) mkdirSync(`${directory}/${name}`, { recursive: true })

const toolkit = Toolkit.make(
  // The notes are its own: it need not ask.
  Anthropic.AnthropicTools.Memory_20250818({ needsApproval: false }),
  Anthropic.AnthropicTools.TextEditor_20250728()
)

const handlers = toolkit.toLayer({
  ...Anthropic.MemoryHandler.make({ directory: `${directory}/notes` }),
  ...Anthropic.TextEditorHandler.make({ directory: `${directory}/files`, root: "/files" })
})

const model = Anthropic.AnthropicLanguageModel.layer({ model: "claude-sonnet-4-5" })

const editor = Agent.make({
  name: "editor",
  instructions: "Look at your notes first. The files are below /files.",
  toolkit: ToolkitInstrumentation.instrument(toolkit)
})

const program = Effect.gen(function* () {
  const runtime = yield* AgentRuntime.AgentRuntime
  const runId = yield* editor.start({ prompt })
  let outcome = yield* runtime.outcome(runId)
  while (outcome._tag === "Waiting") {
    for (const approval of outcome.approvals) {
      // Here somebody would be shown the change, and asked.
      console.log(`Allowed: ${JSON.stringify(approval.params)}`)
      yield* Approvals.approve(approval, { approver: "ada" })
    }
    outcome = yield* runtime.outcome(runId)
  }
  console.log(outcome._tag === "Finished" ? outcome.text : outcome)
})

const live = editor.layer.pipe(
  Layer.provide([LanguageModelInstrumentation.layer(model), handlers]),
  Layer.provide(Anthropic.AnthropicClient.layerConfig()),
  Layer.provideMerge(AgentRuntime.layerMemory)
)

await Effect.runPromise(program.pipe(Effect.provide(live), Effect.provide(Terminal.layer())))
