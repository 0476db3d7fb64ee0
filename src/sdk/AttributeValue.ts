/**
 * Values of Effect spans as OpenTelemetry attribute values and times, converted as `@effect/opentelemetry` does.
 */
import type * as Otel from "@opentelemetry/api"
import * as Inspectable from "effect/Inspectable"

const nanosPerSecond = BigInt(1_000_000_000)

/** Nanoseconds since the epoch as `[seconds, nanoseconds]`. */
export const toHrTime = (nanos: bigint): Otel.HrTime => [
  Number(nanos / nanosPerSecond),
  Number(nanos % nanosPerSecond)
]

/**
 * A string, number or boolean as it is; a bigint in digits; an array of one of the three primitive types as a copy; anything else as
 * JSON text.
 */
export const fromUnknown = (value: unknown): Otel.AttributeValue => {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value
  if (typeof value === "bigint") return value.toString()
  if (Array.isArray(value)) {
    if (isArrayOf(value, "string")) return [...value]
    if (isArrayOf(value, "number")) return [...value]
    if (isArrayOf(value, "boolean")) return [...value]
  }
  return Inspectable.toStringUnknown(value)
}

/** All entries of a record, each by {@link fromUnknown}. */
export const fromRecord = (record: Readonly<Record<string, unknown>>): Otel.Attributes =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, fromUnknown(value)]))

interface Primitives {
  readonly string: string
  readonly number: number
  readonly boolean: boolean
}

const isArrayOf = <T extends keyof Primitives>(
  values: ReadonlyArray<unknown>,
  type: T
): values is Array<Primitives[T]> => values.every((value) => typeof value === type)
