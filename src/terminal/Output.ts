/**
 * Where text goes: a stream, how wide it is, and what may be written to it.
 *
 * Writing never throws and never waits. Colour follows Node's own rule: `FORCE_COLOR`, then `NO_COLOR`, then whether the stream is a
 * terminal that is not dumb.
 */
import * as Predicate from "effect/Predicate"

/** What is needed of a stream; `process.stderr` has it. */
export interface Stream {
  write(text: string): unknown
  readonly isTTY?: boolean | undefined
  /** Cells of the terminal now. */
  readonly columns?: number | undefined
}

/** Environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>

/** A stream with the decisions taken about it. */
export interface Output {
  readonly write: (text: string) => void
  /** Cells of the terminal now. */
  readonly columns: () => number
  readonly color: boolean
  /** Whether lines can be redrawn in place. */
  readonly redraws: boolean
}

export interface Options {
  readonly color: boolean | "auto"
  readonly columns: number | undefined
  readonly environment: Environment
}

/** Where the stream does not tell its width. */
const DEFAULT_COLUMNS = 100

export const make = (stream: Stream, { color, columns, environment }: Options): Output => {
  const isTerminal = stream.isTTY === true && environment["TERM"] !== "dumb"
  return {
    write: writer(stream),
    columns: () => columns ?? (isWidth(stream.columns) ? stream.columns : DEFAULT_COLUMNS),
    color: color === "auto" ? (colorOf(environment) ?? isTerminal) : color,
    redraws: isTerminal
  }
}

/** Writes until the stream fails once: a closed pipe (`program 2>&1 | head`) stays closed. */
const writer = (stream: Stream): ((text: string) => void) => {
  let failed = false
  const fail = () => {
    failed = true
  }
  const done = (error: unknown) => {
    if (!error || failed) return
    fail()
    // Node emits the error after this call, and without a listener that would end the program.
    if (isEmitter(stream)) stream.once("error", () => {})
  }
  return (text) => {
    if (failed) return
    try {
      const written = isEmitter(stream) ? stream.write(text, done) : stream.write(text)
      if (Predicate.isPromiseLike(written)) written.then(undefined, fail)
    } catch {
      fail()
    }
  }
}

interface Emitter extends Stream {
  write(text: string, done?: (error: unknown) => void): unknown
  once(event: "error", listener: () => void): unknown
}

const isEmitter = (stream: Stream): stream is Emitter =>
  Predicate.hasProperty(stream, "once") && Predicate.isFunction(stream.once)

/** What the environment says of colours; undefined when it leaves that to the terminal. */
const colorOf = ({ FORCE_COLOR, NO_COLOR }: Environment): boolean | undefined => {
  if (FORCE_COLOR) return FORCE_COLOR !== "0" && FORCE_COLOR !== "false"
  return NO_COLOR ? false : undefined
}

const isWidth = (columns: number | undefined): columns is number => columns !== undefined && columns > 0
