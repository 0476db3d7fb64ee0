/**
 * A module for `toolspan run`: an agent with a model that answers from what is said to it, and tools that leave marks in the file
 * `done.txt` of the current directory.
 */
import { appendFileSync, existsSync } from "node:fs"
import { Effect, Layer, Schema } from "effect"
import { LanguageModel, type Prompt, type Response, Tool, Toolkit } from "effect/ai"
import * as Stream from "effect/Stream"
import { LanguageModelInstrumentation, ToolkitInstrumentation } from "toolspan"
import { Agent } from "toolspan/runtime"

const Transfer = Tool.make("transfer", {
  parameters: Schema.Struct({ to: Schema.String, amount: Schema.Number }),
  success: Schema.String,
  needsApproval: true
})
const Wait = Tool.make("wait", { success: Schema.String })
const Look = Tool.make("look", { success: Schema.String, failure: Schema.String, failureMode: "return" })

const Stick = Tool.make("stick", { success: Schema.String })

const Pause = Tool.make("pause", { success: Schema.String })

const toolkit = Toolkit.make(Transfer, Wait, Stick, Pause, Look)

const mark = (text: string) => Effect.sync(() => appendFileSync("done.txt", `${text}\n`))

/** Shown when the handler runs: what is typed then is typed while it does. */
const show = (text: string) => Effect.sync(() => process.stderr.write(`[${text}]\n`))

const handlers = toolkit.toLayer({
  transfer: ({ amount, to }) => Effect.as(mark(`sent ${amount} to ${to}`), `sent ${amount} to ${to}`),
  wait: () =>
    mark("waiting").pipe(
      Effect.andThen(show("waiting")),
      Effect.andThen(Effect.never),
      Effect.onInterrupt(() => mark("stopped waiting"))
    ),
  stick: () => Effect.onInterrupt(Effect.andThen(show("sticking"), Effect.never), () => Effect.never),
  // Until the file is there.
  pause: () =>
    show("pausing").pipe(
      Effect.andThen(
        Effect.repeat(
          Effect.delay(
            Effect.sync(() => existsSync("go")),
            20
          ),
          { until: (go) => go }
        )
      ),
      Effect.as("paused")
    ),
  look: () => Effect.fail("nothing\u001b[31m there")
})

/** What is said last: by the user, or by a tool. */
const last = ({ content }: Prompt.Prompt): string => {
  const message = content.at(-1)
  if (message === undefined || message.role === "system") return ""
  const [part] = message.content.slice(-1)
  return part?.type === "text"
    ? part.text
    : part?.type === "tool-result"
      ? `the tool says ${JSON.stringify(part.result)}`
      : ""
}

const call = (name: string, params: unknown): Response.ToolCallPartEncoded => ({
  type: "tool-call",
  id: crypto.randomUUID(),
  name,
  params
})

const answer = (prompt: Prompt.Prompt): ReadonlyArray<string | Response.ToolCallPartEncoded> => {
  const said = last(prompt)
  const users = prompt.content.filter(({ role }) => role === "user").length
  if (users === 1 && JSON.stringify(prompt.content[0]).includes("loop")) {
    return ["Once more.", call("look", {})]
  }
  if (said.startsWith("pay")) {
    return ["I will pay.", call("transfer", { to: said.slice(4) || "Grace", amount: 20 })]
  }
  if (said === "pause and pay") return [call("pause", {}), call("transfer", { to: "Eve", amount: 1 })]
  if (said === "wait") return [call("wait", {})]
  if (said === "stick") return [call("stick", {})]
  if (said === "look") return [call("look", {})]
  return [`You said ${said}, `, `in message ${users}.\u001b[2J`]
}

const usage = { inputTokens: {}, outputTokens: {} }

const model = Layer.effect(
  LanguageModel.LanguageModel,
  LanguageModel.make({
    generateText: () => Effect.die("is not asked for"),
    streamText: ({ prompt }) => {
      const parts = answer(prompt).flatMap((part, index): Array<Response.StreamPartEncoded> => {
        const id = String(index)
        return typeof part === "string"
          ? [
              { type: "text-start", id },
              { type: "text-delta", id, delta: part },
              { type: "text-end", id }
            ]
          : [part]
      })
      const calls = parts.some(({ type }) => type === "tool-call")
      return Stream.fromIterable<Response.StreamPartEncoded>([
        ...parts,
        { type: "finish", reason: calls ? "tool-calls" : "stop", usage }
      ])
    }
  })
)

export default {
  agent: Agent.make({
    name: "clerk",
    toolkit: ToolkitInstrumentation.instrument(toolkit),
    limits: { turns: 5 }
  }),
  layer: Layer.merge(LanguageModelInstrumentation.layer(model), handlers)
}
