/**
 * What a program can set on `Sdk.layer`, and the check that it is meant. Everything else is set by `OTEL_*` variables.
 */
import type { Attributes } from "@opentelemetry/api"
import type { tracing } from "@opentelemetry/sdk-node"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Check from "../options/Check.ts"

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

const checks: Check.Checks<Options> = {
  serviceName: ["a non-empty string", Check.isText],
  serviceVersion: ["a non-empty string", Check.isText],
  resourceAttributes: ["an object of attributes", Check.isRecord],
  spanProcessors: [
    "an array of span processors",
    (value) => Array.isArray(value) && value.every(isSpanProcessor)
  ],
  shutdownTimeout: ['a duration above zero and below 25 days, such as "5 seconds"', isTimeout],
  handleSignals: ["true or false", Check.isBoolean]
}

function isSpanProcessor(value: unknown): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    "onStart" in value &&
    "onEnd" in value &&
    "shutdown" in value &&
    "forceFlush" in value
  )
}

/** Milliseconds; a longer timer of Node's runs at once. */
const LONGEST_TIMER = 2 ** 31 - 1

function isTimeout(value: unknown): boolean {
  // Anything may come from outside; what is no duration throws in there and is None here.
  return Option.exists(Duration.fromInput(value as Duration.Input), (duration) => {
    return Duration.isPositive(duration) && Duration.toMillis(duration) <= LONGEST_TIMER
  })
}

/** Throws an `Error` that names the first bad option, its value and what is allowed. */
export const validate = (options: Options): void => Check.validate("Sdk.layer", checks, options)
