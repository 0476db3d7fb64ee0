/**
 * The alert rules, as promtool judges them, and their unit tests: `*.test.yml` beside this file.
 */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { tmpdir } from "node:os"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Folder from "../Folder.ts"
import * as Programs from "../Programs.ts"
import * as RuleFiles from "./RuleFiles.ts"

const promtool = (...args: ReadonlyArray<string>) =>
  Effect.flatMap(Programs.path("promtool"), (path) =>
    Effect.callback<{ readonly code: number | null; readonly output: string }>((resume) => {
      const child = ChildProcess.spawn(path, args, {
        cwd: RuleFiles.testFolder,
        stdio: ["ignore", "pipe", "pipe"]
      })
      let output = ""
      child.stdout.on("data", (chunk) => {
        output += chunk
      })
      child.stderr.on("data", (chunk) => {
        output += chunk
      })
      child.on("error", (error) => resume(Effect.succeed({ code: null, output: String(error) })))
      child.on("close", (code) => resume(Effect.succeed({ code, output })))
      return Effect.sync(() => child.kill())
    })
  )

const passes = (...args: ReadonlyArray<string>) =>
  Effect.map(promtool(...args), ({ code, output }) => assert.strictEqual(code, 0, output))

const shipped = RuleFiles.ruleFiles.map(({ file }) => Path.join(RuleFiles.ruleFolder, file))

const reason = Programs.skipReason("promtool")

describe.skipIf(reason !== undefined)(
  `rules of Prometheus${reason === undefined ? "" : ` (${reason})`}`,
  () => {
    it.live("are valid, and none is there twice", () =>
      passes("check", "rules", "--lint=all", "--lint-fatal", ...shipped)
    )

    for (const { file, tests } of RuleFiles.testFiles) {
      it.live(`${file}: ${tests.length} cases`, () => passes("test", "rules", file))
    }

    it.live("fail their tests when they are wrong", () =>
      Effect.gen(function* () {
        const folder = yield* copy(["increases.test.yml"], {
          "tools.rules.yml": (text) =>
            text.replaceAll(" or last_over_time(toolspan_tool_calls_total[1h])", "")
        })
        const { code, output } = yield* promtool(
          "test",
          "rules",
          Path.join(folder, "test/stack/rules/increases.test.yml")
        )
        assert.strictEqual(code, 1)
        assert.include(output, "toolspan:tool_calls:increase1h")
      }).pipe(Effect.scoped)
    )

    it.live("take the examples of objectives.rules.yml, as a user puts them in force", () =>
      Effect.gen(function* () {
        const folder = yield* copy([], {
          "objectives.rules.yml": (text) =>
            text.replaceAll(/^( +)# (- record:| {2}expr:| {2}labels:)/gm, "$1$2")
        })
        const file = Path.join(folder, "test/stack/rules/examples.test.yml")
        Fs.writeFileSync(file, examples)
        yield* passes(
          "check",
          "rules",
          "--lint=all",
          "--lint-fatal",
          Path.join(folder, "stack/prometheus/rules/objectives.rules.yml")
        )
        yield* passes("test", "rules", file)
      }).pipe(Effect.scoped)
    )
  }
)

/** A folder like the repository, with the rules, some of their tests, and changes. */
const copy = (tests: ReadonlyArray<string>, changes: Readonly<Record<string, (text: string) => string>>) =>
  Effect.map(Folder.make(Path.join(tmpdir(), "toolspan-rules-")), (folder) => {
    const to = {
      rules: Path.join(folder, "stack/prometheus/rules"),
      tests: Path.join(folder, "test/stack/rules")
    }
    for (const path of Object.values(to)) Fs.mkdirSync(path, { recursive: true })
    for (const { file, text } of RuleFiles.ruleFiles) {
      const changed = changes[file]?.(text) ?? text
      if (file in changes) assert.notStrictEqual(changed, text, file)
      Fs.writeFileSync(Path.join(to.rules, file), changed)
    }
    for (const file of tests)
      Fs.copyFileSync(Path.join(RuleFiles.testFolder, file), Path.join(to.tests, file))
    return folder
  })

const series = (service: string, tool: string, outcome: string, values: string) =>
  `      - series: toolspan_tool_calls_total{service_name="${service}", gen_ai_tool_name="${tool}", toolspan_tool_outcome="${outcome}"}
        values: ${values}`

const examples = `
rule_files: [../../../stack/prometheus/rules/*.rules.yml]
group_eval_order: [${RuleFiles.ruleFiles.flatMap(({ groups }) => groups.map(({ name }) => name)).join(", ")}]
tests:
  - interval: 1m
    input_series:
${series("shop", "charge_card", "success", "0x20")}
${series("shop", "fetch_page", "success", "0x20")}
${series("research-agent", "fetch_page", "success", "0x20")}
${series("shop", "run_tests", "failure", "0x5 1x15")}
    alert_rule_test:
      - { alertname: ToolFirstFailure, eval_time: 10m }
      - { alertname: SettingsInvalid, eval_time: 10m }
    promql_expr_test:
      - expr: toolspan:tool_objective:ratio
        eval_time: 10m
        exp_samples:
          - { labels: 'toolspan:tool_objective:ratio{service_name="shop", gen_ai_tool_name="charge_card"}', value: 0.999 }
          - { labels: 'toolspan:tool_objective:ratio{service_name="shop", gen_ai_tool_name="fetch_page"}', value: 0.95 }
          - { labels: 'toolspan:tool_objective:ratio{service_name="research-agent", gen_ai_tool_name="fetch_page"}', value: 0.8 }
          - { labels: 'toolspan:tool_objective:ratio{service_name="shop", gen_ai_tool_name="run_tests"}', value: 0.95 }
`
