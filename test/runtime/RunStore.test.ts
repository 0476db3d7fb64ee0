/** What every store promises, on each of them; the two in a database with two clients at once. */
import { assert, describe, layer as withLayer } from "@effect/vitest"
import * as Prompt from "effect/ai/Prompt"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import type * as AgentError from "../../src/runtime/AgentError.ts"
import type { Approval } from "../../src/runtime/ApprovalRecord.ts"
import * as MemoryRunStore from "../../src/runtime/MemoryRunStore.ts"
import type { Outcome } from "../../src/runtime/Outcome.ts"
import { type CallKey, type NewRun, noProgress, RunStore } from "../../src/runtime/RunStore.ts"
import * as SqlRunStore from "../../src/runtime/SqlRunStore.ts"
import * as SqliteClient from "../../src/sqlite/SqliteClient.ts"
import * as DatabaseFile from "../sqlite/DatabaseFile.ts"
import * as Postgres from "../support/Postgres.ts"

/** The same store, as another process has it. */
class Other extends Context.Service<Other, RunStore["Service"]>()("test/Other") {}

const LEASE = 400

const both = <E, R>(client: Layer.Layer<SqlClient.SqlClient, E, R>) => {
  const store = Layer.fresh(SqlRunStore.layer({ lease: LEASE })).pipe(Layer.provideMerge(Layer.fresh(client)))
  return Layer.merge(
    store,
    Layer.effect(Other)(Effect.map(RunStore, (store) => store)).pipe(Layer.provide(Layer.fresh(store)))
  )
}

const memory = Layer.effect(Other)(Effect.map(RunStore, (store) => store)).pipe(
  Layer.provideMerge(MemoryRunStore.layer)
)
const sqlite = Layer.unwrap(
  Effect.map(DatabaseFile.make, (filename) => both(SqliteClient.layer({ filename })))
)
const postgres = Layer.unwrap(Effect.map(Postgres.start, (server) => both(Postgres.client(server))))

const user = (text: string) => Prompt.userMessage({ content: [Prompt.textPart({ text })] })

let counter = 0
/** A run that no other test has. */
const newRun = (more: Partial<NewRun> = {}): NewRun => {
  const number = ++counter
  return {
    runId: `run ${number}`,
    conversation: `conversation ${number}`,
    agent: `agent ${number}`,
    messages: [user("hello")],
    caller: undefined,
    ...more
  }
}

const approvalOf = (run: NewRun, more: Partial<Approval> = {}): Approval => ({
  approvalId: `approval ${++counter}`,
  runId: run.runId,
  conversation: run.conversation,
  agent: run.agent,
  toolName: "pay",
  toolCallId: "call_1",
  params: { amount: 7 },
  requestedAt: 1_000,
  ...more
})

const keyOf = (run: NewRun, toolCallId = "call_1"): CallKey => ({
  conversation: run.conversation,
  toolCallId,
  toolName: "pay",
  arguments: '{"amount":7}'
})

const paid = { result: "paid 7", isFailure: false }

/** A run that a worker has. */
const claimed = Effect.fnUntraced(function* (more: Partial<NewRun> = {}) {
  const store = yield* RunStore
  const run = newRun(more)
  yield* store.begin(run)
  const { run: taken } = yield* store.claim(run.runId)
  return { store, run, epoch: taken.epoch, other: yield* Other }
})

const finished = (run: NewRun): Outcome => ({
  _tag: "Finished",
  runId: run.runId,
  conversation: run.conversation,
  usage: noProgress.usage,
  text: "done",
  finishReason: "stop"
})

const refused = <A>(effect: Effect.Effect<A, AgentError.AgentError>) =>
  Effect.map(Effect.flip(effect), ({ reason }) => reason._tag)

for (const [name, layer] of [
  ["memory", memory],
  ["SQLite", sqlite],
  ["Postgres", postgres]
] as const) {
  describe(`a store in ${name}`, () => {
    withLayer(layer, { excludeTestServices: true, timeout: 60_000 })((it) => {
      it.effect("begins a run once, and one at a time in a conversation", () =>
        Effect.gen(function* () {
          const store = yield* RunStore
          const run = newRun()
          const begun = yield* store.begin(run)
          assert.deepStrictEqual(
            [begun.status, begun.epoch, begun.cancelled, begun.outcome],
            ["ready", 0, false, undefined]
          )
          assert.deepStrictEqual(yield* store.begin(run), begun)
          assert.deepStrictEqual(yield* store.messages(run.conversation), [user("hello")])
          assert.strictEqual(yield* refused(store.begin({ ...run, agent: "another" })), "RunMismatch")
          assert.strictEqual(yield* refused(store.begin({ ...run, conversation: "another" })), "RunMismatch")
          const busy = yield* refused(store.begin(newRun({ conversation: run.conversation })))
          assert.strictEqual(busy, "ConversationBusy")
          assert.strictEqual(yield* refused(store.get("nothing")), "RunNotFound")
        })
      )

      it.effect("lets one of many that begin at once begin", () =>
        Effect.gen(function* () {
          const stores = [yield* RunStore, yield* Other]
          const { conversation } = newRun()
          const runs = Array.from({ length: 20 }, () => newRun({ conversation, agent: "a" }))
          const results = yield* Effect.forEach(
            runs,
            (run, index) => Effect.result(stores[index % 2]?.begin(run) ?? Effect.die("no store")),
            { concurrency: "unbounded" }
          )
          assert.strictEqual(results.filter(({ _tag }) => _tag === "Success").length, 1)
          const same = newRun()
          const all = yield* Effect.forEach(
            Array.from({ length: 10 }, () => same),
            (run, index) => stores[index % 2]?.begin(run) ?? Effect.die("no store"),
            { concurrency: "unbounded" }
          )
          assert.strictEqual(new Set(all.map(({ runId }) => runId)).size, 1)
        })
      )

      it.effect("gives a run to one worker, and refuses what any other writes", () =>
        Effect.gen(function* () {
          const { epoch, other, run, store } = yield* claimed()
          assert.isFalse((yield* other.claim(run.runId)).taken)
          yield* store.release(run.runId, epoch)
          const taken = yield* other.claim(run.runId)
          assert.deepStrictEqual([taken.taken, taken.found, taken.run.epoch], [true, "running", epoch + 1])
          const change = { progress: noProgress, status: "running", messages: [user("stale")] } as const
          assert.strictEqual(yield* refused(store.commit(run.runId, epoch, change)), "Superseded")
          assert.strictEqual(yield* refused(store.beginCall(run.runId, epoch, keyOf(run))), "Superseded")
          assert.strictEqual(yield* store.renew(run.runId, epoch), "superseded")
          assert.strictEqual(yield* other.renew(run.runId, epoch + 1), "holds")
          yield* store.release(run.runId, epoch)
          assert.isFalse((yield* store.claim(run.runId)).taken)
          assert.deepStrictEqual(yield* store.messages(run.conversation), [user("hello")])
        })
      )

      it.effect("gives it to one of many that claim at once", () =>
        Effect.gen(function* () {
          const stores = [yield* RunStore, yield* Other]
          const run = newRun()
          yield* stores[0]?.begin(run) ?? Effect.void
          const claims = yield* Effect.forEach(
            Array.from({ length: 20 }),
            (_, index) => stores[index % 2]?.claim(run.runId) ?? Effect.die("no store"),
            { concurrency: "unbounded" }
          )
          assert.strictEqual(claims.filter(({ taken }) => taken).length, 1)
        })
      )

      it.effect("keeps a conversation exactly", () =>
        Effect.gen(function* () {
          const { epoch, other, run, store } = yield* claimed()
          const messages = [
            Prompt.systemMessage({ content: "be kind" }),
            Prompt.assistantMessage({
              content: [
                Prompt.reasoningPart({ text: "hm", options: { anthropic: { signature: "abc" } } }),
                Prompt.textPart({ text: 'quotes " \\ \u0000 \ud83d\ude00 \u2028' }),
                Prompt.toolCallPart({
                  id: "call_1",
                  name: "pay\u0000",
                  params: { amount: 1e21, nested: [null, { "": true }] },
                  providerExecuted: false,
                  options: { toolspan: { traceparent: "00-1-2-01" } }
                })
              ]
            }),
            Prompt.toolMessage({
              content: [
                Prompt.toolResultPart({
                  id: "call_1",
                  name: "pay\u0000",
                  isFailure: true,
                  result: { deep: { a: [1, "two"] } },
                  providerExecuted: false
                })
              ]
            })
          ]
          yield* store.commit(run.runId, epoch, { progress: noProgress, status: "running", messages })
          assert.deepStrictEqual(yield* other.messages(run.conversation), [user("hello"), ...messages])
          assert.deepStrictEqual(yield* other.messages("nothing was said here"), [])
        })
      )

      it.effect("runs a call once, and tells everybody else what it came to", () =>
        Effect.gen(function* () {
          const { epoch, other, run, store } = yield* claimed()
          const key = keyOf(run)
          const begun = yield* Effect.forEach(
            Array.from({ length: 50 }),
            (_, index) => (index % 2 === 0 ? store : other).beginCall(run.runId, epoch, key),
            { concurrency: "unbounded" }
          )
          assert.deepStrictEqual(
            begun.filter(({ _tag }) => _tag === "Run"),
            [{ _tag: "Run", attempt: 1 }]
          )
          assert.strictEqual(begun.filter(({ _tag }) => _tag === "Busy").length, 49)
          assert.isTrue(yield* store.endCall(key, 1, paid))
          assert.isFalse(yield* store.endCall(key, 1, { ...paid, result: "again" }))
          assert.deepStrictEqual(yield* other.beginCall(run.runId, epoch, key), {
            _tag: "Replay",
            result: paid
          })
          assert.deepStrictEqual(
            yield* other.beginCall(run.runId, epoch, { ...key, arguments: '{"amount":8}' }),
            { _tag: "Conflict", toolName: "pay", arguments: '{"amount":7}' }
          )
          assert.deepStrictEqual(yield* other.beginCall(run.runId, epoch, { ...key, toolName: "steal" }), {
            _tag: "Conflict",
            toolName: "pay",
            arguments: '{"amount":7}'
          })
        })
      )

      it.effect("counts the attempts of a call that is made again", () =>
        Effect.gen(function* () {
          const { epoch, run, store } = yield* claimed()
          const key = keyOf(run)
          yield* store.beginCall(run.runId, epoch, key)
          assert.deepStrictEqual(yield* store.beginCall(run.runId, epoch, key, 1), {
            _tag: "Run",
            attempt: 2
          })
          assert.isFalse(yield* store.endCall(key, 1, paid))
          assert.isTrue(yield* store.endCall(key, 2, paid))
        })
      )

      it.effect("tells of a call whose worker was lost, and takes its word if it comes after all", () =>
        Effect.gen(function* () {
          const { epoch, other, run, store } = yield* claimed()
          const [one, two, three] = [keyOf(run, "call_1"), keyOf(run, "call_2"), keyOf(run, "call_3")]
          for (const key of [one, two, three]) yield* store.beginCall(run.runId, epoch, key)
          yield* store.release(run.runId, epoch)
          yield* other.claim(run.runId)
          const lost = yield* other.beginCall(run.runId, epoch + 1, one)
          assert.deepStrictEqual([lost._tag, lost._tag === "Lost" && lost.attempt], ["Lost", 1])
          const unknown = { result: { type: "outcome-unknown" }, isFailure: true }
          assert.isTrue(yield* other.giveUpCall(one, 1, unknown))
          // Too late, but not for the second: what the lost worker knows is the truth.
          assert.isFalse(yield* store.endCall(one, 1, paid))
          assert.isTrue(yield* store.endCall(two, 1, paid))
          assert.isFalse(yield* other.giveUpCall(two, 1, unknown))
          assert.deepStrictEqual(yield* other.beginCall(run.runId, epoch + 1, two), {
            _tag: "Replay",
            result: paid
          })
          assert.deepStrictEqual(yield* other.beginCall(run.runId, epoch + 1, three, 1), {
            _tag: "Run",
            attempt: 2
          })
          // The operator finds out.
          const mine = (calls: ReadonlyArray<{ readonly conversation: string }>) =>
            calls.filter(({ conversation }) => conversation === run.conversation)
          const [listed] = mine(yield* other.unknownCalls)
          assert.deepStrictEqual({ ...listed, startedAt: 0 }, {
            ...one,
            runId: run.runId,
            attempt: 1,
            resolved: undefined,
            startedAt: 0
          } as never)
          assert.deepStrictEqual(yield* other.beginCall(run.runId, epoch + 1, one), {
            _tag: "Replay",
            result: unknown
          })
          yield* other.resolveCall(run.conversation, "call_1", paid)
          assert.strictEqual(
            yield* refused(other.resolveCall(run.conversation, "call_1", paid)),
            "CallNotUnknown"
          )
          assert.strictEqual(
            yield* refused(other.resolveCall(run.conversation, "call_2", paid)),
            "CallNotUnknown"
          )
          assert.deepStrictEqual(yield* other.beginCall(run.runId, epoch + 1, one), {
            _tag: "Replay",
            result: paid
          })
        })
      )

      it.effect("takes the first decision, and only for what was asked", () =>
        Effect.gen(function* () {
          const { epoch, other, run, store } = yield* claimed()
          const approval = approvalOf(run)
          yield* store.commit(run.runId, epoch, {
            progress: { ...noProgress, asked: { 0: approval.approvalId } },
            status: "waiting",
            approvals: [approval]
          })
          assert.isFalse((yield* other.claim(run.runId)).taken)
          const pending = yield* other.pending
          assert.deepStrictEqual(
            pending.filter(({ runId }) => runId === run.runId),
            [approval]
          )
          const decide = (more: object) =>
            other.decide(approval.approvalId, { decision: "approved", ...more })
          assert.strictEqual(yield* refused(decide({ toolName: "steal" })), "DecisionMismatch")
          assert.strictEqual(yield* refused(decide({ arguments: '{"amount":8}' })), "DecisionMismatch")
          assert.strictEqual(
            yield* refused(other.decide("nothing", { decision: "denied" })),
            "ApprovalNotFound"
          )
          const decisions = yield* Effect.forEach(
            Array.from({ length: 50 }),
            (_, index) =>
              Effect.result(
                (index % 2 === 0 ? store : other).decide(approval.approvalId, {
                  decision: index % 3 === 0 ? "denied" : "approved",
                  approver: `approver ${index}`,
                  reason: "because",
                  toolName: "pay",
                  arguments: '{"amount":7}'
                })
              ),
            { concurrency: "unbounded" }
          )
          const won = decisions.flatMap((result) => (result._tag === "Success" ? result.success : []))
          assert.strictEqual(won.length, 1)
          assert.deepStrictEqual(yield* other.approval(approval.approvalId), won[0])
          assert.deepStrictEqual(
            (yield* other.pending).filter(({ runId }) => runId === run.runId),
            []
          )
          assert.deepStrictEqual(
            (yield* other.due([run.agent])).map(({ runId }) => runId),
            [run.runId]
          )
          const claim = yield* other.claim(run.runId)
          assert.isTrue(claim.taken)
          assert.deepStrictEqual(claim.approvals, won)
        })
      )

      it.effect("does not lose a decision that comes while the run still runs", () =>
        Effect.gen(function* () {
          const { epoch, other, run, store } = yield* claimed()
          const approval = approvalOf(run)
          const change = { progress: noProgress, approvals: [approval] }
          yield* store.commit(run.runId, epoch, { ...change, status: "running" })
          yield* other.decide(approval.approvalId, { decision: "denied" })
          yield* store.commit(run.runId, epoch, { progress: noProgress, status: "waiting" })
          assert.deepStrictEqual(
            (yield* other.due([run.agent])).map(({ runId }) => runId),
            [run.runId]
          )
          assert.isTrue((yield* other.claim(run.runId)).taken)
        })
      )

      it.effect("lets approvals expire, and takes no decision after that", () =>
        Effect.gen(function* () {
          const { epoch, other, run, store } = yield* claimed()
          const approval = approvalOf(run, { expiresAt: Date.now() + 150 })
          yield* store.commit(run.runId, epoch, {
            progress: noProgress,
            status: "waiting",
            approvals: [approval]
          })
          assert.deepStrictEqual(yield* other.due([run.agent]), [])
          yield* Effect.sleep(200)
          assert.strictEqual(
            yield* refused(other.decide(approval.approvalId, { decision: "approved" })),
            "AlreadyDecided"
          )
          assert.deepStrictEqual(
            (yield* other.pending).filter(({ runId }) => runId === run.runId),
            []
          )
          assert.strictEqual((yield* other.approval(approval.approvalId)).decided?.decision, "expired")
          assert.deepStrictEqual(
            (yield* other.due([run.agent])).map(({ runId }) => runId),
            [run.runId]
          )
          const claim = yield* other.claim(run.runId)
          assert.strictEqual(claim.taken && claim.approvals[0]?.decided?.decision, "expired")
        })
      )

      it.effect("ends a run with its outcome, and what waits with it", () =>
        Effect.gen(function* () {
          const { epoch, other, run, store } = yield* claimed()
          const approval = approvalOf(run)
          yield* store.commit(run.runId, epoch, {
            progress: noProgress,
            status: "ended",
            outcome: finished(run),
            approvals: [approval]
          })
          const ended = yield* other.get(run.runId)
          assert.deepStrictEqual([ended.status, ended.outcome], ["ended", finished(run)])
          assert.isFalse((yield* other.claim(run.runId)).taken)
          assert.isFalse(yield* other.cancel(run.runId))
          assert.deepStrictEqual(yield* other.due([run.agent]), [])
          assert.strictEqual((yield* other.approval(approval.approvalId)).decided?.decision, "expired")
          const next = newRun({ conversation: run.conversation })
          assert.strictEqual((yield* other.begin(next)).status, "ready")
          assert.strictEqual((yield* other.messages(run.conversation)).length, 2)
        })
      )

      it.effect("tells a worker that its run is to stop, and any worker of one that waits", () =>
        Effect.gen(function* () {
          const { epoch, other, run, store } = yield* claimed()
          assert.isTrue(yield* other.cancel(run.runId))
          assert.strictEqual(yield* store.renew(run.runId, epoch), "cancelled")
          assert.deepStrictEqual(yield* other.due([run.agent]), [])
          yield* store.commit(run.runId, epoch, {
            progress: noProgress,
            status: "waiting",
            approvals: [approvalOf(run)]
          })
          const second = yield* claimed()
          yield* second.store.commit(second.run.runId, second.epoch, {
            progress: noProgress,
            status: "waiting",
            approvals: [approvalOf(second.run)]
          })
          yield* other.cancel(second.run.runId)
          assert.deepStrictEqual(
            (yield* other.due([second.run.agent])).map(({ cancelled, status }) => [status, cancelled]),
            [["ready", true]]
          )
        })
      )

      it.effect("finds the runs that are due, of these agents", () =>
        Effect.gen(function* () {
          const store = yield* RunStore
          const run = newRun()
          yield* store.begin(run)
          assert.deepStrictEqual(
            (yield* store.due([run.agent, "another"])).map(({ runId }) => runId),
            [run.runId]
          )
          assert.deepStrictEqual(yield* store.due(["another"]), [])
          assert.deepStrictEqual(yield* store.due([]), [])
          const { run: taken } = yield* store.claim(run.runId)
          assert.deepStrictEqual(yield* store.due([run.agent]), [])
          yield* store.release(run.runId, taken.epoch)
          assert.deepStrictEqual(
            (yield* store.due([run.agent])).map(({ status }) => status),
            ["running"]
          )
        })
      )

      it.effect("finds the runs of an agent, and the run of a conversation, that have not ended", () =>
        Effect.gen(function* () {
          const { epoch, other, run, store } = yield* claimed()
          const second = newRun({ agent: run.agent })
          yield* store.begin(second)
          yield* store.begin(newRun())
          const ids = (of: Parameters<typeof store.unfinished>[0]) =>
            Effect.map(other.unfinished(of), (runs) => runs.map(({ runId }) => runId).sort())
          assert.deepStrictEqual(yield* ids({ agent: run.agent }), [run.runId, second.runId].sort())
          assert.deepStrictEqual(yield* ids({ conversation: run.conversation }), [run.runId])
          yield* store.commit(run.runId, epoch, { progress: noProgress, status: "ended" })
          assert.deepStrictEqual(yield* ids({ agent: run.agent }), [second.runId])
          assert.deepStrictEqual(yield* ids({ conversation: run.conversation }), [])
        })
      )

      it.effect("counts what waits by tool", () =>
        Effect.gen(function* () {
          const { epoch, run, store } = yield* claimed()
          const toolName = `tool ${++counter}\u0000`
          yield* store.commit(run.runId, epoch, {
            progress: noProgress,
            status: "waiting",
            approvals: [
              approvalOf(run, { toolName, requestedAt: 3000 }),
              approvalOf(run, { toolName, requestedAt: 2000 })
            ]
          })
          assert.deepStrictEqual(
            (yield* store.waiting).filter((waiting) => waiting.toolName === toolName),
            [{ toolName, count: 2, oldest: 2000 }]
          )
        })
      )

      it.effect("takes in a conversation from elsewhere with its approvals", () =>
        Effect.gen(function* () {
          const store = yield* RunStore
          const run = newRun()
          const decided = approvalOf(run, { decided: { decision: "approved", at: 5, approver: "ada" } })
          const open = approvalOf(run)
          const asked = { 0: decided.approvalId, 1: open.approvalId }
          yield* store.begin({ ...run, approvals: [decided, open], asked })
          const claim = yield* store.claim(run.runId)
          assert.deepStrictEqual(claim.run.progress.asked, asked)
          assert.deepStrictEqual(
            [...claim.approvals].sort((a, b) => (a.approvalId < b.approvalId ? -1 : 1)),
            [decided, open].sort((a, b) => (a.approvalId < b.approvalId ? -1 : 1))
          )
        })
      )
    })
  })
}

for (const [name, layer] of [
  ["SQLite", sqlite],
  ["Postgres", postgres]
] as const) {
  describe(`a store in ${name}, which several processes have,`, () => {
    withLayer(layer, { excludeTestServices: true, timeout: 60_000 })((it) => {
      it.effect("takes a worker that says nothing for lost, and one that renews not", () =>
        Effect.gen(function* () {
          const { epoch, other, run, store } = yield* claimed()
          yield* store.beginCall(run.runId, epoch, keyOf(run))
          for (let beat = 0; beat < 3; beat++) {
            yield* Effect.sleep(LEASE / 2)
            assert.strictEqual(yield* store.renew(run.runId, epoch), "holds")
            assert.isFalse((yield* other.claim(run.runId)).taken)
          }
          yield* Effect.sleep(LEASE * 1.2)
          assert.deepStrictEqual(
            (yield* other.due([run.agent])).map(({ runId }) => runId),
            [run.runId]
          )
          assert.isTrue((yield* other.claim(run.runId)).taken)
          assert.strictEqual((yield* other.beginCall(run.runId, epoch + 1, keyOf(run)))._tag, "Lost")
        })
      )

      it.effect("keeps events by their numbers, and tells the next worker the last one", () =>
        Effect.gen(function* () {
          const { epoch, other, run, store } = yield* claimed()
          const event = (turn: number) => ({
            number: turn,
            event: { _tag: "TurnFinished", turn, text: "", finishReason: "stop", toolCalls: 0 } as const
          })
          const write = (...events: ReadonlyArray<ReturnType<typeof event>>) =>
            store.commit(run.runId, epoch, { progress: noProgress, status: "running", events })
          yield* write(event(1), event(2))
          yield* write(event(3))
          assert.deepStrictEqual(yield* other.events(run.runId, 1), [event(2), event(3)])
          yield* store.release(run.runId, epoch)
          assert.strictEqual((yield* other.claim(run.runId)).lastEvent, 3)
        })
      )

      it.effect("names the row that is damaged", () =>
        Effect.gen(function* () {
          const { other, run } = yield* claimed()
          const sql = yield* SqlClient.SqlClient
          yield* sql`UPDATE toolspan_runs SET progress = '{"usage":' WHERE run_id = ${run.runId}`
          const error = yield* Effect.flip(other.get(run.runId))
          assert.strictEqual(error.reason._tag, "StoreFailed")
          assert.include(error.message, `table toolspan_runs, row "${run.runId}" cannot be read`)
        })
      )

      it.effect("is made once, and not over tables of a later version", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const again = SqlRunStore.layer().pipe(Layer.provide(Layer.succeed(SqlClient.SqlClient, sql)))
          yield* Effect.scoped(Layer.build(Layer.fresh(again)))
          yield* sql`INSERT INTO toolspan_migrations (migration_id, name) VALUES (99, 'later')`
          const error = yield* Effect.flip(Effect.scoped(Layer.build(Layer.fresh(again))))
          assert.include(error.message, "version 99, and this toolspan knows version 1")
          yield* sql`DELETE FROM toolspan_migrations WHERE migration_id = 99`
        })
      )
    })
  })
}
