/**
 * The parts of the process that the terminal room uses, where there is a process: in a browser or a worker there may be none.
 */
import * as Predicate from "effect/Predicate"
import type { Environment, Stream } from "./Output.ts"

/** The standard error stream, if there is one. */
export const standardError = (): Stream | undefined => {
  const stream = property("stderr")
  return isStream(stream) ? stream : undefined
}

/** The environment variables; none where there is no process. */
export const environment = (): Environment => {
  const variables = property("env")
  return isEnvironment(variables) ? variables : {}
}

/** Whether text can be written to the value. */
export const isStream = (value: unknown): value is Stream =>
  Predicate.hasProperty(value, "write") && Predicate.isFunction(value.write)

const property = (name: "stderr" | "env"): unknown => {
  const process: unknown = Reflect.get(globalThis, "process")
  return Predicate.hasProperty(process, name) ? process[name] : undefined
}

const isEnvironment = (value: unknown): value is Environment => Predicate.isObject(value)
