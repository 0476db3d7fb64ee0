/**
 * What a program can set on `Sdk.layer`, and the check that it is meant. Everything else is set by `OTEL_*` variables.
 */
import type { Attributes } from "@opentelemetry/api"
import type { tracing } from "@opentelemetry/sdk-node"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"

/** Options of `Sdk.layer`. */
export interface Options {
  /**
   * `service.name`. As OpenTelemetry specifies for what is set in code, it goes before `OTEL_SERVICE_NAME` and
   * `OTEL_RESOURCE_ATTRIBUTES`; leave it out to let the environment say it.
   */
  readonly serviceName?: string | undefined
  /** `service.version`. Goes before the environment. */
  readonly serviceVersion?: string | undefined
  /** Attributes of the resource. They go before the environment, and behind the two options above. */
  readonly resourceAttributes?: Attributes | undefined
  /** Span processors, called before those of the exporters and after the masking of secrets. What they throw is caught. */
  readonly spanProcessors?: ReadonlyArray<tracing.SpanProcessor> | undefined
  /** How long the end of the program may wait for telemetry to be delivered; default 5 seconds. */
  readonly shutdownTimeout?: Duration.Input | undefined
  /**
   * Whether to deliver what is finished when SIGTERM or SIGINT comes, and then to raise the signal again; default `false`. Not needed
   * under `NodeRuntime.runMain`, which closes the layer on both.
   */
  readonly handleSignals?: boolean | undefined
}

const checks: Readonly<Record<keyof Options, readonly [allowed: string, ok: (value: unknown) => boolean]>> = {
  serviceName: ["a non-empty string", isText],
  serviceVersion: ["a non-empty string", isText],
  resourceAttributes: ["an object of attributes", (value) => isObject(value) && !Array.isArray(value)],
  spanProcessors: [
    "an array of span processors",
    (value) => Array.isArray(value) && value.every(isSpanProcessor)
  ],
  shutdownTimeout: ['a finite duration above zero, such as "5 seconds"', isTimeout],
  handleSignals: ["true or false", (value) => typeof value === "boolean"]
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value.trim().length > 0
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null
}

function isSpanProcessor(value: unknown): boolean {
  return (
    isObject(value) && "onStart" in value && "onEnd" in value && "shutdown" in value && "forceFlush" in value
  )
}

function isTimeout(value: unknown): boolean {
  // Anything may come from outside; what is no duration throws in there and is None here.
  return Option.exists(Duration.fromInput(value as Duration.Input), (duration) => {
    return Duration.isFinite(duration) && Duration.isPositive(duration)
  })
}

/** Throws an `Error` that names the first bad option, its value and what is allowed. */
export const validate = (options: Options): void => {
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(checks, name)) {
      throw new Error(`Sdk.layer: unknown option "${name}"; allowed: ${Object.keys(checks).join(", ")}`)
    }
    if (value === undefined) continue
    // Object.hasOwn says so.
    const [allowed, ok] = checks[name as keyof Options]
    if (!ok(value)) throw new Error(`Sdk.layer: option "${name}" is ${describe(value)}; allowed: ${allowed}`)
  }
}

const describe = (value: unknown): string => {
  if (typeof value === "string") return JSON.stringify(value)
  if (Array.isArray(value)) return "an array"
  return isObject(value) ? "an object" : String(value)
}
