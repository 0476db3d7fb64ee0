/**
 * The failure that a tool span ends with: of our making, so that neither status description nor exception event shows the tool's
 * own cause.
 */
import * as Exit from "effect/Exit"
import * as Ending from "./Ending.ts"

const phrases: Readonly<Record<string, string>> = {
  failure: "The tool failed",
  invalid_arguments: "The tool's parameters did not decode",
  invalid_result: "The tool's result did not validate",
  defect: "The tool died",
  unknown_tool: "The toolkit has no such tool",
  outcome_unknown: "Nobody recorded how the call ended"
}

class SpanError extends Error {
  constructor(name: string, message: string) {
    super(message)
    this.name = name
    // A stack of ours would say nothing of the tool's.
    this.stack = `${name}: ${message}`
  }
}

/**
 * The exit of the span. Only what the contract calls an error fails; a cancelled call is an interruption. `message` is the text that
 * the content policy let through.
 */
export const exitOf = (ending: Ending.Ending, message: string | undefined): Exit.Exit<void, Error> => {
  if (ending.failure !== undefined) {
    return Exit.fail(
      new SpanError(ending.failure.errorType, message ?? phrases[ending.outcome] ?? ending.outcome)
    )
  }
  return ending.outcome === "cancelled" ? Exit.interrupt() : Exit.void
}

/** The exit of the span of a turn that upstream did not end: of our making, too. */
export const ofTurn = (exit: Exit.Exit<unknown, unknown>): Exit.Exit<unknown, unknown> => {
  if (exit._tag === "Success") return Exit.void
  const { failure } = Ending.fromCause(exit.cause)
  return failure === undefined
    ? Exit.interrupt()
    : Exit.fail(new SpanError(failure.errorType, "The model failed"))
}

/** The exit of the span of a stretch of an agent's run that failed. */
export const ofRun = (errorType: string): Exit.Exit<void, Error> =>
  Exit.fail(new SpanError(errorType, "The run failed"))
