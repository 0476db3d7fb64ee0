/**
 * Printing a trace is never worth the program: what showing one throws stays here.
 */

/** Runs `show`. There is nobody to tell of a failure: the terminal is what failed. */
export const quietly = (show: () => void): void => {
  try {
    show()
  } catch {}
}
