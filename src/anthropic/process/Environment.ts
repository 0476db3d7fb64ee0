/**
 * The environment of the programs that tools run: what is named, and nothing else. Keys and tokens of this process stay here.
 *
 * This keeps secrets out of `env` and of what programs log. It is no wall: a program of the same user can read `/proc/{pid}/environ` of
 * this process. Only a sandbox with its own process ids (see `BashSession`) hides that.
 */

/** Variables that programs get from this process when it has them, by name; a name that ends in `*` is a prefix. */
export const INHERITED: ReadonlyArray<string> = [
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "LANG",
  "LANGUAGE",
  "LC_*",
  "TZ",
  "TMPDIR"
]

/** The variables of `source` that are named in `names`, and those of `set`, which win. */
export const make = (
  names: ReadonlyArray<string>,
  set: Readonly<Record<string, string>> = {},
  source: Readonly<Record<string, string | undefined>> = process.env
): Record<string, string> => {
  const exact = new Set(names.filter((name) => !name.endsWith("*")))
  const prefixes = names.filter((name) => name.endsWith("*")).map((name) => name.slice(0, -1))
  const environment: Record<string, string> = {}
  for (const [name, value] of Object.entries(source)) {
    if (value === undefined) continue
    if (exact.has(name) || prefixes.some((prefix) => name.startsWith(prefix))) environment[name] = value
  }
  return { ...environment, ...set }
}
