/**
 * What an agent is: its options, checked, and as the loop reads them.
 */
import type * as LanguageModel from "effect/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import * as Tool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Schedule from "effect/Schedule"
import * as Check from "../options/Check.ts"
import * as Limits from "./Limits.ts"

/** How approvals are asked for. */
export interface ApprovalOptions {
  /** Also for every tool whose annotation `Tool.Destructive` was set to true; default false. */
  readonly destructive?: boolean | undefined
  /** How long an approval may wait; then it is denied as expired. Without end by default. */
  readonly expiresAfter?: Duration.Input | undefined
}

/** What is said of an agent, but for its toolkit. */
export interface Options {
  /** Its name: unique among the agents of a runtime and stable, since runs are stored under it. Becomes `gen_ai.agent.name`. */
  readonly name: string
  /** The system message. Not stored with the conversation: a changed one holds from the next turn on. */
  readonly instructions?: string | undefined
  readonly limits?: Limits.Options | undefined
  readonly approvals?: ApprovalOptions | undefined
  /** How many calls of one turn run at once: an integer, at least 1, or `unbounded`; default 8. */
  readonly concurrency?: number | "unbounded" | undefined
  /**
   * When a call that failed is made again: only of tools that are annotated as idempotent or read-only, and only if the handler failed or
   * died. Not by default.
   */
  readonly retry?: Schedule.Schedule<unknown> | undefined
  /** How long handlers that are interrupted may take to finish; default 30 seconds. */
  readonly cancelWithin?: Duration.Input | undefined
}

/** A checked agent. */
export interface Definition {
  readonly name: string
  readonly instructions: Prompt.SystemMessage | undefined
  readonly limits: Limits.Limits
  readonly askDestructive: boolean
  /** Milliseconds. */
  readonly expiresAfter: number | undefined
  readonly concurrency: number | "unbounded"
  readonly retry: Schedule.Schedule<unknown> | undefined
  /** Milliseconds. */
  readonly cancelWithin: number
}

/** A toolkit with its handlers, seen from where the types of its tools do not matter. */
export interface Tools extends Toolkit.WithHandler<Record<string, Tool.Any>> {}

/** An agent at work in this process: with a model, and with handlers. */
export interface Worker {
  readonly definition: Definition
  readonly model: LanguageModel.LanguageModel
  readonly toolkit: Tools
  /** What the handlers may need. */
  readonly context: Context.Context<never>
}

const checks: Check.Checks<Options> = {
  name: ["a non-empty string", Check.isText],
  instructions: ["a non-empty string", Check.isText],
  limits: ["an object", Check.isRecord],
  approvals: ["an object", Check.isRecord],
  concurrency: [
    'an integer, at least 1, or "unbounded"',
    (value) => value === "unbounded" || (Number.isSafeInteger(value) && (value as number) >= 1)
  ],
  retry: ["a Schedule", Schedule.isSchedule],
  cancelWithin: Limits.DURATION
}

const approvalChecks: Check.Checks<ApprovalOptions> = {
  destructive: ["true or false", Check.isBoolean],
  expiresAfter: Limits.DURATION
}

/** Throws an `Error` that names the option, its value and what is allowed. */
export const make = (options: Options): Definition => {
  Check.validate("Agent.make", checks, options)
  if (options.name === undefined)
    throw new Error('Agent.make: option "name" is missing; allowed: a non-empty string')
  const { approvals = {}, instructions, name } = options
  Check.validate(`Agent "${name}", approvals`, approvalChecks, approvals)
  return {
    name,
    instructions: instructions === undefined ? undefined : Prompt.systemMessage({ content: instructions }),
    limits: Limits.make(name, options.limits),
    askDestructive: approvals.destructive ?? false,
    expiresAfter: Limits.millis(approvals.expiresAfter),
    concurrency: options.concurrency ?? 8,
    retry: options.retry,
    cancelWithin: Limits.millis(options.cancelWithin) ?? 30_000
  }
}

/** The tool of this name, if the toolkit has one of its own. */
export const toolOf = (toolkit: Tools, name: string): Tool.Any | undefined =>
  Object.hasOwn(toolkit.tools, name) ? toolkit.tools[name] : undefined

/** Whether a call may run again where nobody knows whether it ran. */
export const mayRunAgain = (tool: Tool.Any | undefined): boolean =>
  tool !== undefined &&
  (Context.get(tool.annotations, Tool.Idempotent) || Context.get(tool.annotations, Tool.Readonly))

/** Whether somebody has said that the tool is destructive: upstream's default for tools that say nothing is that they are. */
export const isDestructive = (tool: Tool.Any): boolean =>
  tool.annotations.mapUnsafe.has(Tool.Destructive.key) && Context.get(tool.annotations, Tool.Destructive)
