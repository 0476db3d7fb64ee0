/**
 * Shows the tool calls that are running, while they run.
 *
 * On a terminal: a few lines under the cursor, redrawn in place and wiped before anything else is printed. The cursor stays where the
 * program left it, so that what the program prints goes on from there. Elsewhere (a log file, CI): one line for a call that has run for
 * 2, 10 and 60 seconds.
 */
import type * as Tracer from "effect/Tracer"
import * as HumanDuration from "./HumanDuration.ts"
import type * as Output from "./Output.ts"
import * as SpanSnapshot from "./SpanSnapshot.ts"
import * as StyledLine from "./StyledLine.ts"
import { piece } from "./StyledLine.ts"

export interface Options {
  readonly output: Output.Output
  /** Whether to redraw in place. */
  readonly redraw: boolean
  /** The current time, in nanoseconds. */
  readonly now: () => bigint
  /** The tool calls that are running, oldest first. */
  readonly running: ReadonlySet<Tracer.Span>
}

/** Milliseconds between two looks at the running calls. */
export const INTERVAL = 100
/** Elapsed times, in nanoseconds, that are told where lines cannot be redrawn. */
const milestones = [2n, 10n, 60n].map((seconds) => seconds * 1_000_000_000n)
const LINE_LIMIT = 5
const spinner = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"] as const

const SAVE_CURSOR = "\u001b7"
const RESTORE_CURSOR = "\u001b8"
const ERASE_BELOW = "\u001b[J"
/** One line down in the same column; scrolls at the bottom of the screen, as a plain move down does not. */
const INDEX = "\u001bD"
const up = (lines: number) => `\u001b[${lines}A`

export class Progress {
  readonly #options: Options
  #timer: ReturnType<typeof setInterval> | undefined
  #frame = 0
  #drawn = false
  /** How many milestones of a call were told. */
  readonly #told = new WeakMap<Tracer.Span, number>()

  constructor(options: Options) {
    this.#options = options
  }

  /** To be called when a tool call starts: looks at the running calls in intervals until there are none. */
  started(): void {
    if (this.#timer !== undefined) return
    this.#timer = setInterval(() => this.tick(), INTERVAL)
    // A call that never ends must not keep the process alive. Browsers have a number here.
    if (typeof this.#timer === "object") this.#timer.unref()
  }

  /** Wipes what is drawn, before something is printed or for good. */
  clear(): void {
    if (this.#drawn) this.#options.output.write(ERASE_BELOW)
    this.#drawn = false
  }

  /** Ends all activity. */
  close(): void {
    this.clear()
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /** Looks at the running calls once. Never throws. */
  tick(): void {
    try {
      if (this.#options.running.size === 0) this.close()
      else if (this.#options.redraw) this.#draw()
      else this.#tell()
    } catch {
      this.close()
    }
  }

  #draw(): void {
    const { output, running } = this.#options
    // The last cell stays free: some terminals wrap as soon as it is filled.
    const columns = output.columns() - 1
    const mark = piece(`${spinner[this.#frame++ % spinner.length]} `, "running")
    const lines = Array.from(running)
      .slice(0, LINE_LIMIT)
      .map((span) => [mark, ...this.#callOf(span), piece(`  ${HumanDuration.format(this.#elapsed(span))}`)])
    if (running.size > LINE_LIMIT) lines.push([piece(`+ ${running.size - LINE_LIMIT} more running`, "faint")])
    const text = lines.map((line) => `\r\n${StyledLine.toText(line, columns, output.color)}`).join("")
    const room = INDEX.repeat(lines.length) + up(lines.length)
    output.write(ERASE_BELOW + room + SAVE_CURSOR + text + RESTORE_CURSOR)
    this.#drawn = true
  }

  #tell(): void {
    const { output, running } = this.#options
    for (const span of running) {
      const elapsed = this.#elapsed(span)
      const reached = milestones.filter((milestone) => elapsed >= milestone).length
      if (reached <= (this.#told.get(span) ?? 0)) continue
      this.#told.set(span, reached)
      const line = [piece("… "), ...this.#callOf(span), piece(` running ${HumanDuration.format(elapsed)}`)]
      output.write(`${StyledLine.toText(line, output.columns(), output.color)}\n`)
    }
  }

  #callOf(span: Tracer.Span): ReadonlyArray<StyledLine.Piece> {
    const { callId, name } = SpanSnapshot.toolCallOf(span)
    return [
      piece(name ?? span.name, "strong"),
      ...(callId === undefined ? [] : [piece(` ${callId}`, "faint")])
    ]
  }

  #elapsed(span: Tracer.Span): bigint {
    return this.#options.now() - span.status.startTime
  }
}
