/**
 * Tells what happens in a run: what the agent says on standard output, as it comes; what its tools do on standard error, a line each.
 */
import process from "node:process"
import type { AgentEvent } from "../../runtime/AgentEvent.ts"
import type { Outcome } from "../../runtime/Outcome.ts"
import * as Output from "../../terminal/Output.ts"
import * as StyledLine from "../../terminal/StyledLine.ts"
import * as Shown from "../Shown.ts"

/** So much of arguments and results as any line has room for. */
const short = (value: unknown): string => Shown.json(value).slice(0, 500)

export class Narration {
  readonly #said: Output.Output
  readonly #done: Output.Output
  /** Whether the agent has begun a line. */
  #inLine = false
  /** Whether this turn's text has come piece by piece. */
  #streamed = false

  constructor() {
    const options = { color: "auto", columns: undefined, environment: process.env } as const
    this.#said = Output.make(process.stdout, options)
    this.#done = Output.make(process.stderr, options)
  }

  tell(event: AgentEvent): void {
    switch (event._tag) {
      case "TextDelta":
        this.#streamed = true
        this.#answer(event.delta)
        break
      case "TurnFinished":
        if (!this.#streamed) this.#answer(event.text)
        this.#streamed = false
        this.#endLine()
        break
      case "ToolCallStarted": {
        const again = event.attempt > 1 ? ` (attempt ${event.attempt})` : ""
        this.note(`→ ${event.toolName}${again} ${short(event.params)}`)
        break
      }
      case "ToolCallFinished": {
        const replayed = event.replayed ? " (it had run before)" : ""
        const line = `${event.toolName}${replayed} ${short(event.result)}`
        if (event.isFailure) this.warn(`✗ ${line}`)
        else this.note(`✓ ${line}`)
        break
      }
      case "ApprovalDecided": {
        const by = event.approver === undefined ? "" : ` by ${event.approver}`
        this.note(`${event.toolName} was ${event.decision}${by}`)
        break
      }
      case "Ended":
        this.#ended(event.outcome)
    }
  }

  /** Something that must be read as a whole. Harmless text. */
  say(text: string): void {
    this.#endLine()
    this.#done.write(`${text}\n`)
  }

  /** Something that is not the agent's to say. */
  note(text: string): void {
    this.#line("faint", text)
  }

  /** Something that went wrong. */
  warn(text: string): void {
    this.#line("failed", text)
  }

  #ended(outcome: Outcome): void {
    this.#endLine()
    if (outcome._tag === "LimitReached") this.warn(`The run has reached its limit of ${outcome.limit}`)
    else if (outcome._tag === "Failed") {
      this.warn(`The run failed: ${outcome.error.type}: ${outcome.error.message}`)
    } else if (outcome._tag === "Cancelled") this.warn("The run was cancelled")
    else if (outcome._tag === "Finished" && outcome.finishReason !== "stop") {
      this.note(`(the answer ended early: ${outcome.finishReason})`)
    }
  }

  #answer(text: string): void {
    if (text === "") return
    const shown = Shown.text(text)
    this.#said.write(shown)
    this.#inLine = !shown.endsWith("\n")
  }

  #endLine(): void {
    if (this.#inLine) this.#said.write("\n")
    this.#inLine = false
  }

  #line(style: StyledLine.Style, text: string): void {
    this.#endLine()
    const line = StyledLine.toText([StyledLine.piece(text, style)], this.#done.columns(), this.#done.color)
    this.#done.write(`${line}\n`)
  }
}
