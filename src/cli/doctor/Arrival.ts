/**
 * Whether a trace that was accepted has arrived in Jaeger.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Predicate from "effect/Predicate"
import * as Schedule from "effect/Schedule"
import * as Finding from "./Finding.ts"
import { shown } from "./Probe.ts"

const INTERVAL = Duration.millis(500)

/** Looks for the trace at Jaeger's query address until it is there, or the time is over. */
export const find = (
  jaeger: string,
  traceId: string,
  patience: Duration.Duration
): Effect.Effect<Finding.Finding, never, HttpClient.HttpClient> => {
  if (!URL.canParse(jaeger)) {
    return Effect.succeed(
      Finding.bad(`"${jaeger}" is no address`, "Give --jaeger one like http://localhost:16686.")
    )
  }
  const url = `${jaeger.replace(/\/$/, "")}/api/traces/${traceId}`
  return look(url).pipe(
    Effect.repeat({ schedule: Schedule.spaced(INTERVAL), until: (seen) => seen !== "not yet" }),
    Effect.timeoutOrElse({ duration: patience, orElse: () => Effect.succeed("not yet" as const) }),
    Effect.map((seen) => findings[seen](shown(jaeger), traceId, Duration.toSeconds(patience)))
  )
}

type Seen = "found" | "not yet" | "other" | "silent"

const findings: Readonly<
  Record<Seen, (jaeger: string, traceId: string, seconds: number) => Finding.Finding>
> = {
  found: (jaeger, traceId) => Finding.good(`Jaeger has it: ${jaeger}/trace/${traceId}`),
  "not yet": (jaeger, _, seconds) =>
    Finding.bad(
      `the trace was accepted, but Jaeger at ${jaeger} does not have it after ${seconds} seconds`,
      "Whatever accepted it does not deliver it there: look at the collector's log, and at its exporter's endpoint."
    ),
  other: (jaeger) =>
    Finding.bad(
      `${jaeger} answers, but not as Jaeger does`,
      "Give --jaeger the address of its pages, like http://localhost:16686."
    ),
  silent: (jaeger) =>
    Finding.bad(`Jaeger does not answer at ${jaeger}`, "Is it running, and is this its address?")
}

const look = (url: string): Effect.Effect<Seen, never, HttpClient.HttpClient> =>
  HttpClient.get(url).pipe(
    Effect.flatMap((response) =>
      Effect.map(response.json, (body): Seen => {
        if (!Predicate.hasProperty(body, "data") && !Predicate.hasProperty(body, "errors")) return "other"
        const data = Predicate.hasProperty(body, "data") ? body.data : undefined
        return response.status === 200 && Array.isArray(data) && data.length > 0 ? "found" : "not yet"
      })
    ),
    Effect.catch((error) =>
      Effect.succeed<Seen>(
        Predicate.hasProperty(error, "reason") && Predicate.isTagged(error.reason, "DecodeError")
          ? "other"
          : "silent"
      )
    )
  )
