/**
 * The alert rules as text: complete, tested, documented, and about what exists. Whether they do what they say, `rules.stack.ts` finds out.
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Yaml from "yaml"
import type { DroppedReason, ToolOutcome } from "../../../src/semconv/Attributes.ts"
import * as Objectives from "./Objectives.ts"
import * as PrometheusNames from "./PrometheusNames.ts"
import * as PromQl from "./PromQl.ts"
import * as RuleFiles from "./RuleFiles.ts"

const root = Path.join(RuleFiles.testFolder, "../../..")
const docs = Fs.readFileSync(Path.join(root, "docs/alerts.md"), "utf8")
const { alerts, ruleFiles, rules, testFiles } = RuleFiles

describe("an alert", () => {
  it("has one rule", () => {
    const names = alerts.map(({ alert }) => alert)
    assert.isAbove(names.length, 20)
    assert.deepStrictEqual(names, [...new Set(names)])
  })

  for (const { alert, annotations = {}, labels } of alerts) {
    describe(alert, () => {
      it("is a page, a ticket or an information", () => {
        assert.deepStrictEqual(Object.keys(labels ?? {}), ["severity"])
        assert.include(["page", "ticket", "info"], labels?.["severity"])
      })

      it("says what to do, links to traces, and has a section in docs/alerts.md", () => {
        assert.deepStrictEqual(Object.keys(annotations), ["summary", "description", "traces", "runbook"])
        assert.match(annotations["summary"] ?? "", /\.$/)
        assert.match(annotations["description"] ?? "", /\.$/)
        assert.isTrue(annotations["traces"]?.startsWith(`${JAEGER}/search`))
        assert.strictEqual(annotations["runbook"], `docs/alerts.md#${alert.toLowerCase()}`)
        assert.include(docs, `\n### ${alert}\n`)
      })

      it("stands in the table of docs/alerts.md with its severity", () => {
        assert.include(docs, `\n| [${alert}](#${alert.toLowerCase()}) | ${labels?.["severity"]} |`)
      })

      it("has tests in which it fires, does not fire, and resolves", () => {
        const kinds = testKinds(alert)
        assert.isTrue(kinds.fires, "fires")
        if (alert === "Watchdog") return
        assert.isTrue(kinds.resolves, "resolves")
        assert.isTrue(kinds.silent, "does not fire")
      })
    })
  }

  it("about a tool links to the tool's traces", () => {
    for (const { alert, annotations, expr } of alerts) {
      const summary = annotations?.["summary"] ?? ""
      const traces = annotations?.["traces"] ?? ""
      if (summary.includes("service_name"))
        assert.include(traces, "service={{ $labels.service_name | urlquery }}", alert)
      if (summary.includes("gen_ai_tool_name") && !expr.includes("toolspan:objective")) {
        assert.match(traces, /&tags=\{\{ printf "[^|]*\\"gen_ai\.tool\.name\\":%q.* \| urlquery \}\}$/, alert)
      }
    }
  })

  it("that is in docs/alerts.md exists", () => {
    const documented = [...docs.matchAll(/^### (\w+)$/gm)].map(([, name]) => name ?? "")
    assert.deepStrictEqual(documented.toSorted(), alerts.map(({ alert }) => alert).toSorted())
  })
})

const JAEGER = `{{ with query "toolspan:links:info" }}{{ . | first | label "jaeger" }}{{ end }}`

const testKinds = (alert: string) => {
  const kinds = { fires: false, silent: false, resolves: false }
  for (const { alert_rule_test = [] } of testFiles.flatMap(({ tests }) => tests)) {
    const checks = alert_rule_test
      .filter(({ alertname }) => alertname === alert)
      .map(({ eval_time, exp_alerts = [] }) => ({
        at: RuleFiles.millis(eval_time),
        fires: exp_alerts.length > 0
      }))
    const fired = checks.filter(({ fires }) => fires).map(({ at }) => at)
    if (fired.length > 0) kinds.fires = true
    else if (checks.length > 0) kinds.silent = true
    if (checks.some(({ at, fires }) => !fires && at > Math.max(...fired, -1) && fired.length > 0))
      kinds.resolves = true
  }
  return kinds
}

describe("a test of rules", () => {
  it("names its groups in their order, so that it does not depend on chance", () => {
    for (const { file, group_eval_order = [], rule_files, tests } of testFiles) {
      const loaded = ruleFiles.filter((rules) =>
        rule_files.some((pattern) => pattern.endsWith(`/${rules.file}`) || pattern.endsWith("/*.rules.yml"))
      )
      const groups = loaded.flatMap(({ groups }) => groups.map(({ name }) => name))
      assert.sameMembers([...group_eval_order], groups, file)
      for (const { name } of tests) assert.isDefined(name, file)
    }
  })
})

/** Not ours: of the collector (scraped, so without suffixes), of its span metrics, of Prometheus and of Alertmanager. */
const foreignMetrics = [
  "up",
  "traces_span_metrics_calls_total",
  "otelcol_exporter_queue_capacity",
  "otelcol_exporter_queue_size",
  "otelcol_exporter_send_failed_log_records",
  "otelcol_exporter_send_failed_metric_points",
  "otelcol_exporter_send_failed_spans",
  "otelcol_exporter_sent_log_records",
  "otelcol_exporter_sent_metric_points",
  "otelcol_exporter_sent_spans",
  "otelcol_receiver_refused_log_records",
  "otelcol_receiver_refused_metric_points",
  "otelcol_receiver_refused_spans",
  "prometheus_notifications_dropped_total",
  "prometheus_notifications_errors_total",
  "prometheus_rule_evaluation_failures_total",
  "alertmanager_notifications_failed_total"
]

const foreignLabels = [
  ...["job", "instance", "le"],
  // Of span metrics.
  ...["span_name", "status_code"],
  // Of the collector.
  ...["exporter", "receiver", "data_type"],
  // Of Prometheus and Alertmanager.
  ...["rule_group", "alertmanager", "integration"]
]

/** Labels of series that the rules record, besides those of what they are recorded from. */
const ownLabels = ["exempt_from", "jaeger", "setting"]

/** Of the runtime, under the name that the collector gives it. */
const runtimeMetrics = ["toolspan_approval_oldest_seconds"]

const outcomes: Readonly<Record<ToolOutcome, true>> = {
  success: true,
  failure: true,
  invalid_arguments: true,
  invalid_result: true,
  defect: true,
  unknown_tool: true,
  cancelled: true,
  abandoned: true,
  denied: true,
  not_started: true,
  outcome_unknown: true
}

const reasons: Readonly<Record<DroppedReason, true>> = {
  serialization: true,
  hook_failed: true,
  bad_stamp: true,
  no_stamp: true,
  queue_full: true,
  export_failed: true
}

describe("an expression", () => {
  const templates = alerts.flatMap(({ alert, annotations = {} }) =>
    [
      ...Object.values(annotations)
        .join("\n")
        .matchAll(/printf "([^"{]*\{[^"}]*\}[^"]*)"/g)
    ].map(([, query = ""]) => ({
      rule: `${alert}, in an annotation`,
      ...PromQl.names(query.replaceAll("%q", '"x"'))
    }))
  )
  const used = [
    ...rules.map(({ alert, expr, record }) => ({ rule: alert ?? record ?? "", ...PromQl.names(expr) })),
    ...templates.filter(({ metrics }) => [...metrics].some((name) => name.includes(":")))
  ]

  it("names only metrics that semconv, the rules themselves or a known program have", () => {
    const known = new Set([
      ...PrometheusNames.instruments.flatMap(PrometheusNames.metrics),
      ...rules.flatMap(({ record }) => (record === undefined ? [] : [record])),
      // Lines that a user may write.
      "toolspan:exempt:info",
      ...runtimeMetrics,
      ...foreignMetrics
    ])
    const unknown = used.flatMap(({ metrics, rule }) =>
      [...metrics].filter((name) => !known.has(name)).map((name) => `${rule}: ${name}`)
    )
    assert.deepStrictEqual(unknown, [])
    const all = new Set(used.flatMap(({ metrics }) => [...metrics]))
    assert.includeMembers([...all], foreignMetrics)
    assert.includeMembers(
      [...all],
      [
        "toolspan_tool_calls_total",
        "gen_ai_execute_tool_duration_seconds_bucket",
        "toolspan_tool_streak_bucket",
        "toolspan_approval_requests_total",
        "toolspan_approval_decisions_total",
        "toolspan_approval_wait_seconds_bucket",
        "toolspan_telemetry_dropped_total"
      ]
    )
  })

  it("names only labels that semconv, a resource, the rules themselves or a known program have", () => {
    const promoted: ReadonlyArray<string> = Yaml.parse(
      Fs.readFileSync(Path.join(root, "stack/prometheus/prometheus.yml"), "utf8")
    ).otlp.promote_resource_attributes
    const known = new Set([
      ...[...PrometheusNames.attributes, ...promoted].map(PrometheusNames.label),
      ...ownLabels,
      ...foreignLabels
    ])
    const inTemplates = alerts.map(({ alert, annotations = {} }) => ({
      rule: alert,
      labels: [
        ...Object.values(annotations)
          .join("\n")
          .matchAll(/\$labels\.(\w+)/g)
      ].map(([, name]) => name ?? "")
    }))
    const unknown = [...used, ...inTemplates].flatMap(({ labels, rule }) =>
      [...labels].filter((name) => !known.has(name)).map((name) => `${rule}: ${name}`)
    )
    assert.deepStrictEqual(unknown, [])
    const all = new Set(used.flatMap(({ labels }) => [...labels]))
    assert.includeMembers(
      [...all],
      ["toolspan_tool_outcome", "toolspan_approval_decision", "error_type", "le"]
    )
  })

  it("compares only with outcomes, decisions and reasons that there are", () => {
    const known: Readonly<Record<string, ReadonlyArray<string>>> = {
      toolspan_tool_outcome: [...Object.keys(outcomes)],
      toolspan_dropped_reason: Object.keys(reasons),
      toolspan_approval_decision: ["approved", "denied", "expired"]
    }
    const values = used.flatMap((names) => names.values)
    for (const [label, value] of values)
      if (known[label] !== undefined) assert.include(known[label], value, label)
    assert.isAbove(values.filter(([label]) => label in known).length, 20)
  })

  it("takes the rise of a counter for each series before it sums, in one and the same way", () => {
    const risen = rules.filter(({ record = "" }) => /:increase\d+[mhd]$/.test(record))
    const raw = risen.filter(({ expr }) => expr.includes("last_over_time"))
    for (const { expr, record } of raw) {
      const [, labels, selector = "", range = "", offset = ""] =
        /^sum by \(([\w, ]+)\) \(\s+\(\s+last_over_time\(([^[]+)\[(\w+)\]( offset \w+)?\)/.exec(expr) ?? []
      const before = offset === "" ? range : hours(range, offset.replace(" offset ", ""))
      const now = `${selector}[${range}]${offset}`
      assert.strictEqual(
        expr.trim(),
        `sum by (${labels}) (
  (
    last_over_time(${now})
      - (last_over_time(${selector}[1h] offset ${before}) <= min_over_time(${now}))
    or last_over_time(${now})
  )
  unless resets(${now}) > 0
  or increase(${now})
)`,
        record
      )
    }
    assert.isAbove(raw.length, 10)
    // What else is called an increase is made of these.
    for (const { expr, record } of risen.filter((rule) => !raw.includes(rule))) {
      assert.match(expr, /toolspan:\w+:(increase|hourly)/, record)
    }
  })

  it("leaves no counter of ours to increase or rate alone, which miss what is newborn", () => {
    for (const { alert, expr, record } of rules) {
      if (expr.includes("last_over_time")) continue
      assert.notMatch(
        expr,
        /\b(rate|irate|increase|delta)\((toolspan_|gen_ai_|traces_)/,
        alert ?? record ?? ""
      )
    }
  })
})

describe("the reader of expressions", () => {
  it("tells metrics from labels, functions, keywords and durations", () => {
    const { labels, metrics, values } = PromQl.names(`
      # a comment about nothing_at_all
      sum by (tool, le) (rate(a_total{x="1", y=~"p|q", z!="by (w)"}[5m] offset 1h))
        / on (tool) group_left (owner) max without (pod) (ns:b:rate5m) > bool 0.5
      unless on () absent(up == 0) or topk(3, c) and ignoring (le) d{le="+Inf"} >= 2e3
      or label_replace(sum_over_time(e[3d:1h]), "made", "$1", "from", "(.*)") or vector(1)`)
    assert.deepStrictEqual([...metrics], ["a_total", "ns:b:rate5m", "up", "c", "d", "e"])
    assert.deepStrictEqual([...labels], ["tool", "le", "x", "y", "z", "owner", "pod"])
    assert.deepStrictEqual(values, [
      ["x", "1"],
      ["y", "p"],
      ["y", "q"],
      ["z", "by (w)"],
      ["le", "+Inf"]
    ])
  })

  it("and the names of semconv are as Prometheus 3.15 showed them", () => {
    const names = PrometheusNames.instruments.flatMap(PrometheusNames.metrics)
    assert.includeMembers(names, [
      "gen_ai_execute_tool_duration_seconds_bucket",
      "toolspan_tool_calls_total",
      "toolspan_tool_active",
      "toolspan_tool_streak_bucket",
      "toolspan_approval_requests_total",
      "toolspan_approval_decisions_total",
      "toolspan_approval_wait_seconds_bucket",
      "toolspan_approval_pending",
      "toolspan_telemetry_dropped_total"
    ])
  })
})

const hours = (...durations: ReadonlyArray<string>) =>
  `${durations.reduce((sum, duration) => sum + RuleFiles.millis(duration), 0) / 3_600_000}h`

describe("objectives.rules.yml", () => {
  const shipped = ruleFiles.find(({ file }) => file === "objectives.rules.yml")
  const text = shipped?.text ?? ""
  const limits = Objectives.thresholds(rules)
  const exemptable = new Set(
    rules.flatMap(({ alert, expr }) =>
      alert === "SettingsInvalid"
        ? []
        : PromQl.names(expr).values.flatMap(([label, value]) => (label === "exempt_from" ? [value] : []))
    )
  )
  const refusals = (changed: string) =>
    Objectives.refusals(RuleFiles.ruleFile("objectives.rules.yml", changed), limits, exemptable)
  const withLine = (objective: string, labels: string) =>
    `${text}\n      - record: toolspan:objective:ratio\n        expr: ${objective}\n        labels: ${labels}\n`

  it("is the one place of Jaeger's address", () => {
    const addresses = ruleFiles.flatMap(({ file, text }) =>
      [...text.matchAll(/https?:\/\/[^\s"]+/g)].map(([address]) => `${file}: ${address}`)
    )
    assert.deepStrictEqual(addresses, ["objectives.rules.yml: http://localhost:16686"])
  })

  it("can be met and missed, as shipped and with its examples", () => {
    assert.deepStrictEqual(refusals(text), [])
    const examples = withExamples(text)
    assert.strictEqual(RuleFiles.ruleFile("", examples).groups[0]?.rules.length, 6)
    assert.deepStrictEqual(refusals(examples), [])
  })

  it("knows every comparison with an objective", () => {
    const comparisons = rules.flatMap(({ expr }) => [...expr.matchAll(/1 - toolspan:tool_objective:ratio/g)])
    assert.strictEqual(limits.length, comparisons.length)
    assert.deepStrictEqual([...new Set(limits.map(({ factor }) => factor))].toSorted(), [1, 14.4, 2, 6])
    for (const { cap } of limits) assert.strictEqual(cap, 0.9)
  })

  it("refuses an objective that nothing can miss, or nothing can meet", () => {
    for (const expr of ["vector(1)", "vector(0.3)", "vector(0)", "vector(95)", "0.9", "vector(99%)"]) {
      assert.lengthOf(refusals(withLine(expr, "{ gen_ai_tool_name: pay }")).slice(0, 1), 1, expr)
    }
    for (const expr of ["vector(0.5)", "vector(0.9)", "vector(0.999)"]) {
      assert.deepStrictEqual(refusals(withLine(expr, "{ gen_ai_tool_name: pay }")), [], expr)
    }
  })

  it("refuses a threshold beyond all calls: 14.4 times a tenth, if nothing held it down", () => {
    const free = Objectives.thresholds([
      { expr: "toolspan:tool_failures:ratio1h > 14.4 * (1 - toolspan:tool_objective:ratio)" }
    ])
    const file = RuleFiles.ruleFile("", withLine("vector(0.9)", "{ gen_ai_tool_name: pay }"))
    assert.deepStrictEqual(Objectives.refusals(file, free, exemptable), [
      "with vector(0.9) for pay, 14.4 times what it allows is 1.44 of all calls: that alert can never fire"
    ])
  })

  it("refuses two objectives for the same, none for all, and an exception from what has none", () => {
    assert.deepStrictEqual(refusals(withLine("vector(0.9)", "{}")), [
      "toolspan:objective:ratio for all tools is there twice"
    ])
    assert.deepStrictEqual(
      refusals(text.replace("record: toolspan:objective:ratio", "record: toolspan:objective:other")),
      ["there is no objective for all tools"]
    )
    assert.deepStrictEqual(refusals(withExamples(text).replace("ToolFirstFailure", "ToolFristFailure")), [
      "run_tests is excepted from ToolFristFailure, which has no exceptions"
    ])
  })

  it("has exceptions from alerts that ask for them by their own name, and SettingsInvalid knows these", () => {
    for (const { alert, expr } of alerts.filter(({ alert }) => alert !== "SettingsInvalid")) {
      for (const [label, value] of PromQl.names(expr).values) {
        if (label === "exempt_from") assert.strictEqual(value, alert)
      }
    }
    const settings = alerts.find(({ alert }) => alert === "SettingsInvalid")
    const known = PromQl.names(settings?.expr ?? "").values.filter(([label]) => label === "exempt_from")
    assert.deepStrictEqual(
      known.map(([, name]) => name),
      [...exemptable].toSorted()
    )
    assert.isAbove(exemptable.size, 5)
  })
})

/** What stands in comments as an example, in force. */
const withExamples = (text: string) => text.replaceAll(/^( +)# (- record:| {2}expr:| {2}labels:)/gm, "$1$2")
