/**
 * The rules of `stack/prometheus/rules/` and their tests beside this file, as data.
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { fileURLToPath } from "node:url"
import * as Yaml from "yaml"

export interface Rule {
  readonly record?: string
  readonly alert?: string
  readonly expr: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}

export interface Alert extends Rule {
  readonly alert: string
}

export interface Group {
  readonly name: string
  readonly interval?: string
  readonly rules: ReadonlyArray<Rule>
}

export interface RuleFile {
  /** The name, without a folder. */
  readonly file: string
  readonly text: string
  readonly groups: ReadonlyArray<Group>
}

interface AlertTest {
  readonly alertname: string
  readonly eval_time: string
  readonly exp_alerts?: ReadonlyArray<object>
}

export interface TestFile {
  readonly file: string
  readonly rule_files: ReadonlyArray<string>
  readonly group_eval_order?: ReadonlyArray<string>
  readonly tests: ReadonlyArray<{
    readonly name?: string
    readonly alert_rule_test?: ReadonlyArray<AlertTest>
  }>
}

/** Folder of the tests. */
export const testFolder = fileURLToPath(new URL(".", import.meta.url))

/** Folder of the rules. */
export const ruleFolder = Path.join(testFolder, "../../../stack/prometheus/rules")

// The formats are Prometheus' own: promtool refuses what is not as stated here.
const parse = (text: string) => Yaml.parse(text) as Omit<RuleFile, "file" | "text"> & Omit<TestFile, "file">

const named = (folder: string, suffix: string) =>
  Fs.readdirSync(folder)
    .filter((name) => name.endsWith(suffix))
    .sort()

export const ruleFile = (file: string, text: string): RuleFile => ({
  file,
  text,
  groups: parse(text).groups ?? []
})

export const ruleFiles: ReadonlyArray<RuleFile> = named(ruleFolder, ".rules.yml").map((file) =>
  ruleFile(file, Fs.readFileSync(Path.join(ruleFolder, file), "utf8"))
)

export const rules: ReadonlyArray<Rule> = ruleFiles.flatMap(({ groups }) =>
  groups.flatMap((group) => group.rules)
)

export const alerts: ReadonlyArray<Alert> = rules.flatMap((rule) =>
  rule.alert === undefined ? [] : [{ ...rule, alert: rule.alert }]
)

export const testFiles: ReadonlyArray<TestFile> = named(testFolder, ".test.yml").map((file) => ({
  file,
  ...parse(Fs.readFileSync(Path.join(testFolder, file), "utf8"))
}))

/** Milliseconds of a duration as Prometheus writes them: `1d2h`, `45s`. */
export const millis = (duration: string): number =>
  [...duration.matchAll(/(\d+)(ms|[smhdwy])/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * (unitMillis[unit ?? ""] ?? Number.NaN),
    0
  )

const unitMillis: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
  y: 31_536_000_000
}
