/**
 * The person at the terminal: what they type, with editing and a history, from the first prompt to the last.
 */
import * as readline from "node:readline"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

export interface Keyboard {
  /** The next prompt; lines that are pasted together are one. Undefined at the end of the input, or for Ctrl-C. */
  readonly read: Effect.Effect<string | undefined>
  /** An answer to a question that is shown now: nothing that was typed before. Undefined as above. */
  readonly ask: (question: string) => Effect.Effect<string | undefined>
  /** Calls `stop` for every Ctrl-C that is typed while the effect runs. */
  readonly interruptible: <A, E, R>(
    effect: Effect.Effect<A, E, R>,
    stop: () => void
  ) => Effect.Effect<A, E, R>
}

/** Takes the terminal over, until the scope ends. */
export const make: Effect.Effect<Keyboard, never, Scope.Scope> = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => new Lines()),
    (lines) => Effect.sync(() => lines.close())
  ),
  (lines) => ({
    read: lines.next("> ", false),
    ask: (question) => lines.next(question, true),
    interruptible: (effect, stop) =>
      Effect.acquireUseRelease(
        Effect.sync(() => lines.onInterrupt(stop)),
        () => effect,
        () => Effect.sync(() => lines.onInterrupt(undefined))
      )
  })
)

class Lines {
  readonly #lines = readline.createInterface({
    input: process.stdin,
    output: process.stdout,
    prompt: "",
    removeHistoryDuplicates: true
  })
  /** Lines that came at once. */
  #together: Array<string> = []
  /** What was typed before it was asked for. */
  readonly #early: Array<string> = []
  #waiting: ((text: string | undefined) => void) | undefined
  #asking = false
  #closed = false
  #stop: (() => void) | undefined

  constructor() {
    this.#lines.on("line", (line) => {
      if (this.#together.push(line) === 1) setImmediate(() => this.#typed())
    })
    this.#lines.on("history", (history) => {
      // Answers are nothing to come back to.
      if (this.#asking) history.shift()
    })
    this.#lines.on("SIGINT", () => {
      if (this.#stop !== undefined) this.#stop()
      else if (this.#asking) this.#answer(undefined)
      else this.#lines.close()
    })
    this.#lines.on("close", () => {
      this.#closed = true
      if (this.#together.length === 0) this.#answer(undefined)
    })
  }

  next(prompt: string, asking: boolean): Effect.Effect<string | undefined> {
    return Effect.callback((resume) => {
      if (asking) this.#early.length = 0
      const early = this.#early.shift()
      if (early !== undefined || this.#closed) return resume(Effect.succeed(early))
      this.#asking = asking
      this.#waiting = (text) => resume(Effect.succeed(text))
      this.#lines.setPrompt(prompt)
      this.#lines.prompt()
      return Effect.sync(() => {
        this.#waiting = undefined
      })
    })
  }

  onInterrupt(stop: (() => void) | undefined): void {
    this.#stop = stop
  }

  close(): void {
    this.#lines.close()
  }

  #typed(): void {
    const text = this.#together.join("\n")
    this.#together = []
    if (this.#waiting === undefined) this.#early.push(text)
    else this.#answer(text)
  }

  #answer(text: string | undefined): void {
    const waiting = this.#waiting
    if (waiting === undefined) return
    this.#waiting = undefined
    this.#asking = false
    this.#lines.setPrompt("")
    if (text === undefined) process.stdout.write("\n")
    waiting(text)
  }
}
