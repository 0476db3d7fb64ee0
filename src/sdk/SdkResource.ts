/**
 * The resource: what the telemetry says about the process that it comes from.
 *
 * From weak to strong: OpenTelemetry's defaults, a `service.instance.id` of our own, what the detectors find (the environment with
 * `OTEL_RESOURCE_ATTRIBUTES` and `OTEL_SERVICE_NAME`, process and host, or the list in `OTEL_NODE_RESOURCE_DETECTORS`), what is set in
 * code. The last two are in the order of the specification; `@opentelemetry/sdk-node` has them the other way round, so the detection is
 * done here.
 */
import { randomUUID } from "node:crypto"
import { diag } from "@opentelemetry/api"
import { core, resources } from "@opentelemetry/sdk-node"
import { redactText } from "../content/Redaction.ts"
import type { Options } from "./Options.ts"

/** One per process, so that no two processes write the same series. */
const INSTANCE_ID = randomUUID()

/** Detects and merges. Attributes that take time to detect are waited for by the exports. */
export const make = ({ resourceAttributes, serviceName, serviceVersion }: Options): resources.Resource =>
  resources
    .defaultResource()
    .merge(resources.resourceFromAttributes({ "service.instance.id": INSTANCE_ID }))
    .merge(resources.detectResources({ detectors: detectors() }))
    .merge(
      resources.resourceFromAttributes({
        ...resourceAttributes,
        ...(serviceName !== undefined && { "service.name": serviceName }),
        ...(serviceVersion !== undefined && { "service.version": serviceVersion })
      })
    )

/** The process as OpenTelemetry describes it, without the secrets of its command line. */
const processDetector: resources.ResourceDetector = {
  detect: (config) => {
    const { attributes } = resources.processDetector.detect(config)
    const args = attributes?.["process.command_args"]
    if (!Array.isArray(args)) return { ...(attributes && { attributes }) }
    const line = args.join(" ")
    const masked = redactText(line)
    return {
      attributes: { ...attributes, "process.command_args": masked === line ? args : masked.split(" ") }
    }
  }
}

const byName: ReadonlyMap<string, resources.ResourceDetector> = new Map([
  ["env", resources.envDetector],
  ["host", resources.hostDetector],
  ["os", resources.osDetector],
  ["process", processDetector],
  ["serviceinstance", resources.serviceInstanceIdDetector]
])

const detectors = (): Array<resources.ResourceDetector> => {
  const names = core.getStringListFromEnv("OTEL_NODE_RESOURCE_DETECTORS") ?? ["env", "process", "host"]
  if (names.includes("all")) return [...byName.values()]
  if (names.includes("none")) return []
  return names.flatMap((name) => {
    const detector = byName.get(name)
    if (detector === undefined)
      diag.warn(`Invalid resource detector "${name}" in OTEL_NODE_RESOURCE_DETECTORS`)
    return detector ?? []
  })
}
