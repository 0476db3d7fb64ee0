/**
 * The dashboards: the files are what the code makes, they name only what exists, Prometheus takes every query, the numbers are right, and
 * a real agent fills the panels and leads from them to its traces.
 */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { tmpdir } from "node:os"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { ToolOutcome } from "../../src/semconv/Attributes.ts"
import { dashboards, folder } from "../../stack/grafana/generate.ts"
import * as Program from "../support/Program.ts"
import * as Api from "./Api.ts"
import * as Folder from "./Folder.ts"
import * as Ports from "./Ports.ts"
import * as Programs from "./Programs.ts"
import * as Prometheus from "./Prometheus.ts"
import * as PrometheusNames from "./rules/PrometheusNames.ts"
import * as PromQl from "./rules/PromQl.ts"
import * as Shipped from "./Shipped.ts"
import * as Stack from "./Stack.ts"

interface Target {
  readonly expr: string
  readonly exemplar?: boolean
  readonly refId: string
}

interface Panel {
  readonly dashboard: string
  /** `{dashboard}: {title}`. */
  readonly name: string
  readonly targets: ReadonlyArray<Target>
  readonly json: Api.Json
}

const files: ReadonlyArray<readonly [file: string, json: Api.Json]> = Fs.readdirSync(folder).map((file) => [
  file,
  JSON.parse(Fs.readFileSync(Path.join(folder, file), "utf8"))
])

const panels: ReadonlyArray<Panel> = files.flatMap(([file, dashboard]) =>
  dashboard.panels
    .filter(({ type }: Api.Json) => type !== "row")
    .map((json: Api.Json) => ({
      dashboard: file,
      name: `${file}: ${json.title}`,
      targets: json.targets,
      json
    }))
)

/** An expression as Grafana sends it. */
const filled = (expression: string, tool = "read_file", service = "toolspan-demo"): string => {
  const variables: Readonly<Record<string, string>> = {
    $__interval: "10m",
    $__rate_interval: "15m",
    $__range: "1h",
    $service: service,
    $tool: tool
  }
  const text = expression.replaceAll(/\$\w+/g, (name) => variables[name] ?? name)
  assert.notInclude(text, "$")
  return text
}

const choices = files.flatMap(([file, { templating }]) =>
  templating.list.map(({ name, query }: Api.Json) => {
    const [, selector = "", label = ""] = /^label_values\((.*), (\w+)\)$/.exec(query) ?? []
    return { name: `${file}: $${name}`, selector, label }
  })
)

/** With where it stands. */
const expressions: ReadonlyArray<readonly [where: string, expression: string]> = [
  ...panels.flatMap(({ name, targets }) =>
    targets.map(({ expr, refId }): [string, string] => [`${name}, ${refId}`, filled(expr)])
  ),
  ...choices.map(({ name, selector }): [string, string] => [name, filled(selector)])
]

describe("a dashboard", () => {
  it("is what the code makes: else `npm run dashboards`", () => {
    // Without what JSON does not have.
    const made = Object.entries(dashboards).map(([file, made]) => [file, JSON.parse(JSON.stringify(made))])
    assert.deepStrictEqual(Object.fromEntries(files), Object.fromEntries(made))
  })

  it("has a title, a description, and a choice of service and tool", () => {
    for (const [file, { description, templating, title, uid }] of files) {
      assert.match(uid, /^toolspan-/, file)
      assert.isNotEmpty(title, file)
      assert.isNotEmpty(description, file)
      assert.deepStrictEqual(
        templating.list.map(({ name }: Api.Json) => name),
        ["service", "tool"],
        file
      )
    }
  })

  it("has panels that stand beside and below one another", () => {
    for (const [file, { panels }] of files) {
      const cells = panels.flatMap(({ gridPos: { h, w, x, y } }: Api.Json) => {
        assert.isAtMost(x + w, 24, file)
        return Array.from({ length: h * w }, (_, i) => `${x + (i % w)},${y + Math.floor(i / w)}`)
      })
      assert.strictEqual(new Set(cells).size, cells.length, file)
      const ids = panels.map(({ id }: Api.Json) => id)
      assert.strictEqual(new Set(ids).size, ids.length, file)
    }
  })

  it("asks the sources that are provisioned", () => {
    const sources = Shipped.read("stack/grafana/provisioning/datasources/datasources.yml")
    for (const { json, name } of panels) assert.include(sources, `uid: ${json.datasource.uid}\n`, name)
    assert.include(sources, "url: http://prometheus:9090\n")
    assert.include(sources, "url: http://jaeger:16686\n")
    // Grafana replaces what begins with one dollar when it reads the file.
    assert.include(sources, "/trace/$${__value.raw}\n")
    const mounted = /path: (\S+)/.exec(
      Shipped.read("stack/grafana/provisioning/dashboards/dashboards.yml")
    )?.[1]
    assert.include(Shipped.read("docker-compose.yml"), `./stack/grafana/dashboards:${mounted}:ro`)
  })

  it("links to dashboards that there are", () => {
    const known = files.map(([, { uid }]) => uid)
    for (const [file, dashboard] of files) {
      const links = [...JSON.stringify(dashboard).matchAll(/"\/d\/([\w-]+)/g)]
      assert.isNotEmpty(links, file)
      for (const [, uid] of links) assert.include(known, uid, file)
    }
  })
})

describe("a panel", () => {
  it("has a title of its own, and a description in sentences", () => {
    assert.isAbove(panels.length, 30)
    const names = panels.map(({ name }) => name)
    assert.deepStrictEqual(names, [...new Set(names)])
    for (const { json, name } of panels) {
      assert.isNotEmpty(json.title, name)
      assert.match(json.description ?? "", /\.$/, name)
    }
  })

  it("has units for its numbers", () => {
    const known = ["short", "s", "percentunit"]
    for (const { json, name, targets } of panels) {
      assert.include(known, json.fieldConfig.defaults.unit, name)
      if (json.type === "heatmap") assert.include(known, json.options.yAxis.unit, name)
      if (json.type !== "table") continue
      const overrides = Object.fromEntries(
        json.fieldConfig.overrides.map(({ matcher, properties }: Api.Json) => [matcher.options, properties])
      )
      for (const { refId } of targets) {
        const unit = overrides[`Value #${refId}`]?.find(({ id }: Api.Json) => id === "unit")?.value
        assert.include(known, unit, `${name}, ${refId}`)
      }
    }
  })

  it("shows seconds exactly where its metric has them", () => {
    for (const { json, name, targets } of panels) {
      if (json.type === "table") continue
      const inSeconds = targets.every(({ expr }) => /_seconds(?!_count)/.test(expr))
      const unit = json.type === "heatmap" ? json.options.yAxis.unit : json.fieldConfig.defaults.unit
      assert.strictEqual(unit === "s", inSeconds, name)
    }
  })

  it("takes points with traces from the metrics that have them, which are those of spans", () => {
    const withTraces = panels.filter(({ targets }) => targets.some(({ exemplar }) => exemplar))
    assert.lengthOf(withTraces, 2)
    for (const { name, targets } of panels) {
      for (const { exemplar = false, expr } of targets) {
        assert.strictEqual(exemplar, expr.includes("traces_span_metrics_"), name)
      }
    }
  })

  it("never sums a counter before it takes its rise", () => {
    for (const [where, expression] of expressions) {
      for (const [, metric = ""] of expression.matchAll(/(\w+_(?:total|bucket|count))\{[^}]*\}(?!\[)/g)) {
        // The choices list labels, and count nothing.
        assert.include(where, "$", `${metric} in ${where}`)
      }
    }
  })
})

describe("an expression of a dashboard", () => {
  const used = expressions.map(([where, expression]) => ({ where, ...PromQl.names(expression) }))

  it("names only metrics of semconv, and the span metrics of the collector", () => {
    const foreign = ["traces_span_metrics_duration_seconds_bucket"]
    const known = [...PrometheusNames.instruments.flatMap(PrometheusNames.metrics), ...foreign]
    for (const { metrics, where } of used) {
      assert.isNotEmpty([...metrics], where)
      for (const metric of metrics) assert.include(known, metric, where)
    }
    // And none of what semconv declares is missing from the dashboards.
    const shown = [...new Set(used.flatMap(({ metrics }) => [...metrics]))].join(" ")
    for (const instrument of PrometheusNames.instruments) {
      assert.isTrue(
        PrometheusNames.metrics(instrument).some((metric) => shown.includes(metric)),
        instrument.id
      )
    }
  })

  it("names only labels of semconv, of the resource, and of span metrics and histograms", () => {
    const foreign = ["service_name", "span_name", "status_code", "le"]
    const known = [...PrometheusNames.attributes.map(PrometheusNames.label), ...foreign]
    for (const { labels, where } of used) for (const label of labels) assert.include(known, label, where)
    for (const { label, name } of choices) assert.include(known, label, name)
    for (const { json, name } of panels) {
      for (const [, label] of JSON.stringify(json).matchAll(/\{\{(\w+)\}\}/g))
        assert.include(known, label, name)
    }
  })

  it("compares only with outcomes that there are, or will be with the runtime", () => {
    const outcomes: Readonly<Record<ToolOutcome | "outcome_unknown", true>> = {
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
    for (const { values, where } of used) {
      for (const [label, value] of values)
        if (label === "toolspan_tool_outcome") assert.property(outcomes, value, where)
    }
    const colored = panels.find(({ name }) => name === "tool.json: Outcomes")?.json.fieldConfig.overrides
    assert.sameMembers(
      colored.map(({ matcher }: Api.Json) => matcher.options),
      Object.keys(outcomes)
    )
  })
})

const why = (reason: string | undefined) => (reason === undefined ? "" : ` (${reason})`)

const withoutPrometheus = Programs.skipReason("prometheus", "docker-compose")

describe.skipIf(withoutPrometheus !== undefined)(`Prometheus${why(withoutPrometheus)}`, () => {
  it.live("takes every query of the dashboards", () =>
    Effect.gen(function* () {
      const temporary = yield* Folder.make(Path.join(tmpdir(), "toolspan-dashboards-"))
      const ports = yield* Ports.free(["prometheus", "alertmanager", "collectorMetrics", "jaegerMetrics"])
      const prometheus = yield* Prometheus.make({ folder: temporary, ports, jaeger: "http://127.0.0.1:1" })
      yield* prometheus.start
      assert.isAbove(expressions.length, 40)
      for (const [where, query] of expressions) {
        const answer = yield* Effect.promise(async () => {
          const response = await fetch(`http://127.0.0.1:${ports.prometheus}/api/v1/query`, {
            method: "POST",
            body: new URLSearchParams({ query })
          })
          return response.json() as Promise<Api.Json>
        })
        assert.strictEqual(answer.status, "success", `${where}: ${answer.error}\n${query}`)
      }
    }).pipe(Effect.scoped)
  )
})

const withoutPromtool = Programs.skipReason("promtool")

describe.skipIf(withoutPromtool !== undefined)(`the numbers${why(withoutPromtool)}`, () => {
  interface Case {
    /** Metric and labels, and values for every minute. */
    readonly series: Readonly<Record<string, string>>
    /** Of the panel, at the end of an hour. No number: nothing is shown. */
    readonly shows: Readonly<Record<string, number | undefined>>
  }

  const call = (outcome: string, process: string) =>
    `toolspan_tool_calls_total{service_name="shop", gen_ai_tool_name="pay", toolspan_tool_outcome="${outcome}", instance="${process}"}`
  const own = `service_name="shop", gen_ai_tool_name="pay"`

  const cases: Readonly<Record<string, Case>> = {
    "count the calls of each process, also of one that ends at once": {
      series: {
        [call("success", "old")]: "100x30 101+1x29",
        [call("success", "brief")]: "_x20 2x5",
        [call("failure", "brief")]: "_x20 1x5",
        [call("success", "restarted")]: "7x30 1x29"
      },
      shows: {
        // 30 of the old, 3 of the brief, and 1 after the restart, as Prometheus estimates that.
        "overview.json: Calls": 33 + 60 / 59,
        "tool.json: Calls": 33 + 60 / 59
      }
    },
    "count as failed what failed, of what ran to an end of its own": {
      series: {
        [call("success", "a")]: "0x10 9x50",
        [call("failure", "a")]: "0x10 1x50",
        [call("denied", "a")]: "0x10 10x50",
        [call("cancelled", "a")]: "0x10 10x50",
        [call("invalid_arguments", "a")]: "0x10 10x50"
      },
      shows: {
        "overview.json: Failed": 0.1,
        "tool.json: Failed": 0.1,
        "tool.json: Invalid arguments": 0.5
      }
    },
    "are zero for a tool that never failed": {
      series: { [call("success", "a")]: "0+1x60" },
      shows: {
        "overview.json: Failed": 0,
        "tool.json: Failed": 0,
        "tool.json: Invalid arguments": 0
      }
    },
    "are none where nothing was called": {
      series: {
        [call("success", "a")]: "5x60",
        [`gen_ai_execute_tool_duration_seconds_bucket{${own}, le="1"}`]: "5x60",
        [`gen_ai_execute_tool_duration_seconds_bucket{${own}, le="+Inf"}`]: "5x60"
      },
      shows: {
        "overview.json: Failed": undefined,
        "overview.json: Duration, p95": undefined,
        "tool.json: Failed": undefined,
        "tool.json: Duration, p95": undefined
      }
    },
    "add what processes wait for, and take what a store knows once": {
      series: {
        [`toolspan_approval_pending{${own}, instance="a"}`]: "1x60",
        [`toolspan_approval_pending{${own}, instance="b"}`]: "2x60",
        [`toolspan_approval_pending{service_name="shop", gen_ai_tool_name="refund", instance="a"}`]: "1x60",
        [`toolspan_approval_stored{service_name="shop", gen_ai_tool_name="refund", instance="a"}`]: "4x60",
        [`toolspan_approval_stored{service_name="shop", gen_ai_tool_name="refund", instance="b"}`]: "4x60"
      },
      shows: { "overview.json: Approvals pending": 7 }
    }
  }

  for (const [title, { series, shows }] of Object.entries(cases)) {
    it.live(title, () =>
      Effect.gen(function* () {
        const temporary = yield* Folder.make(Path.join(tmpdir(), "toolspan-dashboards-"))
        const file = Path.join(temporary, "numbers.test.yml")
        const expressionOf = (name: string) => {
          const expr = panels.find((panel) => panel.name === name)?.targets[0]?.expr ?? ""
          return filled(expr, name.startsWith("tool") ? "pay" : ".*", "shop")
        }
        // JSON is YAML.
        Fs.writeFileSync(
          file,
          JSON.stringify({
            fuzzy_compare: true,
            tests: [
              {
                interval: "1m",
                input_series: Object.entries(series).map(([series, values]) => ({ series, values })),
                promql_expr_test: Object.entries(shows).map(([name, value]) => ({
                  expr: expressionOf(name),
                  eval_time: "60m",
                  exp_samples: value === undefined ? [] : [{ labels: "{}", value }]
                }))
              }
            ]
          })
        )
        const promtool = yield* Programs.path("promtool")
        const { status, stderr, stdout } = ChildProcess.spawnSync(promtool, ["test", "rules", file], {
          encoding: "utf8"
        })
        assert.strictEqual(status, 0, `${stdout}${stderr}`)
      }).pipe(Effect.scoped)
    )
  }
})

const without = Programs.skipReason(...Programs.binaries)

describe.skipIf(without !== undefined)(`a real agent${why(without)}`, () => {
  /** Nobody's store, nothing lost, and nothing that runs on. */
  const empty = [
    "overview.json: Oldest approval",
    "overview.json: Telemetry dropped",
    "overview.json: Running now",
    "overview.json: Replays by tool",
    "overview.json: Telemetry dropped, by reason",
    "tool.json: Running now",
    "tool.json: Replays"
  ]

  it.live("fills the panels, and its points lead to traces in Jaeger", () =>
    Effect.gen(function* () {
      const stack = yield* Stack.make()
      const directory = yield* Folder.make(Path.join(tmpdir(), "toolspan-demo-"))
      Fs.writeFileSync(Path.join(directory, "a.txt"), "hello")
      for (const answer of [["--yes"], ["--no"], ["--later", "runs.db"]]) {
        yield* Program.run("src/cli/main.ts", {
          args: ["demo", ...answer],
          directory,
          environment: { OTEL_EXPORTER_OTLP_ENDPOINT: stack.otlpHttp }
        })
      }

      const ask = (expression: string) =>
        Effect.forEach([".*", "read_file", "write_report"], (tool) =>
          Api.query(stack.prometheus, filled(expression, tool))
        ).pipe(Effect.map((answers) => answers.flat().some(({ value }) => value > 0)))
      let blank: ReadonlyArray<string> = []
      yield* Api.until(
        Effect.gen(function* () {
          const shown = yield* Effect.filter(panels, ({ targets }) =>
            Effect.map(
              Effect.forEach(targets, ({ expr }) => ask(expr)),
              (full) => full.includes(true)
            )
          )
          blank = panels.filter((panel) => !shown.includes(panel)).map(({ name }) => name)
          return blank.length <= empty.length ? true : undefined
        }),
        60
      )
      assert.sameMembers([...blank], empty)

      const points = (name: string) =>
        Effect.gen(function* () {
          const expr = panels.find((panel) => panel.name === name)?.targets[0]?.expr ?? ""
          const asked = new URLSearchParams({
            query: filled(expr),
            start: String(Date.now() / 1000 - 600),
            end: String(Date.now() / 1000)
          })
          const answer = yield* Api.get(`${stack.prometheus}/api/v1/query_exemplars?${asked}`)
          const labels = answer.data.flatMap(({ exemplars }: Api.Json) =>
            exemplars.map(({ labels }: Api.Json) => labels)
          )
          assert.isNotEmpty(labels, name)
          return yield* Effect.forEach(labels, ({ span_id, trace_id }: Api.Json) =>
            Effect.map(Api.get(`${stack.jaeger}/api/traces/${trace_id}`), (found) =>
              found?.data?.[0]?.spans.find(({ spanID }: Api.Json) => spanID === span_id)
            )
          )
        })
      for (const span of yield* points("tool.json: Calls, with traces")) {
        assert.strictEqual(span?.operationName, "execute_tool read_file")
      }
      for (const span of yield* points("tool.json: Failed calls, with traces")) {
        assert.strictEqual(span?.operationName, "execute_tool read_file")
        assert.isTrue(span.tags.some(({ key, value }: Api.Json) => key === "error" && value === true))
      }
    }).pipe(Effect.scoped)
  )
})
