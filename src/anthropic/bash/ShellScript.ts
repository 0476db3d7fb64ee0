/**
 * The text that the shell of a session reads: one line of our own around each command.
 *
 * How the end of a command is found, whatever the command does or prints: when `eval` returns, the shell writes a token and the exit code
 * to a file descriptor that no command has (its own copy, closed for the command). Only then it is sent a second token, which it writes
 * to its output: all that comes before it was written before the command ended. Both are random, made for this one command; the second
 * does not exist while the command runs.
 *
 * The whole line is parsed before the command runs, so an error of syntax in a command, an open quote or here-document included, cannot
 * take our part of the line with it. There is no loop and no function around a command: `break` and `return` find nothing to leave.
 */

/** Where the shell reports the end of commands. High numbers, which scripts do not use. */
const CONTROL = 253
/** The shell's own copy of its output, for a command may redirect that with `exec`. */
const OUTPUT = 252

/** The descriptor that the shell is started with for its reports; {@link BOOTSTRAP} moves it away. */
export const INITIAL_CONTROL = 3

/**
 * The first line: moves the descriptors out of the way, and closes all others, which are open files of whoever started this process; aliases
 * work, and an `exec` that fails does not end the shell.
 */
export const BOOTSTRAP =
  `exec ${CONTROL}>&${INITIAL_CONTROL} ${INITIAL_CONTROL}>&- ${OUTPUT}>&1; ` +
  `for __toolspan_fd in /dev/fd/*; do case "\${__toolspan_fd##*/}" in 0|1|2|${OUTPUT}|${CONTROL}|255) ;; ` +
  `*) eval "exec \${__toolspan_fd##*/}>&-" ;; esac; done; unset __toolspan_fd; ` +
  "shopt -s expand_aliases execfail\n"

/** `text` as one word of the shell. */
export const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/**
 * The line that runs `command` in the shell itself, with nothing to read. After it the shell reports `{token} {exit code}`, and reads a
 * second token, see {@link markLine}.
 */
export const commandLine = (command: string, token: string): string =>
  `eval -- ${quote(command)} </dev/null ${OUTPUT}>&- ${CONTROL}>&-; ` +
  `{ builtin printf '${token} %d\\n' "$?" >&${CONTROL}; IFS= builtin read -r __toolspan_mark; ` +
  `builtin printf '\\0%s\\0' "$__toolspan_mark" >&${OUTPUT}; } 2>/dev/null\n`

/** The line with the second token. */
export const markLine = (mark: string): string => `${mark}\n`

/** What the shell writes to its output for {@link markLine}. */
export const markBytes = (mark: string): Buffer => Buffer.from(`\0${mark}\0`, "latin1")

/** The exit code in a report of this token; undefined for any other line. */
export const exitCodeIn = (line: string, token: string): number | undefined => {
  const match = /^([0-9a-f]+) (\d{1,3})$/.exec(line)
  return match?.[1] === token ? Number(match[2]) : undefined
}
