import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Attributes from "../../src/semconv/Attributes.ts"
import * as Instruments from "../../src/semconv/Instruments.ts"
import * as Program from "../support/Program.ts"

const read = (file: string) => readFileSync(join(Program.root, file), "utf8")
const readme = read("README.md")
const telemetry = read("docs/telemetry.md")

/** The fenced blocks of a language. */
const blocks = (markdown: string, language: string) =>
  [...markdown.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))].map(
    ([, text]) => text ?? ""
  )

/** The rows of the table with this heading, as cells. */
const table = (markdown: string, heading: string) => {
  const [, after = ""] = markdown.split(`| ${heading} |`)
  return (
    after
      .split("\n\n")[0]
      ?.split("\n")
      .slice(2)
      .map((row) =>
        row
          .split("|")
          .map((cell) => cell.trim())
          .slice(1, -1)
      ) ?? []
  )
}

const code = (cell: string | undefined) =>
  [...(cell ?? "").matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? "")

describe("README", () => {
  it.effect("shows what the demo prints", () =>
    Effect.gen(function* () {
      const { stderr } = yield* Program.run("src/cli/main.ts", { args: ["demo", "--yes"] })
      const shape = (tree: string) =>
        tree
          .trim()
          .split("\n")
          .map((row) =>
            row
              .replace(/[▏▎▍▌▋▊▉█▐▕ ]+$/, "")
              .replace(/trace [0-9a-f]+/, "trace …")
              .replace(/ {2,}[\d.]+ (µs|ms|s)( .*)?$/, "")
              .replace(/· [\d.]+ (µs|ms|s) ·/, "· … ·")
              .replace(/\(\d+ preliminary\)/, "(… preliminary)")
              .replace(/call_4 .*/, "call_4 …")
              .replace(/approved by \w+/, "approved by …")
              .replace(/link to \w+/, "link to …")
          )
      assert.deepStrictEqual(shape(blocks(readme, "text")[0] ?? ""), shape(stderr))
    })
  )

  const programs = blocks(readme, "ts")
  const folder = ".cache/readme"
  mkdirSync(join(Program.root, folder), { recursive: true })
  for (const [index, program] of programs.entries()) {
    const file = `${folder}/${index + 1}.ts`
    writeFileSync(join(Program.root, file), program)
    it.effect(`program ${index + 1} runs`, () =>
      Effect.gen(function* () {
        const ended = yield* Program.run(file, { environment: { OTEL_SDK_DISABLED: "true" } })
        assert.deepStrictEqual([ended.code, ended.stdout], [0, ""], ended.stderr)
      })
    )
  }

  it("programs have no type errors", () => {
    const config = join(Program.root, folder, "tsconfig.json")
    writeFileSync(config, JSON.stringify({ extends: "../../tsconfig.json", include: ["*.ts"] }))
    const { stdout } = spawnSync(join(Program.root, "node_modules/.bin/tsc"), ["-p", config], {
      encoding: "utf8"
    })
    assert.strictEqual(stdout, "")
  })

  it("has programs to run", () => assert.isAtLeast(programs.length, 2))
})

describe("tables", () => {
  const constants = Object.entries(Attributes).flatMap(([name, value]) =>
    name.startsWith("ATTR_") && typeof value === "string" ? [value] : []
  )
  const instruments = [
    Instruments.executeToolDuration({}),
    Instruments.toolCalls({}),
    Instruments.toolActive("t"),
    Instruments.toolStreak("t"),
    Instruments.approvalRequests("t"),
    Instruments.approvalDecisions("t", "approved"),
    Instruments.approvalWait("t", "approved"),
    Instruments.approvalPending("t"),
    Instruments.approvalStored("t"),
    Instruments.approvalOldest("t"),
    Instruments.toolReplays("t"),
    Instruments.invokeAgentDuration({}),
    Instruments.invokeAgentToolCalls({}),
    Instruments.invokeAgentInferenceCalls({}),
    Instruments.telemetryDropped("serialization")
  ]

  for (const [name, markdown] of [
    ["README", readme],
    ["docs/telemetry.md", telemetry]
  ] as const) {
    it(`metrics of ${name} are the instruments: name, kind and unit`, () => {
      const context = Context.make(Metric.MetricRegistry, new Map())
      const kindOf = (metric: (typeof instruments)[number]) => {
        if (metric.type !== "Counter") return metric.type.toLowerCase()
        const state = metric.valueUnsafe(context)
        return "incremental" in state && state.incremental ? "counter" : "up-down counter"
      }
      assert.deepStrictEqual(
        table(markdown, "metric | kind, unit | attributes").map(([metric, kind]) => [metric, kind]),
        instruments.map((metric) => [
          `\`${metric.id}\``,
          `${kindOf(metric)}, \`${metric.attributes?.["unit"]}\``
        ])
      )
    })
  }

  it("attributes of the README are all that a span can have", () => {
    const named = table(readme, "attribute |").flatMap(([cell]) => code(cell))
    const elsewhere = [
      "toolspan.dropped.reason",
      "toolspan.preliminary.result",
      "exception.type",
      "exception.message",
      "exception.stacktrace"
    ]
    assert.deepStrictEqual([...named, ...elsewhere].sort(), constants.toSorted())
  })

  it("outcomes are those of the type", () => {
    const outcomes: Readonly<Record<Attributes.ToolOutcome, true>> = {
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
    assert.deepStrictEqual(
      table(telemetry, "`toolspan.tool.outcome` | when | status | `error.type`").flatMap(([cell]) =>
        code(cell)
      ),
      Object.keys(outcomes)
    )
  })
})

/** Of the headings, as they are made from their texts. */
const anchors = (markdown: string): ReadonlyArray<string> =>
  Array.from(markdown.matchAll(/^#+ (.*)$/gm), ([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\w -]/g, "")
      .replaceAll(" ", "-")
  )

describe("links", () => {
  for (const file of [
    "README.md",
    ...readdirSync(join(Program.root, "docs")).map((name) => `docs/${name}`)
  ]) {
    it(`${file} links to what exists`, () => {
      for (const [, target = ""] of read(file).matchAll(/\]\(([^)]+)\)/g)) {
        if (target.startsWith("http")) continue
        const [path = "", anchor] = target.split("#")
        const linked = path === "" ? file : join(dirname(file), path)
        assert.isTrue(existsSync(join(Program.root, linked)), target)
        if (anchor !== undefined) assert.include(anchors(read(linked)), anchor, target)
      }
    })
  }
})
