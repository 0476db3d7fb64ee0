import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir, userInfo } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as OtlpServer from "../support/OtlpServer.ts"
import * as Program from "../support/Program.ts"

/** A directory with these files, which is no repository. */
const workspace = (files: Readonly<Record<string, string>>) => {
  const directory = mkdtempSync(join(tmpdir(), "toolspan-test-"))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text)
  return directory
}

const demo = (directory: string, environment = {}, args: ReadonlyArray<string> = []) =>
  Program.run("src/cli/main.ts", { args: ["demo", ...args], directory, environment })

describe("toolspan demo", () => {
  it.effect("traces real tools over the current directory, and leaves a report", () =>
    Effect.gen(function* () {
      const directory = workspace({
        "README.md": "# Hello\n",
        "big.txt": "sk-live-4f1c9a7be2d05836\n".repeat(9)
      })
      const { code, stderr, stdout } = yield* demo(directory, {}, ["--yes"])
      assert.strictEqual(code, 0)
      const report = readFileSync(/The report is in (\S+)\.\n/.exec(stdout)?.[1] ?? "", "utf8")
      assert.strictEqual(
        report,
        [
          "# Project report",
          "",
          "- files: 2",
          "- largest file: big.txt",
          "- latest commit: none",
          "- occurrences of the key: 9",
          ""
        ].join("\n")
      )
      for (const row of [
        "✓ invoke_agent workspace-auditor",
        '✓ list_files call_1 {"limit":200}',
        '✓ search_text call_2 {"text":"[REDACTED]"}',
        '✓ read_file call_4 {"path":"big.txt"}',
        '✗ read_file call_5 {"path":"SECURITY-AUDIT.md"}',
        "! FileError: cannot read SECURITY-AUDIT.md: NotFound",
        '✗ read_file call_6 (invalid arguments) {"file":"LIC',
        "✓ write_report call_7"
      ]) {
        assert.include(stderr, row)
      }
      assert.notInclude(stderr, "git_log")
      assert.notInclude(stdout + stderr, "4f1c9a7be2d05836")
    })
  )

  it.effect("passes over what it cannot read, and what has no end", () =>
    Effect.gen(function* () {
      const directory = workspace({ "a.txt": "a", empty: "", "binary.bin": "\u0000\u0001\ufffd" })
      symlinkSync("nowhere", join(directory, "broken"))
      symlinkSync(".", join(directory, "loop"))
      symlinkSync("/dev/zero", join(directory, "endless"))
      execFileSync("mkfifo", [join(directory, "fifo")])
      const { code, stderr } = yield* demo(directory)
      assert.strictEqual(code, 0)
      assert.include(stderr, "✓ search_text call_2")
    })
  )

  for (const [what, environment, reason] of [
    ["is missing", { PATH: "/nowhere" }, "NotFound"],
    ["fails", {}, "GitFailed"]
  ] as const) {
    it.effect(`shows a failed call where git ${what}`, () =>
      Effect.gen(function* () {
        const directory = workspace({ "a.txt": "a" })
        mkdirSync(join(directory, ".git"))
        const { code, stderr } = yield* demo(directory, environment)
        assert.strictEqual(code, 0)
        assert.include(stderr, "✗ git_log call_3")
        assert.include(stderr, `! FileError: cannot read .git: ${reason}`)
      })
    )
  }

  it.effect("works in an empty directory", () =>
    Effect.gen(function* () {
      const { code, stdout } = yield* demo(workspace({}), {}, ["--yes"])
      assert.strictEqual(code, 0)
      assert.include(stdout, "The report is in")
    })
  )

  it.effect("exports where the environment says, and tells how to open the trace", () =>
    Effect.gen(function* () {
      const server = yield* OtlpServer.make
      const { code, stderr, stdout } = yield* demo(
        workspace({ "a.txt": "a" }),
        { OTEL_EXPORTER_OTLP_ENDPOINT: server.url },
        ["--yes"]
      )
      assert.strictEqual(code, 0)
      const spans = server.spans()
      const [traceId, ...others] = new Set(spans.map((span) => span.traceId))
      assert.lengthOf(others, 0)
      assert.include(stdout, `The trace was sent to ${server.url} as ${traceId}.`)
      assert.include(stdout, `In Jaeger: http://127.0.0.1:16686/trace/${traceId}`)
      assert.include(stderr, `trace ${traceId}`)
      assert.lengthOf(
        spans.filter((span) => span.name.startsWith("execute_tool ")),
        6
      )
      assert.notInclude(
        server
          .requests()
          .map((request) => request.body.toString())
          .join(),
        "4f1c9a7be2d05836"
      )
    })
  )

  it.effect("says nothing of a trace that was not sent, and never a password", () =>
    Effect.gen(function* () {
      const server = yield* OtlpServer.make
      const off = yield* demo(workspace({}), {
        OTEL_EXPORTER_OTLP_ENDPOINT: server.url,
        OTEL_TRACES_EXPORTER: "none"
      })
      assert.notInclude(off.stdout, "The trace was sent")
      const secret = yield* demo(workspace({}), {
        OTEL_EXPORTER_OTLP_ENDPOINT: server.url.replace("//", "//me:hunter2@")
      })
      assert.include(secret.stdout, `The trace was sent to ${server.url} as`)
      assert.notInclude(secret.stdout + secret.stderr, "hunter2")
    })
  )

  for (const [args, message] of [
    [["--no-such-flag"], "no-such-flag"],
    [["--yes", "--later"], "--yes and --later exclude each other: give one of them"],
    [["runs.db"], '"runs.db" is not expected here: a file is where --later keeps a new run'],
    [["--resume", "missing.db"], "There is no file "],
    [["--resume", "a.txt"], "a.txt is no SQLite database"],
    [["--later", "a.txt"], "a.txt is no SQLite database"],
    [["--later", "missing/runs.db"], "missing/runs.db: NotFound"],
    [["--later", "."], "Could not open "]
  ] as const) {
    it.effect(`refuses ${args.join(" ")}`, () =>
      Effect.gen(function* () {
        const directory = workspace({ "a.txt": "a" })
        const { code, stderr, stdout } = yield* demo(directory, {}, args)
        assert.strictEqual(code, 1)
        assert.deepStrictEqual(readdirSync(directory), ["a.txt"])
        assert.strictEqual(readFileSync(join(directory, "a.txt"), "utf8"), "a")
        assert.include(stdout + stderr, message)
        assert.notInclude(stdout + stderr, "    at ")
      })
    )
  }

  it.effect("says which Node keeps runs in a file, and leaves none on an older one", () =>
    Effect.gen(function* () {
      const directory = workspace({})
      const older = `--import=data:text/javascript,${encodeURIComponent("process.getBuiltinModule = () => undefined")}`
      const environment = { NODE_OPTIONS: older }
      const kept = yield* demo(directory, environment, ["--later", "runs.db"])
      assert.strictEqual(kept.code, 1)
      assert.include(kept.stderr, "SqliteClient needs node:sqlite as it is in Node 22.16 and later")
      assert.deepStrictEqual(readdirSync(directory), [])
      assert.strictEqual((yield* demo(directory, environment, ["--yes"])).code, 0)
    })
  )
})

describe("the approval of toolspan demo", () => {
  const requested = "toolspan.approval.requested"

  it.effect("is denied where nobody can be asked, which is said", () =>
    Effect.gen(function* () {
      const { code, stderr, stdout } = yield* demo(workspace({}))
      assert.strictEqual(code, 0)
      assert.match(stdout, /^Denied: write_report \{"title":"Project report".*--yes allows it/m)
      assert.include(
        stdout,
        "Agent: I have not written the report: I was not allowed to (nobody could be asked"
      )
      assert.notInclude(stderr, "write_report call_7 {")
    })
  )

  it.effect("is denied by --no", () =>
    Effect.gen(function* () {
      const { code, stdout } = yield* demo(workspace({}), {}, ["--no"])
      assert.deepStrictEqual(
        [code, stdout.split("\n").at(-2)],
        [0, "Agent: I have not written the report: I was not allowed to."]
      )
    })
  )

  it.effect("is asked for at a terminal", () =>
    Effect.gen(function* () {
      const { code, output } = yield* Program.atTerminal("src/cli/main.ts", {
        args: ["demo"],
        directory: workspace({}),
        answer: ["Allow write_report", "y"]
      })
      assert.strictEqual(code, 0)
      assert.include(output, "Agent: Done. The report is in")
      assert.include(output, `approved by ${userInfo().username}`)
    })
  )

  it.effect("may be given later, in another process, and in the same trace", () =>
    Effect.gen(function* () {
      const server = yield* OtlpServer.make
      const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: server.url }
      const directory = workspace({ "a.txt": "a" })
      const asked = yield* demo(directory, environment, ["--later", "runs.db"])
      const path = join(directory, "runs.db")
      assert.strictEqual(asked.code, 0)
      assert.include(asked.stdout, `Go on with: toolspan demo --resume ${path}`)
      assert.deepStrictEqual(readdirSync(directory).sort(), ["a.txt", "runs.db"])
      // It waits, and that can be seen.
      const waiting = server.spans()
      const requests = waiting.flatMap(({ events }) => events.filter(({ name }) => name === requested))
      assert.deepStrictEqual(
        requests.map(({ attributes }) => attributes["gen_ai.tool.call.id"]),
        ["call_7"]
      )
      assert.deepStrictEqual(
        server
          .metrics()
          .filter(({ name }) => name === "toolspan.approval.pending")
          .map(({ points }) =>
            points.map(({ attributes, value }) => [attributes["gen_ai.tool.name"], value])
          ),
        [[["write_report", 1]]]
      )

      const resumed = yield* demo(directory, environment, ["--resume", path, "--yes"])
      assert.strictEqual(resumed.code, 0)
      assert.include(resumed.stdout, "Agent: Done. The report is in")
      assert.include(resumed.stderr, `trace ${waiting[0]?.traceId}`)
      const spans = server.spans()
      assert.lengthOf(new Set(spans.map(({ traceId }) => traceId)), 1)
      const named = (name: string) => spans.filter((span) => span.name === name)
      const [root] = named("toolspan demo")
      const [first, second] = named("invoke_agent workspace-auditor")
      const [approval] = named("tool_approval write_report")
      const [report] = named("execute_tool write_report")
      const turns = named("LanguageModel.generateText")
      const asking = turns.at(2)
      assert.deepStrictEqual(
        [root, first, second, approval, report].map((span) => span?.parentSpanId),
        ["", root?.spanId, root?.spanId, asking?.spanId, asking?.spanId]
      )
      assert.deepStrictEqual(
        turns.map(({ parentSpanId }) => spans.find(({ spanId }) => spanId === parentSpanId)),
        [first, first, first, second]
      )
      assert.isTrue(first?.events.some(({ name }) => name === requested))
      assert.deepStrictEqual(
        [first, second, report].map((span) =>
          span?.links.map((to) => spans.find(({ spanId }) => spanId === to.spanId))
        ),
        [[], [first], [second]]
      )
      assert.deepStrictEqual(
        [first, second].map((span) => span?.attributes["toolspan.run.state"]),
        ["waiting", "finished"]
      )
      assert.deepStrictEqual(
        [approval?.attributes["toolspan.approval.id"], approval?.attributes["toolspan.approval.decision"]],
        [report?.attributes["toolspan.approval.id"], "approved"]
      )

      // The conversation is finished: nothing runs a second time.
      const again = yield* demo(directory, environment, ["--resume", path, "--yes"])
      assert.deepStrictEqual(
        [again.code, again.stdout],
        [0, "Nothing waits in this conversation: it is finished.\n"]
      )
    })
  )

  it.effect("may be given by another command, and the run goes on with that", () =>
    Effect.gen(function* () {
      const directory = workspace({ "a.txt": "a" })
      yield* demo(directory, {}, ["--later", "runs.db"])
      const second = yield* demo(directory, {}, ["--later", "runs.db"])
      assert.strictEqual(second.code, 1)
      assert.include(second.stderr, "A run of the demo waits in runs.db: go on with --resume runs.db")
      // Still nobody decides.
      const waits = yield* demo(directory, {}, ["--resume", "runs.db", "--later"])
      assert.include(waits.stdout, "The agent waits for an answer.")

      const approvals = (...args: ReadonlyArray<string>) =>
        Program.run("src/cli/main.ts", { args: ["approvals", ...args, "--store", "runs.db"], directory })
      const listed: ReadonlyArray<{ readonly approvalId: string }> = JSON.parse(
        (yield* approvals("list", "--json")).stdout
      )
      yield* approvals("deny", listed[0]?.approvalId ?? "", "--reason", "not today")
      const { code, stderr, stdout } = yield* demo(directory, {}, ["--resume", "runs.db"])
      assert.deepStrictEqual(
        [code, stdout],
        [0, "Agent: I have not written the report: I was not allowed to (not today).\n"]
      )
      assert.include(stderr, `denied by ${userInfo().username}: not today`)
    })
  )
})

describe("toolspan", () => {
  it.effect("says what to install where the platform is missing", () =>
    Effect.gen(function* () {
      const hooks = `import { registerHooks } from "node:module"
        registerHooks({ resolve(name, context, next) {
          if (name.startsWith("@effect/platform-node")) throw new Error("Cannot find package '@effect/platform-node'")
          return next(name, context)
        } })`
      const { code, stderr } = yield* Program.run("src/cli/main.ts", {
        args: ["demo"],
        environment: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hooks)}` }
      })
      assert.deepStrictEqual(
        [code, stderr],
        [
          1,
          "toolspan: the command needs @effect/platform-node; install it with: npm install @effect/platform-node\n"
        ]
      )
    })
  )
})
