import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
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
      const { code, stderr, stdout } = yield* demo(directory)
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
        '✗ read_file call_6 (invalid arguments) {"file":"LICENSE"}',
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

  it.effect("works in an empty directory, and takes --yes", () =>
    Effect.gen(function* () {
      const { code, stdout } = yield* demo(workspace({}), {}, ["--yes"])
      assert.strictEqual(code, 0)
      assert.include(stdout, "The report is in")
    })
  )

  it.effect("exports where the environment says, and tells how to open the trace", () =>
    Effect.gen(function* () {
      const server = yield* OtlpServer.make
      const { code, stderr, stdout } = yield* demo(workspace({ "a.txt": "a" }), {
        OTEL_EXPORTER_OTLP_ENDPOINT: server.url
      })
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

  it.effect("refuses what it does not know", () =>
    Effect.gen(function* () {
      const { code, stderr, stdout } = yield* demo(workspace({}), {}, ["--no-such-flag"])
      assert.notStrictEqual(code, 0)
      assert.include(stdout + stderr, "no-such-flag")
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
