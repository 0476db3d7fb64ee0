import { spawn } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as MessagesServer from "./support/MessagesServer.ts"
import * as OtlpServer from "./support/OtlpServer.ts"
import * as Ports from "./support/Ports.ts"
import * as Postgres from "./support/Postgres.ts"
import * as Program from "./support/Program.ts"

/** What each example prints: on stdout, and on stderr without times and ids. */
const expected: Readonly<Record<string, { readonly stdout: string; readonly tree?: ReadonlyArray<string> }>> =
  {
    "wrap-a-toolkit.ts": {
      stdout: "",
      tree: [
        "✓ LanguageModel.generateText",
        '├─ ✓ get_weather call_1 {"city":"Lisbon"}',
        '└─ ✗ book_table call_2 {"place":"Alfama","card":"[REDACTED]"}',
        "! FullyBooked: The tool failed"
      ]
    },
    "approve.ts": {
      stdout: "Grace has her money.\n",
      tree: [
        "├─ ✓ Chat.generateText",
        "(approved by ada@example.com)",
        '└─ ✓ transfer call_1 {"to":"Grace","amount":20}'
      ]
    },
    "deny.ts": {
      stdout: [
        "All is left as it was. { type: 'execution-denied', reason: 'not on a Friday' }",
        "toolspan.approval.decisions {",
        "  'gen_ai.tool.name': 'delete_all',",
        "  'toolspan.approval.decision': 'denied',",
        "  unit: '{approval}'",
        "}",
        ""
      ].join("\n"),
      tree: ["⊘ approval delete_all (denied by ada@example.com"]
    },
    "agent.ts": { stdout: "Finished\n" },
    "own-opentelemetry.ts": { stdout: 'execute_tool refund {"order":"A-17","apiKey":"[REDACTED]"}\n' },
    "test-your-telemetry.ts": { stdout: "The trace is as expected.\n" }
  }

/** Run twice. */
const twoProcesses = "approve-in-another-process.ts"
/** Run in turn, on one file. */
const durable = ["durable-agent.ts", "decide-for-an-agent.ts"] as const
/** Run on a server that plays Anthropic's. */
const anthropic = "anthropic-agent.ts"
/** Run three times at once. */
const workers = "workers-on-postgres.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(path.join(tmpdir(), "toolspan-examples-"))),
  (directory) => Effect.sync(() => rmSync(directory, { recursive: true }))
)

describe("examples", () => {
  const files = readdirSync(`${Program.root}examples`)

  it("are all listed here, and short", () => {
    assert.deepStrictEqual(
      files.sort(),
      [...Object.keys(expected), twoProcesses, ...durable, anthropic, workers].sort()
    )
    for (const file of files) {
      assert.isBelow(readFileSync(`${Program.root}examples/${file}`, "utf8").split("\n").length, 60)
    }
  })

  it("agent.ts is what docs/runtime.md shows", () => {
    const read = (file: string) => readFileSync(`${Program.root}${file}`, "utf8")
    const [, shown] = read("docs/runtime.md").split("```")
    assert.strictEqual(
      shown?.slice("ts\n".length),
      read("examples/agent.ts").replace(/^\/\*\*[\s\S]*?\*\/\n/, "")
    )
  })

  for (const [file, { stdout, tree }] of Object.entries(expected)) {
    it.effect(file, () =>
      Effect.gen(function* () {
        const ended = yield* Program.run(`examples/${file}`)
        assert.deepStrictEqual([ended.code, ended.stdout], [0, stdout])
        if (tree === undefined) assert.strictEqual(ended.stderr, "")
        else for (const row of tree) assert.include(ended.stderr, row)
      })
    )
  }

  it.effect(`${durable.join(" and ")}: what one process begins, and another approves, a third finishes`, () =>
    Effect.gen(function* () {
      const directory = yield* folder
      const run = (example: (typeof durable)[number]) =>
        Effect.map(
          Program.run(`examples/${example}`, { args: [path.join(directory, "runs.db")] }),
          ({ code, stderr, stdout }) => {
            assert.deepStrictEqual([code, stderr], [0, ""])
            return stdout
              .replaceAll(/^\[.*?\] /gm, "")
              .trimEnd()
              .split("\n")
          }
        )
      const [agent, decide] = durable
      const call = ["ToolCallStarted", "ToolCallFinished"]
      assert.deepStrictEqual(yield* run(agent), [
        ...["TurnFinished", ...call],
        ...["TurnFinished", "ApprovalAsked", "Waiting"]
      ])
      assert.deepStrictEqual(yield* run(decide), [
        'clerk in ada: pay call_2 {"invoice":42,"amount":7}',
        "approved by ada"
      ])
      const lines = yield* run(agent)
      const isLog = (line: string) => line.startsWith("INFO")
      assert.deepStrictEqual(
        lines.filter((line) => !isLog(line)),
        ["ApprovalDecided", ...call, "TextDelta", "TurnFinished", "Finished"]
      )
      assert.match(lines.filter(isLog).join("\n"), /^INFO \(#\d+\): 7 left the account$/)
      assert.deepStrictEqual(yield* run(agent), ["Finished"])
    }).pipe(Effect.scoped)
  )

  it.effect(
    `${anthropic}: notes by itself, edits a file when that is allowed, and calls tools by their names on the wire`,
    () =>
      Effect.gen(function* () {
        const directory = yield* folder
        const { message, text, toolUse } = MessagesServer
        const server = yield* MessagesServer.start(
          [
            [
              toolUse("toolu_1", "memory", { command: "view", path: "/memories" }),
              toolUse("toolu_2", "memory", { command: "create", path: "/memories/empty.md", file_text: "" }),
              toolUse("toolu_3", "str_replace_based_edit_tool", {
                command: "create",
                path: "/files/plan.md",
                file_text: "Rest.\n"
              })
            ],
            [
              toolUse("toolu_4", "str_replace_based_edit_tool", {
                command: "view",
                path: "/files/../notes/empty.md"
              }),
              toolUse("toolu_5", "memory", { command: "create", path: "/memories/lost.md" })
            ],
            [text("Planned.")]
          ].map((content) => ({ json: message(content) }))
        )
        const { code, stderr, stdout } = yield* Program.run(`examples/${anthropic}`, {
          args: [directory, "Plan the day"],
          environment: { ANTHROPIC_API_KEY: "sk-ant-test", ANTHROPIC_BASE_URL: server.url }
        })
        assert.deepStrictEqual(
          [code, stdout.split("\n")],
          [
            0,
            ['Allowed: {"command":"create","path":"/files/plan.md","file_text":"Rest.\\n"}', "Planned.", ""]
          ],
          stderr
        )
        assert.strictEqual(readFileSync(path.join(directory, "notes/empty.md"), "utf8"), "")
        assert.strictEqual(readFileSync(path.join(directory, "files/plan.md"), "utf8"), "Rest.\n")
        assert.isFalse(existsSync(path.join(directory, "notes/lost.md")))
        const results = server.requests
          .slice(1)
          .map(({ body }) => JSON.stringify(body.messages.at(-1).content))
        assert.include(results[0], "up to 2 levels deep in /memories")
        assert.include(results[0], "File created successfully at: /files/plan.md")
        assert.include(results[1], "holds ..")
        assert.include(results[1], "ToolParameterValidationError")
        for (const row of [
          "approval AnthropicTextEditor toolu_3 (approved by ada)",
          "✓ AnthropicTextEditor toolu_3",
          "✓ AnthropicMemory toolu_2",
          "✓ create file",
          "✗ AnthropicTextEditor toolu_4"
        ]) {
          assert.include(stderr, row)
        }
      }).pipe(Effect.scoped)
  )

  it.live(`${workers}: each of three hears how its run ended, whoever worked on it`, () =>
    Effect.gen(function* () {
      const { url } = yield* Postgres.start
      const started = yield* Effect.forEach(["a", "b", "c"], (run) =>
        Effect.gen(function* () {
          const port = String(yield* Ports.free)
          const child = yield* Effect.acquireRelease(
            Effect.sync(() =>
              spawn(
                process.execPath,
                ["--conditions=toolspan-source", `${Program.root}examples/${workers}`, url, port, run],
                { stdio: ["ignore", "pipe", "inherit"] }
              )
            ),
            (child) =>
              Effect.callback<void>((resume) => {
                child.once("exit", () => resume(Effect.void))
                child.kill("SIGTERM")
              })
          )
          return { port, child }
        })
      )
      const ports = started.map(({ port }) => port)
      const answers = yield* Effect.forEach(
        started,
        ({ child }) =>
          Effect.callback<string>((resume) => {
            let output = ""
            child.stdout.on("data", (chunk) => {
              output += chunk
              const [, port] = /^Three, says the one on (\d+)\.$/m.exec(output) ?? []
              if (port !== undefined) resume(Effect.succeed(port))
            })
          }),
        { concurrency: "unbounded" }
      )
      assert.lengthOf(answers, 3)
      for (const port of answers) assert.include(ports, port)
    }).pipe(Effect.scoped)
  )

  it.effect(`${twoProcesses}: two processes, one trace`, () =>
    Effect.gen(function* () {
      const server = yield* OtlpServer.make
      const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: server.url }
      const asked = yield* Program.run(`examples/${twoProcesses}`, { environment })
      const file = asked.stdout.trim()
      const approved = yield* Program.run(`examples/${twoProcesses}`, { environment, args: [file] })
      rmSync(file)
      assert.deepStrictEqual([asked.code, approved.code, approved.stdout], [0, 0, "Deployed.\n"])
      const [asking, ...later] = server.spans()
      assert.deepStrictEqual(
        later
          .map(({ attributes, links, name, parentSpanId, traceId }) => [
            name,
            traceId === asking?.traceId,
            parentSpanId === asking?.spanId,
            attributes["gen_ai.tool.call.id"],
            links.length
          ])
          .sort(),
        [
          // The turn that runs the call is of a request of its own: hence the link to it.
          ["LanguageModel.generateText", false, false, undefined, 0],
          ["execute_tool deploy", true, true, "call_1", 1],
          ["tool_approval deploy", true, true, "call_1", 0]
        ]
      )
    })
  )
})
