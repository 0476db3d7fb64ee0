/**
 * `toolspan doctor`: whether telemetry arrives, and if not, why and what to do.
 */

import * as Console from "effect/Console"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Option from "effect/Option"
import * as Arrival from "./doctor/Arrival.ts"
import * as Finding from "./doctor/Finding.ts"
import * as Probe from "./doctor/Probe.ts"
import * as Target from "./doctor/Target.ts"
import * as TestCall from "./doctor/TestCall.ts"
import * as Telemetry from "./Telemetry.ts"

export const command = Command.make(
  "doctor",
  {
    endpoint: Flag.String("endpoint").pipe(
      Flag.withMetavar("URL"),
      Flag.withDescription("Where telemetry goes (default: what OTEL_EXPORTER_OTLP_ENDPOINT says)"),
      Flag.optional
    ),
    jaeger: Flag.String("jaeger").pipe(
      Flag.withMetavar("URL"),
      Flag.withDescription("Look for the test call in this Jaeger, for instance http://localhost:16686"),
      Flag.optional
    ),
    wait: Flag.Int("wait").pipe(
      Flag.withMetavar("SECONDS"),
      Flag.withDescription("How long the test call may take to arrive there (default: 15)"),
      Flag.withDefault(15)
    )
  },
  Effect.fnUntraced(
    function* ({ endpoint, jaeger, wait }) {
      // The SDK reads the variables of the process, as it does in any program.
      if (Option.isSome(endpoint)) process.env["OTEL_EXPORTER_OTLP_ENDPOINT"] = endpoint.value
      const say = (finding: Finding.Finding) => Effect.as(Console.log(Finding.render(finding)), finding.ok)
      if (Telemetry.isOff(process.env)) {
        yield* say(
          Finding.bad(
            "traces are turned off by OTEL_SDK_DISABLED, OTEL_TRACES_EXPORTER or OTEL_TRACES_SAMPLER",
            "Unset them."
          )
        )
        return yield* failed
      }
      const target = Target.fromEnvironment(process.env)
      const takes = yield* say(yield* Probe.probe(target))
      const { finding, traceId } = yield* TestCall.send
      const sent = yield* say(finding)
      const arrived =
        !sent ||
        Option.isNone(jaeger) ||
        (yield* say(yield* Arrival.find(jaeger.value, traceId, Duration.seconds(wait))))
      if (!takes || !sent || !arrived) yield* failed
    },
    (effect) => Effect.provide(effect, FetchHttpClient.layer)
  )
).pipe(Command.withDescription("Check whether telemetry arrives, and say what to do if it does not"))

const failed = Effect.sync(() => {
  process.exitCode = 1
})
