/**
 * The demo agent in the shipped stack: its tool chain in Jaeger, with the approval that a second process gives.
 */
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Program from "../support/Program.ts"
import * as Api from "./Api.ts"
import * as Programs from "./Programs.ts"
import * as Stack from "./Stack.ts"

const reason = Programs.skipReason(...Programs.binaries)

/** What is asserted of a span, from Jaeger's JSON. */
interface Shown {
  readonly name: string
  readonly parent: string | undefined
  /** Spans that it links to, in this trace. */
  readonly links: ReadonlyArray<string>
  readonly callId: string | undefined
  readonly outcome: string | undefined
  readonly error: boolean
}

const shown = (trace: Api.Json): ReadonlyArray<Shown> => {
  const names = new Map<string, string>()
  const turns = new Map<string, number>()
  const spans: ReadonlyArray<Api.Json> = [...trace.spans].sort((a, b) => a.startTime - b.startTime)
  for (const { operationName, spanID } of spans) {
    // Turns have all the same name: they are numbered.
    const count = (turns.get(operationName) ?? 0) + 1
    turns.set(operationName, count)
    names.set(spanID, operationName.startsWith("LanguageModel") ? `turn ${count}` : operationName)
  }
  return spans.map(({ references, spanID, tags }) => {
    const all = Object.fromEntries(tags.map(({ key, value }: Api.Json) => [key, value]))
    const [parent, ...links]: ReadonlyArray<string> = references.map(({ spanID }: Api.Json) =>
      String(names.get(spanID))
    )
    return {
      name: String(names.get(spanID)),
      parent,
      links,
      callId: all["gen_ai.tool.call.id"],
      outcome: all["toolspan.tool.outcome"] ?? all["toolspan.approval.decision"],
      error: all["error"] === true
    }
  })
}

const span = (name: string, parent: string | undefined, rest: Partial<Shown> = {}): Shown => ({
  name,
  parent,
  links: [],
  callId: undefined,
  outcome: undefined,
  error: false,
  ...rest
})

const root = "toolspan demo"
const agent = "invoke_agent workspace-auditor"
const call = (tool: string, turn: string, callId: string, outcome = "success"): Shown =>
  span(`execute_tool ${tool}`, turn, { callId, outcome, error: outcome !== "success" })

describe.skipIf(reason !== undefined)(`the demo in Jaeger${reason ? ` (${reason})` : ""}`, () => {
  it.live("is one trace, with the exact chain of both processes", () =>
    Effect.gen(function* () {
      const stack = yield* Stack.make()
      const directory = mkdtempSync(join(tmpdir(), "toolspan-test-"))
      writeFileSync(join(directory, "a.txt"), "hello")
      const demo = (...args: ReadonlyArray<string>) =>
        Program.run("src/cli/main.ts", {
          args: ["demo", ...args],
          directory,
          environment: { OTEL_EXPORTER_OTLP_ENDPOINT: stack.otlpHttp }
        })
      const asked = yield* demo("--later", "runs.db")
      const traceId = /as ([0-9a-f]{32})\./.exec(asked.stdout)?.[1] ?? ""
      const spansOf = (count: number) =>
        Api.until(
          Effect.map(Api.get(`${stack.jaeger}/api/traces/${traceId}`), (answer) =>
            answer?.data?.[0]?.spans.length === count ? answer.data[0] : undefined
          ),
          30
        )

      const first = [
        span(root, undefined),
        span(agent, root),
        span("turn 1", agent),
        call("list_files", "turn 1", "call_1"),
        call("search_text", "turn 1", "call_2"),
        span("turn 2", agent),
        call("read_file", "turn 2", "call_4"),
        call("read_file", "turn 2", "call_5", "failure"),
        call("read_file", "turn 2", "call_6", "invalid_arguments"),
        span("turn 3", agent)
      ]
      // It waits, and is there to be seen.
      const waiting = yield* spansOf(first.length)
      assert.deepStrictEqual(byName(shown(waiting)), byName(first))
      const events = waiting.spans.flatMap(({ logs }: Api.Json) =>
        logs.flatMap(({ fields }: Api.Json) => fields.map(({ value }: Api.Json) => value))
      )
      assert.include(events, "toolspan.approval.requested")

      const resumed = yield* demo("--resume", "runs.db", "--yes")
      assert.strictEqual(resumed.code, 0)
      const trace = yield* spansOf(first.length + 4)
      assert.deepStrictEqual(
        byName(shown(trace)),
        byName([
          ...first,
          span("tool_approval write_report", "turn 3", { callId: "call_7", outcome: "approved" }),
          // Beside the first one, and linked to it.
          span(agent, root, { links: [agent] }),
          span("turn 4", agent),
          // Linked to where it ran.
          { ...call("write_report", "turn 3", "call_7"), links: [agent] }
        ])
      )

      const found = yield* Api.get(
        `${stack.jaeger}/api/traces?service=toolspan-demo&tags=${encodeURIComponent('{"gen_ai.tool.call.id":"call_7"}')}`
      )
      assert.strictEqual(found.data[0].traceID, traceId)
      // As text: what the README of the stack shows.
      process.stderr.write(`${picture(trace)}\n`)
    }).pipe(Effect.scoped)
  )
})

const byName = (spans: ReadonlyArray<Shown>): ReadonlyArray<Shown> =>
  spans.toSorted((a, b) => keyOf(a).localeCompare(keyOf(b)))

const keyOf = ({ callId, links, name }: Shown): string => `${name} ${callId} ${links.length}`

/** The trace as Jaeger's API answers it, drawn as text. */
const picture = (trace: Api.Json): string => {
  const lines: Array<string> = []
  const draw = (parent: string | undefined, depth: number): void => {
    const below = trace.spans
      .filter(({ references }: Api.Json) => references[0]?.spanID === parent)
      .sort((a: Api.Json, b: Api.Json) => a.startTime - b.startTime)
    for (const { duration, operationName, spanID, tags } of below) {
      const error = tags.some(({ key, value }: Api.Json) => key === "error" && value === true)
      lines.push(
        `${"  ".repeat(depth)}${operationName}${error ? " ✗" : ""}  ${(duration / 1000).toFixed(1)} ms`
      )
      draw(spanID, depth + 1)
    }
  }
  draw(undefined, 0)
  return lines.join("\n")
}
