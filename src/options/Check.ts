/**
 * Checks that options are meant as they are given: one form of refusal for all rooms, which names the option, its value and what is
 * allowed.
 */

/** What an option may be, in words and as a test. `undefined` always is: the option is left out. */
export type Check = readonly [allowed: string, ok: (value: unknown) => boolean]

/** A check for each option. */
export type Checks<Options> = Readonly<Record<keyof Options, Check>>

/** Throws an `Error` on the first option that is not known or not allowed. `subject` says whose options these are. */
export const validate = <Options extends object>(
  subject: string,
  checks: Checks<Options>,
  options: Options
): void => {
  if (typeof options !== "object" || options === null) {
    throw new Error(`${subject}: the options are ${describe(options)}; allowed: an object`)
  }
  const known: ReadonlyMap<string, Check> = new Map(Object.entries(checks))
  for (const [name, value] of Object.entries(options)) {
    const check = known.get(name)
    if (check === undefined) {
      throw new Error(`${subject}: unknown option "${name}"; allowed: ${[...known.keys()].join(", ")}`)
    }
    const [allowed, ok] = check
    if (value !== undefined && !ok(value)) {
      throw new Error(`${subject}: option "${name}" is ${describe(value)}; allowed: ${allowed}`)
    }
  }
}

/** An option that is on or off. */
export const isBoolean = (value: unknown): boolean => typeof value === "boolean"

/** A function, whatever it takes. */
export const isFunction = (value: unknown): boolean => typeof value === "function"

/** A text that says something. */
export const isText = (value: unknown): boolean => typeof value === "string" && value.trim().length > 0

/** An object that is no array. */
export const isRecord = (value: unknown): boolean =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const describe = (value: unknown): string => {
  if (typeof value === "string") return JSON.stringify(value)
  if (typeof value === "function") return "a function"
  if (Array.isArray(value)) return "an array"
  return typeof value === "object" && value !== null ? "an object" : String(value)
}
