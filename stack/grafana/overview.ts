/**
 * The dashboard of all tools: what is called, what fails, how long it takes, what waits for a human.
 */
import { PercentUnit, Seconds, Short } from "@grafana/grafana-foundation-sdk/units"
import * as Builders from "./builders.ts"
import * as Panels from "./panels.ts"
import { BAR, FAILURES, quantile, rise, SMOOTH, series, share, WHOLE } from "./queries.ts"

const service = `service_name=~"$service"`
const chosen = [service, `gen_ai_tool_name=~"$tool"`]
const tool = ["gen_ai_tool_name"]
const serviceAndTool = ["service_name", "gen_ai_tool_name"]

const of: Panels.Of = (metric, ...matchers) => series(metric, ...chosen, ...matchers)
const dropped = series("toolspan_telemetry_dropped_total", service)

/** What a store knows is the same in every process that reads it. What processes know for themselves adds up. */
const pending = `max by (service_name, gen_ai_tool_name) (${of("toolspan_approval_stored")})
or
sum by (service_name, gen_ai_tool_name) (${of("toolspan_approval_pending")})`

const atAGlance: Builders.Section = {
  title: "At a glance",
  lines: [
    {
      height: 4,
      panels: [
        Panels.callsNumber(of),
        Panels.failedNumber(of),
        Panels.p95Number(of),
        Builders.number(
          {
            title: "Approvals pending",
            description:
              "What waits for a human: all that is in the store, or without one, what was asked for in processes that still run and not seen decided there.",
            unit: Short
          },
          `sum (
  ${pending}
)`,
          "none"
        ),
        Builders.number(
          {
            title: "Oldest approval",
            description:
              "How long the oldest approval in the store has waited. Without a store nobody knows. Red from an hour on.",
            unit: Seconds
          },
          `max (${of("toolspan_approval_oldest_seconds")})`,
          "no store",
          3600
        ),
        Builders.number(
          {
            title: "Telemetry dropped",
            description:
              "Attributes that were not captured, spans and logs that were not delivered: what the rest of this dashboard may miss. All tools of the service.",
            unit: Short
          },
          rise(dropped, WHOLE),
          "none",
          1
        )
      ]
    }
  ]
}

const callsAndFailures: Builders.Section = {
  title: "Calls and failures",
  lines: [
    {
      height: 9,
      panels: [
        Builders.bars(
          { title: "Calls by tool", description: "Tool calls that ended in each interval, however." },
          { expr: rise(Panels.calls(of), BAR, tool), legend: "{{gen_ai_tool_name}}" }
        ),
        Panels.coloredByOutcome(
          Builders.bars(
            {
              title: "Failures by outcome",
              description:
                "Red: the tool failed. Orange: the model called it wrongly. Calls that were denied or cancelled are no failures; the dashboard of a tool has them."
            },
            {
              expr: rise(Panels.withOutcome(of, `${FAILURES}|invalid_arguments|unknown_tool`), BAR, [
                "toolspan_tool_outcome"
              ]),
              legend: "{{toolspan_tool_outcome}}"
            }
          )
        )
      ]
    },
    {
      height: 9,
      panels: [
        Builders.table(
          {
            title: "Tools",
            description:
              "Each tool of each service, in this time. Failures and their share are those of calls that ran to an end of their own. A click on a tool shows it in depth."
          },
          {
            service_name: { title: "Service" },
            gen_ai_tool_name: {
              title: "Tool",
              link: {
                title: "In depth",
                // biome-ignore lint/suspicious/noTemplateCurlyInString: the variables are Grafana's.
                url: "/d/toolspan-tool?var-service=${__data.fields.service_name}&var-tool=${__data.fields.gen_ai_tool_name}&${__url_time_range}"
              }
            }
          },
          [
            { title: "Calls", unit: Short, expr: rise(Panels.calls(of), WHOLE, serviceAndTool) },
            { title: "Failures", unit: Short, expr: rise(Panels.failures(of), WHOLE, serviceAndTool) },
            {
              title: "Failed",
              unit: PercentUnit,
              expr: share(
                rise(Panels.failures(of), WHOLE, serviceAndTool),
                rise(Panels.attempts(of), WHOLE, serviceAndTool)
              )
            },
            { title: "p50", unit: Seconds, expr: quantile(0.5, Panels.durations(of), WHOLE, serviceAndTool) },
            { title: "p95", unit: Seconds, expr: quantile(0.95, Panels.durations(of), WHOLE, serviceAndTool) }
          ]
        )
      ]
    }
  ]
}

const howLong: Builders.Section = {
  title: "Duration",
  lines: [
    {
      height: 8,
      panels: [
        Panels.duration(of),
        Builders.lines(
          {
            title: "Duration by tool, p95",
            description: "95 of 100 calls of a tool were at most this long.",
            unit: Seconds
          },
          { expr: quantile(0.95, Panels.durations(of), SMOOTH, tool), legend: "{{gen_ai_tool_name}}" }
        ),
        Builders.lines(
          {
            title: "Running now",
            description: "Calls that have begun and not ended.",
            unit: Short
          },
          {
            expr: `sum by (gen_ai_tool_name) (${of("toolspan_tool_active")})`,
            legend: "{{gen_ai_tool_name}}"
          }
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
        Builders.lines(
          {
            title: "Pending by tool",
            description:
              "What waits for a human: all that is in the store, or without one, what was asked for in processes that still run and not seen decided there.",
            unit: Short
          },
          {
            expr: `sum by (gen_ai_tool_name) (
  ${pending}
)`,
            legend: "{{gen_ai_tool_name}}"
          }
        ),
        Builders.bars(
          {
            title: "Requests by tool",
            description: "Approvals that were asked for in each interval."
          },
          { expr: rise(of("toolspan_approval_requests_total"), BAR, tool), legend: "{{gen_ai_tool_name}}" }
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
        )
      ]
    },
    {
      height: 8,
      panels: [
        Builders.lines(
          {
            title: "Wait for a decision",
            description:
              "How long humans took: half of the decisions, and 95 of 100, came within this time. It stands where the decision came, not where it was asked for.",
            unit: Seconds
          },
          { expr: quantile(0.5, Panels.waits(of), SMOOTH), legend: "p50" },
          { expr: quantile(0.95, Panels.waits(of), SMOOTH), legend: "p95" }
        ),
        Builders.bars(
          {
            title: "Denials by tool",
            description:
              "Calls that did not run, since a human said no, or nobody yes in time. Many at once: the model asks for what it should not."
          },
          {
            expr: rise(Panels.withOutcome(of, "denied"), BAR, tool),
            legend: "{{gen_ai_tool_name}}"
          }
        )
      ]
    }
  ]
}

const models: Builders.Section = {
  title: "Loops, replays, telemetry",
  lines: [
    {
      height: 8,
      panels: [
        Builders.lines(
          {
            title: "Streak by tool, p95",
            description:
              "How often a tool was called since the user last said something, told at each turn that calls it. One that climbs is a model that goes round in circles.",
            unit: Short
          },
          { expr: quantile(0.95, Panels.streaks(of), SMOOTH, tool), legend: "{{gen_ai_tool_name}}" }
        ),
        Builders.bars(
          {
            title: "Replays by tool",
            description:
              "Results that a durable runtime had stored, and gave again in place of a second run, in each interval."
          },
          { expr: rise(Panels.replays(of), BAR, tool), legend: "{{gen_ai_tool_name}}" }
        ),
        Builders.bars(
          {
            title: "Telemetry dropped, by reason",
            description:
              "Attributes that were not captured, spans and logs that were not delivered, in each interval. All tools of the service."
          },
          {
            expr: rise(dropped, BAR, ["toolspan_dropped_reason"]),
            legend: "{{toolspan_dropped_reason}}"
          }
        )
      ]
    }
  ]
}

const agent = ["gen_ai_agent_name"]
const legend = "{{gen_ai_agent_name}}"

const runs: Builders.Section = {
  title: "Runs of agents, by agent: of all tools",
  lines: [
    {
      height: 8,
      panels: [
        Builders.lines(
          {
            title: "Duration of a stretch, p95",
            description: "How long a run is worked on without a break. Waiting for approvals is none of it.",
            unit: Seconds
          },
          {
            expr: quantile(
              0.95,
              series("gen_ai_invoke_agent_duration_seconds_bucket", service),
              SMOOTH,
              agent
            ),
            legend
          }
        ),
        Builders.lines(
          {
            title: "Tool calls in a stretch, p95",
            description: "How many calls a stretch of a run handed to tools.",
            unit: Short
          },
          {
            expr: quantile(0.95, series("gen_ai_invoke_agent_tool_calls_bucket", service), SMOOTH, agent),
            legend
          }
        ),
        Builders.lines(
          {
            title: "Answers of the model in a stretch, p95",
            description: "How often a stretch of a run asked the model.",
            unit: Short
          },
          {
            expr: quantile(
              0.95,
              series("gen_ai_invoke_agent_inference_calls_bucket", service),
              SMOOTH,
              agent
            ),
            legend
          }
        )
      ]
    }
  ]
}

export const overview = Builders.dashboard({
  uid: "toolspan-overview",
  title: "Tools",
  description:
    "All tools of AI agents: what is called, what fails, how long it takes, what waits for a human.",
  variables: [
    Builders.choice("service", "Service", "toolspan_tool_calls_total, service_name")
      .multi(true)
      .includeAll(true)
      .allValue(".*"),
    Builders.choice("tool", "Tool", `${series("toolspan_tool_calls_total", service)}, gen_ai_tool_name`)
      .multi(true)
      .includeAll(true)
      .allValue(".*")
  ],
  links: [Builders.link("One tool in depth", "/d/toolspan-tool"), Builders.link("Jaeger", Builders.JAEGER)],
  sections: [atAGlance, callsAndFailures, howLong, approvals, models, runs]
})
