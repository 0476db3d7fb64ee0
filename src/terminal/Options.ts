/**
 * What a user can set when traces are printed, and the check that it is meant.
 */
import * as Check from "../options/Check.ts"
import type * as Output from "./Output.ts"
import * as Process from "./Process.ts"

/** Options of `Terminal.layer`. */
export interface Options {
  /** Where to print; default: `process.stderr`. Its `isTTY` and `columns` are heeded. */
  readonly stream?: Output.Stream | undefined
  /**
   * Whether to use colours. Default `"auto"`: as the environment says (`FORCE_COLOR`, `NO_COLOR`), else on a terminal whose `TERM` is not
   * `dumb`.
   */
  readonly color?: boolean | "auto" | undefined
  /** Width in cells, a whole number from 40; default: the stream's, else 100. */
  readonly columns?: number | undefined
  /**
   * Whether to show running tool calls. Default `"auto"`: redrawn in place on a terminal; elsewhere a line for each call that has run for
   * 2, 10 and 60 seconds. `true` redraws in place everywhere.
   */
  readonly progress?: boolean | "auto" | undefined
}

const checks: Check.Checks<Options> = {
  stream: ["an object with a method `write`", Process.isStream],
  color: ['true, false or "auto"', isSwitch],
  columns: ["a whole number from 40", (value) => Number.isSafeInteger(value) && Number(value) >= 40],
  progress: ['true, false or "auto"', isSwitch]
}

function isSwitch(value: unknown): boolean {
  return value === "auto" || Check.isBoolean(value)
}

/** Throws an `Error` that names the first bad option, its value and what is allowed. */
export const validate = (options: Options): void => Check.validate("Terminal.layer", checks, options)
