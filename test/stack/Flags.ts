/**
 * Command lines of the form `--name=value`.
 */

/** `flags` with these values: in place of their own, or at the end. */
export const withValues = (
  flags: ReadonlyArray<string>,
  values: Readonly<Record<string, string>>
): ReadonlyArray<string> => [
  ...flags.filter((flag) => !Object.keys(values).some((name) => flag.startsWith(`--${name}=`))),
  ...Object.entries(values).map(([name, value]) => `--${name}=${value}`)
]
