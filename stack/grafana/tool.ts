/**
 * The dashboard of one tool of one service: how its calls end and why, how long they take, and the traces behind the numbers.
 */
import { PercentUnit, Seconds, Short } from "@grafana/grafana-foundation-sdk/units"
import * as Builders from "./builders.ts"
import * as Panels from "./panels.ts"
import { ATTEMPTS, BAR, quantile, rise, SMOOTH, series, share, WHOLE } from "./queries.ts"

const service = `service_name="$service"`
const chosen = [service, `gen_ai_tool_name="$tool"`]

const of: Panels.Of = (metric, ...matchers) => series(metric, ...chosen, ...matchers)

/** Metrics of Effect carry no exemplars. Those that the collector makes of spans do: the only ones that lead to a trace. */
const spans = series("traces_span_metrics_duration_seconds_bucket", service, `span_name="execute_tool $tool"`)
const failedSpans = series(
  "traces_span_metrics_duration_seconds_bucket",
  service,
  `span_name="execute_tool $tool"`,
  `status_code="STATUS_CODE_ERROR"`
)

const atAGlance: Builders.Section = {
  title: "At a glance",
  lines: [
    {
      height: 4,
      panels: [
        Panels.callsNumber(of),
        Panels.failedNumber(of),
        Builders.number(
          {
            title: "Invalid arguments",
            description:
              "Share of the calls whose arguments the tool does not take: the model's fault, and often that of the tool's description.",
            unit: PercentUnit
          },
          share(
            rise(Panels.withOutcome(of, "invalid_arguments"), WHOLE),
            rise(Panels.withOutcome(of, `${ATTEMPTS}|invalid_arguments`), WHOLE)
          ),
          "no calls"
        ),
        Builders.number(
          { title: "Duration, p50", description: "Half of the calls were at most this long.", unit: Seconds },
          quantile(0.5, Panels.durations(of), WHOLE),
          "no calls"
        ),
        Panels.p95Number(of),
        Builders.number(
          { title: "Running now", description: "Calls that have begun and not ended.", unit: Short },
          `sum (${of("toolspan_tool_active")})`,
          "none"
        )
      ]
    }
  ]
}

const outcomes: Builders.Section = {
  title: "Outcomes",
  lines: [
    {
      height: 9,
      panels: [
        Panels.coloredByOutcome(
          Builders.bars(
            {
              title: "Outcomes",
              description:
                "How the calls of each interval ended. Red: the tool failed. Orange: the model called it wrongly. Blue: a human said no. Gray: stopped, or never begun."
            },
            {
              expr: rise(Panels.calls(of), BAR, ["toolspan_tool_outcome"]),
              legend: "{{toolspan_tool_outcome}}"
            }
          )
        ),
        Builders.bars(
          {
            title: "Error types",
            description:
              "The class of each error. ToolParameterValidationError: invalid arguments. _OTHER: it has no class, or there were too many."
          },
          {
            expr: rise(of("gen_ai_execute_tool_duration_seconds_count", `error_type!=""`), BAR, [
              "error_type"
            ]),
            legend: "{{error_type}}"
          }
        )
      ]
    },
    {
      height: 7,
      panels: [
        Builders.bars(
          {
            title: "Invalid arguments by agent",
            description: "Calls whose arguments the tool does not take, by the agent that made them."
          },
          {
            expr: rise(Panels.withOutcome(of, "invalid_arguments"), BAR, ["gen_ai_agent_name"]),
            legend: "{{gen_ai_agent_name}}"
          }
        ),
        Builders.bars(
          { title: "Calls by agent", description: "All calls, by the agent that made them." },
          { expr: rise(Panels.calls(of), BAR, ["gen_ai_agent_name"]), legend: "{{gen_ai_agent_name}}" }
        )
      ]
    }
  ]
}

const howLong: Builders.Section = {
  title: "Duration",
  lines: [
    {
      height: 9,
      panels: [
        Builders.heatmap(
          {
            title: "Durations",
            description:
              "How many calls were how long, in each interval. Cancelled and abandoned calls are left out.",
            unit: Seconds
          },
          rise(Panels.durations(of), BAR, ["le"])
        ),
        Panels.duration(of)
      ]
    }
  ]
}

const traces: Builders.Section = {
  title: "Traces",
  lines: [
    {
      height: 9,
      panels: [
        Builders.linesWithTraces(
          {
            title: "Calls, with traces",
            description:
              "Each point is a call, and leads to its trace in Jaeger. The line is the p95 of the spans that the collector saw: the calls of programs that send traces.",
            unit: Seconds
          },
          { expr: quantile(0.95, spans, SMOOTH), legend: "p95" }
        ),
        Builders.linesWithTraces(
          {
            title: "Failed calls, with traces",
            description:
              "Each point is a failed call, and leads to its trace in Jaeger. The lines are the p95 of its error type.",
            unit: Seconds
          },
          { expr: quantile(0.95, failedSpans, SMOOTH, ["error_type"]), legend: "{{error_type}}" }
        )
      ]
    }
  ]
}

const approvals: Builders.Section = {
  title: "Approvals",
  lines: [
    {
      height: 8,
      panels: [
        Builders.bars(
          { title: "Requests", description: "Approvals that were asked for in each interval." },
          { expr: rise(of("toolspan_approval_requests_total"), BAR), legend: "requests" }
        ),
        Panels.coloredByDecision(
          Builders.bars(
            {
              title: "Decisions",
              description: "How approvals were decided in each interval. Expired ones ran out of time."
            },
            {
              expr: rise(Panels.decisions(of), BAR, ["toolspan_approval_decision"]),
              legend: "{{toolspan_approval_decision}}"
            }
          )
        ),
        Builders.heatmap(
          {
            title: "Waits for a decision",
            description: "How many approvals had waited how long when they were decided, in each interval.",
            unit: Seconds
          },
          rise(Panels.waits(of), BAR, ["le"])
        ),
        Builders.lines(
          {
            title: "Pending",
            description:
              "Approvals that wait for a human: in the store, if there is one, and in the processes that asked and still run.",
            unit: Short
          },
          { expr: `max (${of("toolspan_approval_stored")})`, legend: "in the store" },
          { expr: `sum (${of("toolspan_approval_pending")})`, legend: "in running processes" }
        )
      ]
    }
  ]
}

const models: Builders.Section = {
  title: "Loops and replays",
  lines: [
    {
      height: 8,
      panels: [
        Builders.lines(
          {
            title: "Streak",
            description:
              "How often the tool was called since the user last said something, told at each turn that calls it. One that climbs is a model that goes round in circles.",
            unit: Short
          },
          { expr: quantile(0.5, Panels.streaks(of), SMOOTH), legend: "p50" },
          { expr: quantile(0.95, Panels.streaks(of), SMOOTH), legend: "p95" },
          { expr: quantile(1, Panels.streaks(of), SMOOTH), legend: "longest" }
        ),
        Builders.bars(
          {
            title: "Replays",
            description:
              "Results that a durable runtime had stored, and gave again in place of a second run, in each interval."
          },
          { expr: rise(Panels.replays(of), BAR), legend: "replays" }
        )
      ]
    }
  ]
}

/** Jaeger's search for calls of the tool that have all of `tags`. */
const search = (tags: Readonly<Record<string, string>>): string =>
  `${Builders.JAEGER}/search?service=${SERVICE}&tags=${encodeURIComponent(
    JSON.stringify({ ...tags, "gen_ai.tool.name": "TOOL" })
  ).replace("TOOL", TOOL)}`

// Grafana's variables, in an address.
const SERVICE = "$" + "{service:percentencode}"
const TOOL = "$" + "{tool:percentencode}"

export const tool = Builders.dashboard({
  uid: "toolspan-tool",
  title: "One tool",
  description:
    "One tool of one service: how its calls end and why, how long they take, and the traces behind the numbers.",
  variables: [
    Builders.choice("service", "Service", "toolspan_tool_calls_total, service_name"),
    Builders.choice("tool", "Tool", `${series("toolspan_tool_calls_total", service)}, gen_ai_tool_name`)
  ],
  links: [
    Builders.link("All tools", "/d/toolspan-overview"),
    Builders.link("Its calls in Jaeger", search({})),
    Builders.link("Its failed calls in Jaeger", search({ error: "true" }))
  ],
  sections: [atAGlance, outcomes, howLong, traces, approvals, models]
})
