/**
 * Attributes of the spans of programs that tool handlers run, by OpenTelemetry's registry (`process.*`, core 1.44) and its conventions
 * for the caller of a program: span named for the executable, kind client.
 *
 * An exit code that is not 0 does not fail such a span: it is what the model asked to see (`grep` finds nothing). What the handler
 * itself did to a program, a timeout say, does.
 */

/** File name of the program, without its folders. */
export const ATTR_PROCESS_EXECUTABLE_NAME = "process.executable.name"
/** Process id: of the shell for a command of a session. */
export const ATTR_PROCESS_PID = "process.pid"
/** How the program ended; absent when a signal ended it. */
export const ATTR_PROCESS_EXIT_CODE = "process.exit.code"
/** What was run, as one text. Content: only when the policy allows. */
export const ATTR_PROCESS_COMMAND_LINE = "process.command_line"
