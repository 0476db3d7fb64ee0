/**
 * What is wrong with the settings in `objectives.rules.yml`, before Prometheus sees them.
 */
import type * as RuleFiles from "./RuleFiles.ts"

const OBJECTIVE = "toolspan:objective:ratio"
const EXEMPT = "toolspan:exempt:info"

/** A failure ratio that raises an alert when it is exceeded: `factor` times what the objective allows, at most `cap`. */
export interface Threshold {
  readonly factor: number
  readonly cap: number
}

/** The thresholds in expressions: a line of an expression has one at most. */
export const thresholds = (rules: ReadonlyArray<RuleFiles.Rule>): ReadonlyArray<Threshold> =>
  rules
    .flatMap(({ expr }) => String(expr).split("\n"))
    .filter((line) => line.includes("1 - toolspan:tool_objective:ratio"))
    .map((line) => ({
      factor: Number(/([\d.]+) \* \(1 - /.exec(line)?.[1] ?? 1),
      cap: line.includes("clamp_max(") ? Number(/, ([\d.]+)\)$/.exec(line)?.[1]) : Number.POSITIVE_INFINITY
    }))

/** Why these objectives are refused, one sentence each. */
export const refusals = (
  { groups }: RuleFiles.RuleFile,
  limits: ReadonlyArray<Threshold>,
  exemptable: ReadonlySet<string>
): ReadonlyArray<string> => {
  const rules = groups.flatMap((group) => group.rules)
  const seen = new Set<string>()
  const wrong: Array<string> = []
  for (const { expr, labels = {}, record } of rules) {
    const { exempt_from = "", gen_ai_tool_name = "", service_name = "" } = labels
    const subject = [gen_ai_tool_name, service_name].filter(Boolean).join(" of ") || "all tools"
    const key = JSON.stringify([record, exempt_from, gen_ai_tool_name, service_name])
    if (seen.has(key)) wrong.push(`${record} for ${subject} is there twice`)
    seen.add(key)
    if (record === OBJECTIVE) {
      // What YAML reads as a number is one here.
      const objective = Number(/^vector\(([\d.]+)\)$/.exec(String(expr).trim())?.[1])
      if (!(objective >= 0.5 && objective < 1)) {
        wrong.push(`the objective for ${subject}, ${expr}, is not vector(…) of 0.5 to below 1`)
      }
      for (const { cap, factor } of limits) {
        const threshold = Math.min(factor * (1 - objective), cap)
        if (!(threshold < 1)) {
          wrong.push(
            `with ${expr} for ${subject}, ${factor} times what it allows is ${threshold.toFixed(2)} of all calls: that alert can never fire`
          )
        }
      }
    }
    if (record === EXEMPT && !exemptable.has(exempt_from)) {
      wrong.push(`${subject} is excepted from ${exempt_from}, which has no exceptions`)
    }
  }
  if (!seen.has(JSON.stringify([OBJECTIVE, "", "", ""]))) wrong.push("there is no objective for all tools")
  return wrong
}
