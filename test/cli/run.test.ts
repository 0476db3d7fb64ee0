/** `toolspan run`, in processes and at terminals of its own, with the agent of `programs/clerk.ts`. */
import { spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir, userInfo } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as MessagesServer from "../support/MessagesServer.ts"
import * as OtlpServer from "../support/OtlpServer.ts"
import * as Program from "../support/Program.ts"
import * as Typing from "./Typing.ts"

const clerk = `${Program.root}test/cli/programs/clerk.ts`

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "toolspan-test-"))),
  (directory) => Effect.sync(() => rmSync(directory, { recursive: true }))
)

const toolspan = (directory: string, args: ReadonlyArray<string>, environment = {}) =>
  Program.run("src/cli/main.ts", { args, directory, environment })

const done = (directory: string) => {
  const file = join(directory, "done.txt")
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : []
}

/** Runs it with this standard input. */
const piped = (cwd: string, input: string) =>
  Effect.sync(() =>
    spawnSync(
      process.execPath,
      ["--conditions=toolspan-source", `${Program.root}src/cli/main.ts`, "run", clerk],
      { cwd, input, encoding: "utf8", env: Program.environment }
    )
  )

const user = userInfo().username

describe("toolspan run with a prompt", () => {
  it.effect("prints the answer, with nothing in it that acts on a terminal", () =>
    Effect.gen(function* () {
      const { code, stderr, stdout } = yield* toolspan(yield* folder, ["run", clerk, "hello"])
      assert.deepStrictEqual([code, stdout, stderr], [0, "You said hello, in message 1.␛[2J\n", ""])
    }).pipe(Effect.scoped)
  )

  it.effect("reads the prompt where none is given, and refuses an empty one", () =>
    Effect.gen(function* () {
      const directory = yield* folder
      const said = yield* piped(directory, "two\nlines\n")
      assert.deepStrictEqual([said.status, said.stdout], [0, "You said two\nlines, in message 1.␛[2J\n"])
      const nothing = yield* piped(directory, " \n")
      assert.deepStrictEqual([nothing.status, nothing.stdout], [1, ""])
      assert.include(
        nothing.stderr,
        "There is nothing to say: give PROMPT, or write it to the standard input"
      )
    }).pipe(Effect.scoped)
  )

  it.effect("denies what needs an approval, and says so", () =>
    Effect.gen(function* () {
      const directory = yield* folder
      const { code, stderr, stdout } = yield* toolspan(directory, ["run", clerk, "pay Ada"])
      assert.strictEqual(code, 0)
      assert.match(
        stdout,
        /^I will pay\.\nYou said the tool says .*nobody could be asked: this is no terminal/
      )
      assert.include(stderr, 'Denied: transfer {"to":"Ada","amount":20}. nobody could be asked')
      assert.deepStrictEqual(done(directory), [])
    }).pipe(Effect.scoped)
  )

  it.effect("allows it with --yes, and tells what the tools do beside the answer", () =>
    Effect.gen(function* () {
      const directory = yield* folder
      const { code, stderr, stdout } = yield* toolspan(directory, ["run", clerk, "pay Ada\u202e", "--yes"])
      assert.strictEqual(code, 0)
      assert.match(stdout, /^I will pay\.\nYou said the tool says "sent 20 to Ada/)
      assert.deepStrictEqual(stderr.split("\n"), [
        `transfer was approved by ${user}`,
        '→ transfer {"to":"Ada\\u202e","amount":20}',
        '✓ transfer "sent 20 to Ada\\u202e"',
        ""
      ])
      assert.deepStrictEqual(done(directory), ["sent 20 to Ada\u202e"])
    }).pipe(Effect.scoped)
  )

  it.effect("ends with 1 where a limit is reached", () =>
    Effect.gen(function* () {
      const { code, stderr } = yield* toolspan(yield* folder, ["run", clerk, "loop"])
      assert.strictEqual(code, 1)
      assert.include(stderr, '✗ look "nothing\\u001b[31m there"')
      assert.include(stderr, "The run has reached its limit of turns")
    }).pipe(Effect.scoped)
  )

  it.effect("keeps the conversation in a store, for the next process", () =>
    Effect.gen(function* () {
      const directory = yield* folder
      const first = yield* toolspan(directory, ["run", clerk, "hello", "--store", "runs.db"])
      const [, id = ""] = /^--conversation (\S+)\n$/.exec(first.stderr) ?? []
      const second = yield* toolspan(directory, [
        ...["run", clerk, "again", "--store", "runs.db", "--conversation", id]
      ])
      assert.deepStrictEqual(
        [second.code, second.stdout, second.stderr],
        [0, "You said again, in message 2.␛[2J\n", ""]
      )
    }).pipe(Effect.scoped)
  )

  it.effect("sends one trace of the run where the environment says, and prints it if asked to", () =>
    Effect.gen(function* () {
      const server = yield* OtlpServer.make
      const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: server.url }
      const { stderr } = yield* toolspan(
        yield* folder,
        ["run", clerk, "pay", "--yes", "--trace"],
        environment
      )
      const spans = server.spans()
      const parents = new Map(spans.map(({ name, spanId }) => [spanId, name]))
      assert.deepStrictEqual(
        spans.map(({ name, parentSpanId }) => `${parents.get(parentSpanId) ?? "-"} > ${name}`).sort(),
        [
          "- > toolspan run",
          "LanguageModel.streamText > execute_tool transfer",
          "LanguageModel.streamText > tool_approval transfer",
          "invoke_agent clerk > LanguageModel.streamText",
          "invoke_agent clerk > LanguageModel.streamText",
          "toolspan run > invoke_agent clerk",
          "toolspan run > invoke_agent clerk"
        ]
      )
      assert.include(stderr, `trace ${spans[0]?.traceId}`)
      assert.include(server.requests()[0]?.body.toString() ?? "", "clerk")
    }).pipe(Effect.scoped)
  )

  describe("and a model of Anthropic's", () => {
    /** A server that answers so, and the environment that leads to it. */
    const anthropic = (...answers: ReadonlyArray<ReturnType<typeof MessagesServer.message>>) =>
      Effect.map(
        MessagesServer.start(answers.map((answer) => ({ events: MessagesServer.events(answer) }))),
        ({ requests, url }) => ({
          requests,
          environment: { ANTHROPIC_API_KEY: "sk-ant-test", ANTHROPIC_BASE_URL: url }
        })
      )
    const says = (text: string) => MessagesServer.message([MessagesServer.text(text)])
    const runs = (command: string) =>
      MessagesServer.message([MessagesServer.toolUse("toolu_1", "bash", { command })])

    it.effect("uses that one for the agent of a module", () =>
      Effect.gen(function* () {
        const { environment, requests } = yield* anthropic(says("Hello from afar."))
        const { code, stderr, stdout } = yield* toolspan(
          yield* folder,
          ["run", clerk, "hello", "--model", "claude-test-1"],
          environment
        )
        assert.deepStrictEqual([code, stdout, stderr], [0, "Hello from afar.\n", ""])
        assert.strictEqual(requests[0]?.body.model, "claude-test-1")
        assert.strictEqual(requests[0]?.headers["authorization"], "Bearer sk-ant-test")
        assert.include(
          requests[0]?.body.tools.map(({ name }: { readonly name: string }) => name),
          "transfer"
        )
      }).pipe(Effect.scoped)
    )

    it.effect("without a module has an agent with a shell in this directory, allowed with --yes", () =>
      Effect.gen(function* () {
        const directory = yield* folder
        const { environment, requests } = yield* anthropic(runs("echo made > made.txt; pwd"), says("Made."))
        const { code, stderr, stdout } = yield* toolspan(
          directory,
          ["run", "--model", "claude-test-1", "--yes", "make a file"],
          environment
        )
        assert.deepStrictEqual([code, stdout], [0, "Made.\n"], stderr)
        assert.strictEqual(readFileSync(join(directory, "made.txt"), "utf8"), "made\n")
        assert.include(JSON.stringify(requests[1]?.body.messages.at(-1)), "[exit code 0]")
      }).pipe(Effect.scoped)
    )

    it.effect("runs no command that nobody allowed", () =>
      Effect.gen(function* () {
        const directory = yield* folder
        const { environment, requests } = yield* anthropic(runs("touch made.txt"), says("Then not."))
        const { code, stdout } = yield* toolspan(
          directory,
          ["run", "--model", "claude-test-1", "go"],
          environment
        )
        assert.deepStrictEqual([code, stdout], [0, "Then not.\n"])
        assert.isFalse(existsSync(join(directory, "made.txt")))
        assert.include(JSON.stringify(requests[1]?.body.messages.at(-1)), "execution-denied")
      }).pipe(Effect.scoped)
    )
  })

  for (const [what, files, args, message] of [
    ["no agent at all", {}, [], "Which agent? Give MODULE, or --model for one of our own"],
    [
      "a model without a key",
      {},
      ["--model", "claude-test-1", "hi"],
      "--model claude-test-1 needs a key of Anthropic's"
    ],
    ["no such module for a model", {}, ["missing.ts", "--model", "claude-test-1"], "There is no file "],
    ["no such module", {}, ["missing.ts", "hi"], "There is no file "],
    [
      "a module without an agent",
      { "a.ts": "export default {}" },
      ["a.ts", "hi"],
      "a.ts has no agent: MODULE is"
    ],
    [
      "a module without a layer",
      { "a.ts": `import clerk from "${clerk}"\nexport default { agent: clerk.agent }` },
      ["a.ts", "hi"],
      "a.ts has no layer for its agent: MODULE is"
    ],
    [
      "a module that cannot be loaded",
      { "a.ts": 'import "./nowhere.ts"' },
      ["a.ts", "hi"],
      "a.ts could not be loaded: Cannot find module"
    ],
    [
      "a module that waits while it is loaded",
      { "a.mjs": "export default await 1" },
      ["a.mjs", "hi"],
      "has an await at its top level"
    ],
    [
      "a layer that fails",
      {
        "a.ts": `import clerk from "${clerk}"
          import { Layer, Effect } from "effect"
          export default {
            agent: clerk.agent,
            layer: Layer.provideMerge(clerk.layer, Layer.effectDiscard(Effect.fail(new Error("no key"))))
          }`
      },
      ["a.ts", "hi"],
      "The layer of a.ts could not be built: no key"
    ],
    ["a conversation of no store", {}, [clerk, "hi", "--conversation", "c"], "--conversation goes on with"],
    ["a conversation that is no id", {}, [clerk, "hi", "--conversation", ""], "--conversation is no id"],
    [
      "a store that is none",
      { "a.db": "hello" },
      [clerk, "hi", "--store", "a.db"],
      "a.db is no SQLite database"
    ]
  ] as const) {
    it.effect(`refuses ${what}`, () =>
      Effect.gen(function* () {
        const directory = yield* folder
        // Packages are found from there.
        for (const [name, text] of Object.entries(files)) {
          writeFileSync(
            join(directory, name),
            text.replaceAll('"effect"', `"${Program.root}node_modules/effect/dist/index.js"`)
          )
        }
        const { code, stderr, stdout } = yield* toolspan(directory, ["run", ...args])
        assert.deepStrictEqual([code, stdout], [1, ""])
        assert.include(stderr, message)
        assert.lengthOf(stderr.trim().split("\n"), 2)
      }).pipe(Effect.scoped)
    )
  }
})

describe("toolspan run at a terminal", () => {
  it.effect("reads prompts, asks with the exact arguments, and ends with exit", () =>
    Effect.gen(function* () {
      const directory = yield* folder
      const { code, output, taken } = yield* Typing.toolspan(["run", clerk], directory, [
        ["> ", "hello\r"],
        ["in message 1.␛[2J", ""],
        ["> ", "pay Ada\r"],
        ['The agent asks to call transfer {"to":"Ada","amount":20}', ""],
        ["Allow transfer? [y/n] ", "what\r"],
        ["Allow transfer? [y/n] ", "y\r"],
        ["sent 20 to Ada", ""],
        ["in message 2.␛[2J", ""],
        // The prompt before, and not the answer, is what is come back to.
        ["> ", `${Typing.UP}\r`],
        ["Allow transfer? [y/n] ", "n\r"],
        ["execution-denied", ""],
        ["in message 3.␛[2J", ""],
        ["> ", "exit\r"]
      ])
      assert.strictEqual(taken, 13, output)
      assert.strictEqual(code, 0)
      assert.deepStrictEqual(done(directory), ["sent 20 to Ada"])
    }).pipe(Effect.scoped)
  )

  it.effect("takes nothing for an answer that was typed before the question", () =>
    Effect.gen(function* () {
      const directory = yield* folder
      const { output, taken } = yield* Typing.toolspan(["run", clerk], directory, [
        ["> ", "pause and pay\r"],
        ["[pausing]", "y\r"],
        ["y", () => writeFileSync(join(directory, "go"), "")],
        ["Allow transfer? [y/n] ", "n\r"],
        ["execution-denied", ""],
        ["> ", Typing.CTRL_D]
      ])
      assert.strictEqual(taken, 6, output)
      assert.deepStrictEqual(done(directory), [])
    }).pipe(Effect.scoped)
  )

  it.effect(
    "keeps what is typed during a run for the next prompt, and stops a run by Ctrl-C for an answer",
    () =>
      Effect.gen(function* () {
        const directory = yield* folder
        const { output, taken } = yield* Typing.toolspan(["run", clerk], directory, [
          ["> ", "wait\r"],
          ["[waiting]", "and then\r"],
          ["and then", Typing.CTRL_C],
          ["You said and then, in message 2", ""],
          ["> ", "pay\r"],
          ["Allow transfer? [y/n] ", Typing.CTRL_C],
          ["The run was cancelled", ""],
          ["> ", Typing.CTRL_D]
        ])
        assert.strictEqual(taken, 8, output)
        assert.deepStrictEqual(done(directory), ["waiting", "stopped waiting"])
      }).pipe(Effect.scoped)
  )

  it.effect("stops a run by Ctrl-C, goes on with the next prompt, and ends by Ctrl-C there", () =>
    Effect.gen(function* () {
      const directory = yield* folder
      const { code, output, taken } = yield* Typing.toolspan(["run", clerk], directory, [
        ["> ", "wait\r"],
        ["[waiting]", Typing.CTRL_C],
        ["The run was cancelled", ""],
        ["> ", "hello\r"],
        ["You said hello, in message 2", ""],
        ["> ", Typing.CTRL_C]
      ])
      assert.strictEqual(taken, 6, output)
      assert.strictEqual(code, 0)
      assert.deepStrictEqual(done(directory), ["waiting", "stopped waiting"])
    }).pipe(Effect.scoped)
  )

  it.effect("ends at once by a second Ctrl-C, whatever a tool still does", () =>
    Effect.gen(function* () {
      const directory = yield* folder
      const { code, output, taken } = yield* Typing.toolspan(["run", clerk], directory, [
        ["> ", "stick\r"],
        ["[sticking]", Typing.CTRL_C],
        ["Stopping", Typing.CTRL_C]
      ])
      assert.deepStrictEqual([taken, code], [3, 130], output)
    }).pipe(Effect.scoped)
  )

  it.effect("goes on with a run whose terminal was closed, as another process has decided", () =>
    Effect.gen(function* () {
      const directory = yield* folder
      const chat = ["run", clerk, "--store", "runs.db", "--conversation", "c"]
      yield* Typing.toolspan(chat, directory, [
        ["> ", "pay Grace\r"],
        ["Allow transfer? [y/n] ", Typing.hangUp]
      ])
      const store = { TOOLSPAN_STORE: "runs.db" }
      const listed = yield* toolspan(directory, ["approvals", "list", "--json"], store)
      const [approval]: ReadonlyArray<{ readonly approvalId: string; readonly agent: string }> = JSON.parse(
        listed.stdout
      )
      if (approval === undefined) throw new Error(`no approval waits: ${listed.stderr}`)
      assert.strictEqual(approval.agent, "clerk")
      yield* toolspan(directory, ["approvals", "approve", approval.approvalId, "--approver", "ada"], store)

      const { output, taken } = yield* Typing.toolspan(chat, directory, [
        ["Going on with the run that has not ended", ""],
        ["transfer was approved by ada", ""],
        ["sent 20 to Grace", ""],
        ["in message 1", ""],
        ["> ", Typing.CTRL_D]
      ])
      assert.strictEqual(taken, 5, output)
      assert.deepStrictEqual(done(directory), ["sent 20 to Grace"])
    }).pipe(Effect.scoped)
  )
})
