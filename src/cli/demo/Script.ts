/**
 * The model of the demo: a script in place of a language model, so that the demo needs no key and no network.
 *
 * It does what a model would do with these tools, mistakes included: it reads a file that does not exist, and gets the name of a
 * parameter wrong. Its answers depend on what the tools found.
 */
import type * as Prompt from "effect/ai/Prompt"
import * as Schema from "effect/Schema"
import * as ScriptedModel from "../../testing/ScriptedModel.ts"
import * as Workspace from "./Workspace.ts"

/** The secret in the question. */
export const leakedKey = "sk-live-4f1c9a7be2d05836"

/** What the user asks. It mentions a secret, as people do. */
export const question = `Look over this project, check that the key ${leakedKey} is nowhere in it, and write me a report.`

/** The model. Which turn is next depends on the conversation alone, so that another process can go on. */
export const model = (repository: boolean) => {
  const script = turns(repository)
  const next: ScriptedModel.Turn = (request) => {
    const turn = script[turnsOf(request.prompt)]
    if (turn === undefined) throw new Error("the script of the demo has no more turns")
    return typeof turn === "function" ? turn(request) : turn
  }
  return ScriptedModel.layer(script.map(() => next))
}

/** How many turns of the script a conversation has had. */
const turnsOf = (conversation: Prompt.Prompt): number =>
  conversation.content.filter(
    ({ content, role }) =>
      role === "assistant" && content.some(({ type }) => type === "text" || type === "tool-call")
  ).length

/** The turns of the model. `repository`: whether there is a history to look at. */
const turns = (repository: boolean): ReadonlyArray<ScriptedModel.Turn> => [
  [
    ScriptedModel.text("I will look around first."),
    ScriptedModel.toolCall("call_1", "list_files", { limit: 200 }),
    ScriptedModel.toolCall("call_2", "search_text", { text: leakedKey }),
    ...(repository ? [ScriptedModel.toolCall("call_3", "git_log", { limit: 5 })] : [])
  ],
  ({ prompt }) => [
    ScriptedModel.toolCall("call_4", "read_file", { path: largest(prompt) }),
    ScriptedModel.toolCall("call_5", "read_file", { path: "SECURITY-AUDIT.md" }),
    ScriptedModel.toolCall("call_6", "read_file", { file: "LICENSE" })
  ],
  ({ prompt }) => [
    ScriptedModel.toolCall("call_7", "write_report", {
      title: "Project report",
      lines: [
        `- files: ${listed(prompt).length}`,
        `- largest file: ${largest(prompt)}`,
        `- latest commit: ${resultOf(prompt, "git_log", Workspace.GitLog.successSchema)?.commits[0] ?? "none"}`,
        `- occurrences of the key: ${resultOf(prompt, "search_text", Workspace.SearchText.successSchema)?.matches.length ?? "not known"}`
      ]
    })
  ],
  ({ prompt }) => {
    const written = resultOf(prompt, "write_report", Workspace.WriteReport.successSchema)
    if (written !== undefined) return [ScriptedModel.text(`Done. The report is in ${written.path}.`)]
    const denied = resultOf(prompt, "write_report", Denied)
    return [
      ScriptedModel.text(
        denied === undefined
          ? "The report could not be written."
          : `I have not written the report: I was not allowed to${denied.reason === undefined ? "" : ` (${denied.reason})`}.`
      )
    ]
  }
]

/** What upstream gives the model in place of a result. */
const Denied = Schema.Struct({
  type: Schema.Literal("execution-denied"),
  reason: Schema.optional(Schema.String)
})

const listed = (prompt: Prompt.Prompt) =>
  resultOf(prompt, "list_files", Workspace.ListFiles.successSchema)?.files ?? []

/** The largest file that the reading tool takes whole, or the README that every project should have. */
const largest = (prompt: Prompt.Prompt): string =>
  listed(prompt)
    .filter((file) => file.bytes < 64 * 1024)
    .reduce((best, file) => (file.bytes > best.bytes ? file : best), { path: "README.md", bytes: 0 }).path

/** The latest result of a tool in the conversation that is of this kind. */
const resultOf = <S extends Schema.Schema<unknown> & Schema.Decoder<unknown>>(
  prompt: Prompt.Prompt,
  toolName: string,
  schema: S
): S["Type"] | undefined => {
  for (const message of prompt.content.toReversed()) {
    if (message.role !== "tool") continue
    for (const part of message.content) {
      if (part.type === "tool-result" && part.name === toolName && Schema.is(schema)(part.result)) {
        return part.result
      }
    }
  }
  return undefined
}
