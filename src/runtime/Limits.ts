/**
 * How much a run may use. A run that reaches a limit ends there, with its conversation whole: every call has a result.
 */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Check from "../options/Check.ts"
import type { LimitName, Usage } from "./Outcome.ts"

/** Each ends the run when it is reached. */
export interface Options {
  /** Answers of the model: an integer, at least 1; default 50. */
  readonly turns?: number | undefined
  /** Calls of tools. Calls beyond the limit are not run: an integer, at least 0; default 200. */
  readonly toolCalls?: number | undefined
  /** Tokens, input and output together, as the provider tells them; looked at after each turn. No limit by default. */
  readonly tokens?: number | undefined
  /** Time in which the run is worked on; waiting for approvals does not count. What runs then is interrupted. No limit by default. */
  readonly duration?: Duration.Input | undefined
}

/** Checked limits. */
export interface Limits {
  readonly turns: number
  readonly toolCalls: number
  readonly tokens: number
  /** Milliseconds. */
  readonly duration: number
}

const isCount = (least: number) => (value: unknown) =>
  Number.isSafeInteger(value) && (value as number) >= least

/** The check of an option that is a duration. */
export const DURATION: Check.Check = ["a duration longer than 0", (value) => (millis(value) ?? 0) > 0]

const checks: Check.Checks<Options> = {
  turns: ["an integer, at least 1", isCount(1)],
  toolCalls: ["an integer, at least 0", isCount(0)],
  tokens: ["an integer, at least 1", isCount(1)],
  duration: DURATION
}

/** Throws an `Error` that names the limit, its value and what is allowed. */
export const make = (agent: string, options: Options = {}): Limits => {
  Check.validate(`Agent "${agent}", limits`, checks, options)
  return {
    turns: options.turns ?? 50,
    toolCalls: options.toolCalls ?? 200,
    tokens: options.tokens ?? Number.POSITIVE_INFINITY,
    duration: millis(options.duration) ?? Number.POSITIVE_INFINITY
  }
}

/** The limit that forbids another turn. */
export const reached = (limits: Limits, usage: Usage): LimitName | undefined => {
  if (usage.turns >= limits.turns) return "turns"
  if (usage.toolCalls > limits.toolCalls) return "toolCalls"
  if (usage.inputTokens + usage.outputTokens >= limits.tokens) return "tokens"
  if (usage.activeMillis >= limits.duration) return "duration"
  return undefined
}

/** Milliseconds; undefined for what is no duration. */
export const millis = (value: unknown): number | undefined => {
  const duration = Duration.fromInput(value as Duration.Input)
  return Option.isSome(duration) ? Duration.toMillis(duration.value) : undefined
}
