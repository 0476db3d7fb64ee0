/**
 * Which metrics and labels an expression of PromQL names. No parser: enough of the lexis to tell names apart, for expressions that
 * Prometheus accepts.
 */

export interface Names {
  readonly metrics: ReadonlySet<string>
  readonly labels: ReadonlySet<string>
  /** Values that a label is compared with, the alternatives of a regular expression one by one. */
  readonly values: ReadonlyArray<readonly [label: string, value: string]>
}

export const names = (expression: string): Names => {
  const metrics = new Set<string>()
  const labels = new Set<string>()
  const values: Array<readonly [string, string]> = []
  const tokens = [...expression.replace(/#.*$/gm, "").matchAll(TOKEN)].map(([token]) => token)
  let braces = 0
  let listed = false
  tokens.forEach((token, index) => {
    const next = tokens[index + 1] ?? ""
    if (token === "{") braces++
    if (token === "}") braces--
    if (token === ")") listed = false
    if (!/^[a-zA-Z_:]/.test(token)) return
    if (LABEL_LISTS.has(token)) {
      // `group_left` may stand without a list.
      listed = next === "("
    } else if (braces > 0) {
      labels.add(token)
      const text = tokens[index + 2] ?? ""
      const alternatives = next.includes("~") ? unquoted(text).split("|") : [unquoted(text)]
      values.push(...alternatives.map((value) => [token, value] as const))
    } else if (listed) {
      labels.add(token)
    } else if (next !== "(" && !KEYWORDS.has(token) && !LABEL_LISTS.has(next)) {
      metrics.add(token)
    }
  })
  return { metrics, labels, values }
}

const TOKEN = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[a-zA-Z_:][\w:]*|\d[\w.:]*|[=!]~|[=!<>]=|\S/g
const LABEL_LISTS = new Set(["by", "without", "on", "ignoring", "group_left", "group_right"])
const KEYWORDS = new Set(["and", "or", "unless", "offset", "bool", "atan2", "inf", "nan", "start", "end"])

const unquoted = (text: string): string => text.slice(1, -1)
