/**
 * What content of a tool call may leave the process.
 *
 * One policy governs all that toolspan writes: span attributes, events, status descriptions, exception messages, logs. Arguments are captured
 * by default, redacted; results, error messages, reasons, descriptions and messages are not unless asked for. Who may say so, strongest first: an
 * exclusion by the environment (`CaptureEnvironment.ts`), the tool's own annotation {@link ToolContent}, the options given in code, the
 * environment's raised defaults.
 */
import * as Context from "effect/Context"
import * as Check from "../options/Check.ts"
import { CaptureEnvironment, type EnvMode } from "./CaptureEnvironment.ts"

export type { EnvMode } from "./CaptureEnvironment.ts"

/** Nothing; with secrets masked; as it is. What a schema marks as sensitive is masked in any case. */
export type Capture = "off" | "redacted" | "full"

/** The kinds of content, each with its own setting. */
export type ContentKind = "arguments" | "results" | "errors" | "reasons" | "descriptions" | "messages"

/** One piece of content. */
export interface Content {
  readonly kind: ContentKind
  /** Undefined for what is of no single tool: messages, and the descriptions of all tools together. */
  readonly toolName: string | undefined
  /** Encoded arguments or result, or a text. */
  readonly value: unknown
}

/** A checked policy, made by {@link make}. It does not change. */
export interface Policy extends Readonly<Record<ContentKind, Capture>> {
  /** The longest captured text in UTF-8 bytes, with any mark. */
  readonly maxBytes: number
  readonly redact: ((content: Content) => unknown) | undefined
  /** Content may stand on span attributes and statuses. */
  readonly spans: boolean
  /** Content may stand on span events and log records. */
  readonly events: boolean
}

/** What can be set, in code and for one tool. */
export interface Options {
  /** The parameters of a call; default `redacted`. */
  readonly arguments?: Capture | undefined
  /** The encoded results; default `off`. */
  readonly results?: Capture | undefined
  /** The messages of failures; default `off`. */
  readonly errors?: Capture | undefined
  /** The reasons given with approval decisions; default `off`. */
  readonly reasons?: Capture | undefined
  /** The tools' descriptions, and their definitions on the span of a turn; default `off`. */
  readonly descriptions?: Capture | undefined
  /** What user, system and model say, on the span of a turn; default `off`. */
  readonly messages?: Capture | undefined
  /** The longest captured text in UTF-8 bytes, with any mark: an integer, at least 64; default 4096. */
  readonly maxBytes?: number | undefined
  /**
   * Returns what to capture instead of a piece of content, or `undefined` to drop it. What it returns is redacted and cut like anything
   * else. If it throws, the content is dropped and counted.
   */
  readonly redact?: ((content: Content) => unknown) | undefined
}

/**
 * A policy with defaults for what `options` leaves out. `env` is the mode of this process unless given.
 *
 * Throws an `Error` that names the first option that is unknown or has a bad value, the value, and what is allowed.
 */
export const make = (
  options: Options = {},
  env: EnvMode = Context.get(Context.empty(), CaptureEnvironment)
): Policy => {
  validate(options)
  const raised: Capture = env === "unset" ? "off" : "redacted"
  return restrict({
    arguments: options.arguments ?? "redacted",
    results: options.results ?? raised,
    errors: options.errors ?? raised,
    reasons: options.reasons ?? raised,
    descriptions: options.descriptions ?? raised,
    messages: options.messages ?? raised,
    maxBytes: options.maxBytes ?? 4096,
    redact: options.redact,
    spans: env === "unset" || env === "SPAN_ONLY" || env === "SPAN_AND_EVENT",
    events: env === "unset" || env === "EVENT_ONLY" || env === "SPAN_AND_EVENT"
  })
}

/** `policy` for one tool, whose own options (see {@link ToolContent}) win over it. Throws like {@link make}. */
export const forTool = (policy: Policy, toolOptions: Options | undefined): Policy => {
  if (toolOptions === undefined) return policy
  validate(toolOptions)
  const said = Object.fromEntries(Object.entries(toolOptions).filter(([, value]) => value !== undefined))
  return restrict({ ...policy, ...said })
}

/** The policy of a scope of the program; by default `make()`. */
export const ContentPolicy = Context.Reference<Policy>("toolspan/content/ContentPolicy", {
  defaultValue: () => make()
})

/**
 * Annotation of a tool with options of its own: `Search.annotate(ToolContent, { results: "redacted" })`. They are checked when the tool's
 * toolkit is instrumented.
 */
export const ToolContent = Context.Reference<Options | undefined>("toolspan/content/ToolContent", {
  defaultValue: () => undefined
})

/** Where no signal may carry content, none is captured. */
const restrict = (policy: Policy): Policy =>
  Object.freeze(
    policy.spans || policy.events
      ? policy
      : {
          ...policy,
          arguments: "off",
          results: "off",
          errors: "off",
          reasons: "off",
          descriptions: "off",
          messages: "off"
        }
  )

const capture: Check.Check = [
  '"off", "redacted" or "full"',
  (value) => value === "off" || value === "redacted" || value === "full"
]

const checks: Check.Checks<Options> = {
  arguments: capture,
  results: capture,
  errors: capture,
  reasons: capture,
  descriptions: capture,
  messages: capture,
  maxBytes: ["an integer, at least 64", (value) => Number.isInteger(value) && Number(value) >= 64],
  redact: ["a function of the content", Check.isFunction]
}

const validate = (options: Options): void => Check.validate("ContentPolicy", checks, options)
