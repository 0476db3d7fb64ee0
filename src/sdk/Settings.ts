/**
 * Batch sizes, delays and intervals from the environment.
 *
 * `OTEL_BSP_*`, `OTEL_BLRP_*`, `OTEL_METRIC_EXPORT_INTERVAL` and `OTEL_METRIC_EXPORT_TIMEOUT` with the meaning, the defaults and the
 * warnings that `@opentelemetry/sdk-node` gives them: a value that is no positive number counts as not set.
 */
import { diag } from "@opentelemetry/api"
import { core } from "@opentelemetry/sdk-node"

/** Settings of a batch processor: of spans (`BSP`) or of log records (`BLRP`). Times in milliseconds. */
export const batch = (prefix: "BSP" | "BLRP") => ({
  maxQueueSize: positive(`OTEL_${prefix}_MAX_QUEUE_SIZE`) ?? 2048,
  maxExportBatchSize: positive(`OTEL_${prefix}_MAX_EXPORT_BATCH_SIZE`) ?? 512,
  scheduledDelayMillis: positive(`OTEL_${prefix}_SCHEDULE_DELAY`) ?? (prefix === "BSP" ? 5000 : 1000),
  exportTimeoutMillis: positive(`OTEL_${prefix}_EXPORT_TIMEOUT`) ?? 30_000
})

/** Settings of a periodic metric reader. Times in milliseconds; the timeout is at most the interval. */
export const reader = () => {
  const exportIntervalMillis = positive("OTEL_METRIC_EXPORT_INTERVAL") ?? 60_000
  const timeout = positive("OTEL_METRIC_EXPORT_TIMEOUT")
  if (timeout !== undefined && timeout > exportIntervalMillis) {
    diag.warn(
      `OTEL_METRIC_EXPORT_TIMEOUT (${timeout}) is greater than the export interval (${exportIntervalMillis}). Clamping timeout to interval value.`
    )
  }
  return { exportIntervalMillis, exportTimeoutMillis: Math.min(timeout ?? 30_000, exportIntervalMillis) }
}

const positive = (name: string): number | undefined => {
  const value = core.getNumberFromEnv(name)
  if (value === undefined || value > 0) return value
  diag.warn(`${name} (${value}) is invalid, expected number greater than 0, using default.`)
  return undefined
}
