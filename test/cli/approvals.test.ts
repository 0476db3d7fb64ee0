/** `toolspan approvals`, in processes of its own, on stores that agents have left. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir, userInfo } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Prompt from "effect/ai/Prompt"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Store from "../../src/cli/Store.ts"
import type { Approval } from "../../src/runtime/ApprovalRecord.ts"
import { RunStore } from "../../src/runtime/RunStore.ts"
import * as SqlRunStore from "../../src/runtime/SqlRunStore.ts"
import * as SqliteClient from "../../src/sqlite/SqliteClient.ts"
import * as Postgres from "../support/Postgres.ts"
import * as Program from "../support/Program.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "toolspan-test-"))),
  (directory) => Effect.sync(() => rmSync(directory, { recursive: true }))
)

const approvals = (directory: string, args: ReadonlyArray<string>, environment = {}) =>
  Program.run("src/cli/main.ts", { args: ["approvals", ...args], directory, environment })

const file = (directory: string) =>
  SqlRunStore.layer().pipe(Layer.provide(SqliteClient.layer({ filename: join(directory, "runs.db") })))

const call = (id: string, name: string, params: unknown) =>
  Prompt.toolCallPart({ id, name, params, providerExecuted: false })

/** Leaves a run that waits for these approvals. */
const wait = (...asked: ReadonlyArray<Partial<Approval>>) =>
  Effect.gen(function* () {
    const store = yield* RunStore
    const pending = asked.map((part, index) => ({
      approvalId: `approval_${index + 1}`,
      runId: "r",
      conversation: "c",
      agent: "bank",
      toolName: "pay",
      toolCallId: `call_${index + 1}`,
      params: { amount: 7 },
      requestedAt: Date.now() - (2 * 60 + 10) * 60_000,
      ...part
    }))
    yield* store.begin({
      runId: "r",
      conversation: "c",
      agent: "bank",
      messages: [
        Prompt.userMessage({ content: [Prompt.textPart({ text: "pay" })] }),
        Prompt.assistantMessage({
          content: pending.map(({ params, toolCallId, toolName }) => call(toolCallId, toolName, params))
        })
      ],
      caller: undefined,
      approvals: pending,
      asked: Object.fromEntries(pending.map(({ approvalId }, index) => [String(index), approvalId]))
    })
  })

const get = (approvalId: string) => Effect.flatMap(RunStore, (store) => store.approval(approvalId))

/** Leaves a call that was started, and of which nobody knows how it ended. */
const lose = Effect.gen(function* () {
  const store = yield* RunStore
  const key = { conversation: "c", toolCallId: "call_1", toolName: "pay", arguments: '{"amount":7}' }
  yield* store.begin({ runId: "r", conversation: "c", agent: "bank", messages: [], caller: undefined })
  const { run } = yield* store.claim("r")
  yield* store.beginCall("r", run.epoch, key)
  yield* store.giveUpCall(key, 1, { result: { _tag: "ToolOutcomeUnknown" }, isFailure: true })
})

const user = userInfo().username

describe("toolspan approvals", () => {
  it.live("lists what waits in a table, shows one, and decides it by name", () =>
    Effect.gen(function* () {
      const directory = yield* folder
      const store = { TOOLSPAN_STORE: "runs.db" }
      yield* Effect.provide(
        wait({}, { toolName: "close_account", params: { note: "n".repeat(500) } }),
        file(directory)
      )
      const { code, stderr, stdout } = yield* approvals(directory, ["list"], store)
      assert.deepStrictEqual([code, stderr], [0, ""])
      assert.deepStrictEqual(stdout.split("\n"), [
        "AGE         AGENT  TOOL           CALL    APPROVAL    ARGUMENTS",
        '2 h 10 min  bank   pay            call_1  approval_1  {"amount":7}',
        `2 h 10 min  bank   close_account  call_2  approval_2  {"note":"${"n".repeat(96)}…`,
        ""
      ])

      const shown = yield* approvals(directory, ["show", "approval_1"], store)
      for (const line of [
        "approval      approval_1",
        "agent         bank",
        "tool          pay",
        "call          call_1",
        "conversation  c",
        "run           r",
        "expires       never",
        "state         waiting",
        'arguments     {\n                "amount": 7\n              }\n'
      ]) {
        assert.include(shown.stdout, line)
      }

      const approved = yield* approvals(directory, ["approve", "approval_1", "--store", "runs.db"])
      assert.deepStrictEqual(
        [approved.code, approved.stdout],
        [0, `Approved: pay {"amount":7}\ncall call_1 of agent bank, by ${user}\n`]
      )
      const denied = yield* approvals(
        directory,
        ["deny", "approval_2", "--reason", "not today", "--approver", "ada"],
        store
      )
      assert.include(denied.stdout, "call call_2 of agent bank, by ada: not today\n")
      // With all of its arguments.
      assert.include(denied.stdout, `"note": "${"n".repeat(500)}"`)
      const decided = yield* Effect.provide(
        Effect.all([get("approval_1"), get("approval_2")]),
        file(directory)
      )
      assert.deepStrictEqual(
        decided.map(({ decided }) => [decided?.decision, decided?.approver, decided?.reason]),
        [
          ["approved", user, undefined],
          ["denied", "ada", "not today"]
        ]
      )

      const again = yield* approvals(directory, ["deny", "approval_1"], store)
      assert.deepStrictEqual(
        [again.code, again.stdout, again.stderr],
        [
          1,
          "",
          `\nERROR\n  approval "approval_1" was approved before by ${user}: the first decision stands\n`
        ]
      )
      assert.include(
        (yield* approvals(directory, ["show", "approval_2"], store)).stdout,
        "approver      ada\nreason        not today\n"
      )
      assert.strictEqual((yield* approvals(directory, ["list"], store)).stdout, "No approval waits.\n")
    }).pipe(Effect.scoped)
  )

  it.live("sends nothing to the terminal that acts on it or lies, and loses nothing in JSON", () =>
    Effect.gen(function* () {
      const directory = yield* folder
      const hostile: Partial<Approval> = {
        agent: "bank\u001b[2J",
        toolName: "pay\r\u202esafe\u0007",
        toolCallId: "call\u009b31m\n",
        params: { "k\u007f": "\u001b]0;owned\u0007\u202e\u200b\u{e0041}" }
      }
      yield* Effect.provide(wait(hostile), file(directory))
      const all = ["--store", "runs.db"]
      const listed = yield* approvals(directory, ["list", ...all])
      const json = yield* approvals(directory, ["list", "--json", ...all])
      const shown = yield* approvals(directory, ["show", "approval_1", ...all])
      const shownJson = yield* approvals(directory, ["show", "approval_1", "--json", ...all])
      const denied = yield* approvals(directory, ["deny", "approval_1", "--reason", "\u001b[1m", ...all])
      const missing = yield* approvals(directory, ["show", "\u001b[1m", ...all])
      for (const { stderr, stdout } of [listed, json, shown, shownJson, denied, missing]) {
        assert.notMatch(stdout + stderr, /[^\P{Cc}\n]|\p{Cf}/u)
      }
      assert.lengthOf(listed.stdout.split("\n"), 3)
      for (const approval of [JSON.parse(json.stdout)[0], JSON.parse(shownJson.stdout)]) {
        assert.deepInclude(approval, hostile)
      }
      const args = '{"k\\u007f":"\\u001b]0;owned\\u0007\\u202e\\u200b\\udb40\\udc41"}'
      assert.include(listed.stdout, args)
      assert.include(denied.stdout, args)
    }).pipe(Effect.scoped)
  )

  it.live("lists calls whose outcome is unknown, and takes what an operator found out", () =>
    Effect.gen(function* () {
      const directory = yield* folder
      const all = ["--store", "runs.db"]
      yield* Effect.provide(lose, file(directory))
      const { stdout } = yield* approvals(directory, ["unknown", ...all])
      assert.match(
        stdout,
        /^AGE +TOOL +CONVERSATION +CALL +STATE +ARGUMENTS\n.+ m?s +pay +c +call_1 +unknown +\{"amount":7\}\n$/
      )
      const no = yield* approvals(directory, ["resolve", "c", "call_1", "--result", "paid", ...all])
      assert.strictEqual(no.code, 1)
      assert.include(no.stderr, "--result is no JSON")
      const resolved = yield* approvals(directory, [
        ...["resolve", "c", "call_1", "--result", '"declined"', "--failed", ...all]
      ])
      assert.deepStrictEqual(
        [resolved.code, resolved.stdout],
        [0, 'Resolved: call call_1 failed with "declined"\n']
      )
      const known = yield* approvals(directory, ["unknown", ...all])
      assert.strictEqual(known.stdout, "The outcome of every call is known.\n")
      const listed = yield* approvals(directory, ["unknown", "--all", "--json", ...all])
      assert.deepStrictEqual(JSON.parse(listed.stdout)[0].resolved, { result: "declined", isFailure: true })
      const other = yield* approvals(directory, ["resolve", "c", "call_2", "--result", "1", ...all])
      assert.deepStrictEqual([other.code, other.stdout], [1, ""])
      assert.include(other.stderr, 'conversation "c" has no call "call_2" whose outcome is unknown')
    }).pipe(Effect.scoped)
  )

  for (const [what, args, message] of [
    ["no store", ["list"], "Which store? Give --store FILE or --store postgres://…, or set TOOLSPAN_STORE"],
    ["a store that is not there", ["list", "--store", "nothing.db"], "There is no file "]
  ] as const) {
    it.effect(`refuses ${what} in one line, and makes none`, () =>
      Effect.gen(function* () {
        const directory = yield* folder
        const { code, stderr, stdout } = yield* approvals(directory, args)
        assert.deepStrictEqual([code, stdout], [1, ""])
        assert.include(stderr, message)
        assert.lengthOf(stderr.trim().split("\n"), 2)
        assert.deepStrictEqual(readdirSync(directory), [])
      }).pipe(Effect.scoped)
    )
  }

  for (const [what, store, message] of [
    ["a file that is no database", "text.db", "text.db is no SQLite database"],
    ["an empty file", "empty.db", "empty.db is no SQLite database"],
    ["a folder", "", "or it cannot be read"],
    ["a database of something else", "other.db", "there is no table toolspan_runs"],
    [
      "a server that is not there",
      "postgres://me:hunter2@127.0.0.1:1/runs",
      "Could not open postgres://127.0.0.1:1/runs: PgConnection: Failed to connect: connect ECONNREFUSED"
    ],
    ["an address that is none", "postgres://:x:", "Could not open the Postgres database: "]
  ] as const) {
    it.live(`refuses ${what}, and leaves all as it was`, () =>
      Effect.gen(function* () {
        const directory = yield* folder
        writeFileSync(join(directory, "text.db"), "x")
        writeFileSync(join(directory, "empty.db"), "")
        const other = new DatabaseSync(join(directory, "other.db"))
        other.exec("CREATE TABLE mine (a)")
        other.close()
        const before = readFileSync(join(directory, "other.db"))
        const place = store.startsWith("postgres:") ? store : join(directory, store)
        const error = yield* Effect.void.pipe(
          Effect.provide(Store.layer(place, { create: false })),
          Effect.flip,
          Effect.provide(NodeServices.layer)
        )
        assert.include(error.message, message)
        assert.notInclude(error.message, "\n")
        assert.notInclude(error.message, "hunter2")
        assert.deepStrictEqual(readdirSync(directory).sort(), ["empty.db", "other.db", "text.db"])
        assert.isTrue(readFileSync(join(directory, "other.db")).equals(before))
      }).pipe(Effect.scoped)
    )
  }

  it.live("says that somebody else holds the database", () =>
    Effect.gen(function* () {
      const directory = yield* folder
      yield* Effect.provide(wait({}), file(directory))
      yield* Effect.acquireRelease(
        Effect.sync(() => {
          const holder = new DatabaseSync(join(directory, "runs.db"))
          holder.exec("BEGIN IMMEDIATE")
          return holder
        }),
        (holder) => Effect.sync(() => holder.close())
      )
      const { code, stderr } = yield* approvals(directory, ["approve", "approval_1", "--store", "runs.db"])
      assert.strictEqual(code, 1)
      assert.match(stderr, /^\nERROR\n {2}.*the database is locked: .*\n$/)
    }).pipe(Effect.scoped)
  )

  it.effect("says what to install for Postgres", () =>
    Effect.gen(function* () {
      const hooks = `import { registerHooks } from "node:module"
        registerHooks({ resolve(name, context, next) {
          if (name.startsWith("@effect/sql-pg")) throw Object.assign(
            new Error("Cannot find package '@effect/sql-pg' imported from Store.ts"), { code: "ERR_MODULE_NOT_FOUND" })
          return next(name, context)
        } })`
      const { code, stderr } = yield* approvals(
        tmpdir(),
        ["list", "--store", "postgres://127.0.0.1:1/runs"],
        {
          NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hooks)}`
        }
      )
      assert.deepStrictEqual(
        [code, stderr],
        [
          1,
          "\nERROR\n  A store on Postgres needs the package @effect/sql-pg, which is not installed. Install it: npm install @effect/sql-pg\n"
        ]
      )
    })
  )
})

describe.skipIf(!existsSync("/usr/lib/postgresql"))("toolspan on Postgres", () => {
  it.live(
    "decides there, keeps conversations there, and makes no tables where it only reads",
    () =>
      Effect.gen(function* () {
        const server = yield* Postgres.start
        const directory = yield* folder
        const store = ["--store", server.url]
        const empty = yield* approvals(directory, ["list", ...store])
        assert.strictEqual(empty.code, 1)
        assert.include(empty.stderr, "No agent has kept its runs in postgres://127.0.0.1:")

        const clerk = `${Program.root}test/cli/programs/clerk.ts`
        const run = (prompt: string) =>
          Program.run("src/cli/main.ts", {
            args: ["run", clerk, prompt, "--conversation", "talk", ...store],
            directory
          })
        assert.strictEqual((yield* run("hello")).stdout, "You said hello, in message 1.␛[2J\n")
        assert.strictEqual((yield* run("again")).stdout, "You said again, in message 2.␛[2J\n")

        const kept = SqlRunStore.layer().pipe(Layer.provide(Postgres.client(server)))
        yield* Effect.provide(wait({}), kept)
        assert.include((yield* approvals(directory, ["list", ...store])).stdout, 'approval_1  {"amount":7}\n')
        const { code, stdout } = yield* approvals(directory, ["approve", "approval_1", ...store])
        assert.deepStrictEqual(
          [code, stdout],
          [0, `Approved: pay {"amount":7}\ncall call_1 of agent bank, by ${user}\n`]
        )
        const { decided } = yield* Effect.provide(get("approval_1"), kept)
        assert.strictEqual(decided?.decision, "approved")
      }).pipe(Effect.scoped),
    60_000
  )
})
