/**
 * The store in a database: SQLite (one file, see `./sqlite`) or Postgres, through whichever `SqlClient` is provided. Several processes may
 * have it at once.
 *
 * Whether a lease is over is told by the clock of the database. Its statements are not traced.
 */
import type * as Prompt from "effect/ai/Prompt"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as SqlClient from "effect/sql/SqlClient"
import { SqlError } from "effect/sql/SqlError"
import type * as Statement from "effect/sql/Statement"
import * as Check from "../options/Check.ts"
import {
  AgentError,
  ApprovalNotFound,
  CallNotUnknown,
  ConversationBusy,
  type Reason,
  RunNotFound,
  StoreFailed,
  Superseded
} from "./AgentError.ts"
import { type Approval, decided } from "./ApprovalRecord.ts"
import * as Limits from "./Limits.ts"
import {
  type Begun,
  begunBefore,
  type CallKey,
  type CallResult,
  type Change,
  type Claim,
  decisionRefusal,
  type NewRun,
  noProgress,
  type Progress,
  type Run,
  RunStore,
  runRefusal,
  type Service,
  type Verdict
} from "./RunStore.ts"
import {
  type ApprovalRow,
  approvalJson,
  type CallRow,
  Damaged,
  decidedJson,
  eventJson,
  messageJson,
  nameJson,
  nameOf,
  outcomeJson,
  progressJson,
  type RunRow,
  reading,
  resultJson,
  toApproval,
  toResult,
  toRun,
  toUnknown
} from "./SqlRunRows.ts"
import * as SqlRunSchema from "./SqlRunSchema.ts"

export interface Options {
  /** How long a worker that says nothing keeps a run; then it is taken for lost. Default 30 seconds. */
  readonly lease?: Duration.Input | undefined
}

const checks: Check.Checks<Options> = {
  lease: Limits.DURATION
}

/** Makes its tables (`toolspan_…`) if they are not there. Throws an `Error` that names the option that makes no sense. */
export const layer = (options: Options = {}): Layer.Layer<RunStore, AgentError, SqlClient.SqlClient> => {
  Check.validate("SqlRunStore.layer", checks, options)
  const lease = Limits.millis(options.lease) ?? 30_000
  return Layer.effect(RunStore)(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* guarded("migrate", SqlRunSchema.migrate)
      return new SqlStore(sql.withoutTransforms(), lease).service
    })
  )
}

/** Somebody else was first: to be looked at again. */
class Again extends Error {}

/** Whether the same may succeed at once. Not after a wait for a lock, or for the server, that was as long as it may be. */
const mayBeTriedAgain = (error: unknown): boolean =>
  error instanceof Again ||
  (error instanceof SqlError &&
    (error.reason._tag === "DeadlockError" || error.reason._tag === "SerializationError"))

/** Failures of the database as ours; deadlocks and the like are tried again. */
const guarded = <A, E, R>(
  operation: string,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, AgentError, R> =>
  effect.pipe(
    Effect.retry({
      schedule: Schedule.exponential("10 millis").pipe(Schedule.jittered),
      times: 5,
      while: mayBeTriedAgain
    }),
    Effect.mapError((error) =>
      error instanceof AgentError
        ? error
        : new AgentError({ reason: new StoreFailed({ operation, cause: error }) })
    ),
    Effect.withTracerEnabled(false)
  )

const refuse = (reason: Reason): Effect.Effect<never, AgentError> => Effect.fail(new AgentError({ reason }))

/** How many rows one statement inserts: each database has a limit of parameters. */
const ROWS = 1000

class SqlStore {
  readonly #sql: SqlClient.SqlClient
  readonly #lease: number
  /** The time by the clock of the database, as an expression. */
  readonly #now: Statement.Fragment
  /** Locks the rows that are read. SQLite has the whole file locked by then. */
  readonly #forUpdate: Statement.Fragment

  constructor(sql: SqlClient.SqlClient, lease: number) {
    this.#sql = sql
    this.#lease = lease
    this.#now = sql.onDialectOrElse({
      pg: () => sql.literal("(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::double precision"),
      orElse: () => sql.literal("(unixepoch('subsec') * 1000.0)")
    })
    this.#forUpdate = sql.onDialectOrElse({
      pg: () => sql.literal(" FOR UPDATE"),
      orElse: () => sql.literal("")
    })
  }

  get service(): Service {
    const sql = this.#sql
    /** All or nothing. */
    const transaction = <A, E>(operation: string, effect: Effect.Effect<A, E>) =>
      guarded(operation, sql.withTransaction(effect))
    return {
      isShared: true,
      leaseMillis: this.#lease,
      begin: (run) => transaction("begin", this.#begin(run)),
      get: (runId) =>
        guarded(
          "get",
          Effect.flatMap(this.#row(runId), (row) => reading(() => toRun(row)))
        ),
      claim: (runId) => transaction("claim", this.#claim(runId)),
      commit: (runId, epoch, change) => transaction("commit", this.#commit(runId, epoch, change)),
      renew: (runId, epoch) =>
        guarded(
          "renew",
          Effect.gen({ self: this }, function* () {
            const [row] = yield* sql<{
              cancelled: number
            }>`UPDATE toolspan_runs SET due_at = ${this.#now} + ${this.#lease}
              WHERE run_id = ${runId} AND epoch = ${epoch} AND status = 'running' RETURNING cancelled`
            return row === undefined ? "superseded" : row.cancelled === 1 ? "cancelled" : "holds"
          })
        ),
      release: (runId, epoch) =>
        guarded(
          "release",
          Effect.asVoid(
            sql`UPDATE toolspan_runs SET due_at = 0 WHERE run_id = ${runId} AND epoch = ${epoch} AND status = 'running'`
          )
        ),
      cancel: (runId) => transaction("cancel", this.#cancel(runId)),
      due: (agents) => guarded("due", this.#due(agents)),
      unfinished: (of) =>
        guarded(
          "unfinished",
          Effect.flatMap(
            sql<RunRow>`SELECT *, ${this.#now} AS now FROM toolspan_runs WHERE ${
              "agent" in of ? sql`agent = ${of.agent}` : sql`conversation = ${of.conversation}`
            } AND status <> 'ended' ORDER BY run_id`,
            (rows) => reading(() => rows.map(toRun))
          )
        ),
      messages: (conversation) => guarded("messages", this.#messages(conversation)),
      events: (runId, after) =>
        guarded(
          "events",
          Effect.flatMap(
            sql<{ number: number; event: string }>`SELECT number, event FROM toolspan_events
              WHERE run_id = ${runId} AND number > ${after} ORDER BY number`,
            (rows) =>
              reading(() =>
                rows.map(({ event, number }) => ({
                  number,
                  event: eventJson.decode(event, "toolspan_events", `${runId}/${number}`)
                }))
              )
          )
        ),
      beginCall: (runId, epoch, key, rerun) =>
        transaction("beginCall", this.#beginCall(runId, epoch, key, rerun)),
      endCall: (key, attempt, result) => guarded("endCall", this.#settleCall(key, attempt, "ended", result)),
      giveUpCall: (key, attempt, result) =>
        guarded("giveUpCall", this.#settleCall(key, attempt, "unknown", result)),
      unknownCalls: guarded(
        "unknownCalls",
        Effect.flatMap(
          sql<CallRow>`SELECT * FROM toolspan_calls WHERE status = 'unknown' ORDER BY started_at`,
          (rows) => reading(() => rows.map(toUnknown))
        )
      ),
      resolveCall: (conversation, toolCallId, result) =>
        guarded(
          "resolveCall",
          Effect.flatMap(
            sql`UPDATE toolspan_calls SET resolved = ${resultJson.encode(result)}
              WHERE conversation = ${conversation} AND tool_call_id = ${toolCallId} AND status = 'unknown' AND resolved IS NULL
              RETURNING run_id`,
            (rows) =>
              rows.length === 1 ? Effect.void : refuse(new CallNotUnknown({ conversation, toolCallId }))
          )
        ),
      approval: (approvalId) => guarded("approval", this.#approval(approvalId)),
      pending: guarded(
        "pending",
        Effect.flatMap(
          sql<ApprovalRow>`SELECT *, ${this.#now} AS now FROM toolspan_approvals
            WHERE decided IS NULL AND (expires_at IS NULL OR expires_at > ${this.#now}) ORDER BY requested_at, approval_id`,
          (rows) => reading(() => rows.map(toApproval))
        )
      ),
      waiting: guarded(
        "waiting",
        Effect.flatMap(
          sql<{ tool_name: string; count: number; oldest: number }>`SELECT tool_name,
            CAST(COUNT(*) AS INTEGER) AS count, MIN(requested_at) AS oldest FROM toolspan_approvals
            WHERE decided IS NULL AND (expires_at IS NULL OR expires_at > ${this.#now}) GROUP BY tool_name`,
          (rows) =>
            reading(() =>
              rows.map(({ count, oldest, tool_name }) => ({
                toolName: nameJson.decode(tool_name, "toolspan_approvals", tool_name),
                count,
                oldest
              }))
            )
        )
      ),
      decide: (approvalId, verdict) => transaction("decide", this.#decide(approvalId, verdict))
    }
  }

  #begin(run: NewRun): Effect.Effect<Run, SqlError | AgentError | Damaged | Again> {
    const sql = this.#sql
    const { agent, approvals = [], asked = {}, caller, conversation, runId } = run
    return Effect.gen({ self: this }, function* () {
      const [before] =
        yield* sql<RunRow>`SELECT *, ${this.#now} AS now FROM toolspan_runs WHERE run_id = ${runId}`
      if (before !== undefined) {
        const refusal = runRefusal(before, run)
        if (refusal !== undefined) return yield* refuse(refusal)
        return yield* reading(() => toRun(before))
      }
      const progress: Progress = { ...noProgress, asked, ...(caller !== undefined && { caller }) }
      // Two that begin at once: the second waits here for the first, and finds the index or the key taken.
      const inserted = yield* sql`INSERT INTO toolspan_runs ${sql.insert({
        run_id: runId,
        conversation,
        agent,
        status: "ready",
        epoch: 0,
        due_at: 0,
        woken: 0,
        cancelled: 0,
        progress: progressJson.encode(progress),
        outcome: null
      })} ON CONFLICT DO NOTHING RETURNING run_id`
      if (inserted.length === 0) {
        const [active] = yield* sql<{
          run_id: string
        }>`SELECT run_id FROM toolspan_runs WHERE conversation = ${conversation} AND status <> 'ended'`
        return active === undefined || active.run_id === runId
          ? yield* Effect.fail(new Again())
          : yield* refuse(new ConversationBusy({ conversation, runId: active.run_id }))
      }
      yield* this.#append(conversation, run.messages)
      yield* this.#ask(approvals)
      return yield* reading(() => ({
        runId,
        conversation,
        agent,
        status: "ready" as const,
        epoch: 0,
        progress,
        outcome: undefined,
        cancelled: false
      }))
    })
  }

  #row(runId: string, lock?: "lock") {
    return Effect.flatMap(
      this.#sql<RunRow>`SELECT *, ${this.#now} AS now FROM toolspan_runs WHERE run_id = ${runId}${
        lock === undefined ? this.#sql.literal("") : this.#forUpdate
      }`,
      ([row]) => (row === undefined ? refuse(new RunNotFound({ runId })) : Effect.succeed(row))
    )
  }

  #claim(runId: string) {
    const sql = this.#sql
    return Effect.gen({ self: this }, function* () {
      const row = yield* this.#row(runId, "lock")
      const approvals = yield* sql<ApprovalRow>`SELECT *, ${this.#now} AS now FROM toolspan_approvals
        WHERE run_id = ${runId} ORDER BY requested_at, approval_id`
      const late = approvals.filter(
        ({ decided, expires_at }) => decided === null && expires_at !== null && expires_at <= row.now
      )
      for (const { approval_id, expires_at } of late) {
        yield* sql`UPDATE toolspan_approvals SET decided = ${decidedJson.encode({ decision: "expired", at: expires_at ?? row.now })}
          WHERE approval_id = ${approval_id}`
      }
      const { status } = row
      const taken =
        status === "ready" ||
        (status === "waiting" && (row.woken === 1 || row.cancelled === 1 || late.length > 0)) ||
        (status === "running" && (row.due_at ?? 0) <= row.now)
      if (taken) {
        yield* sql`UPDATE toolspan_runs SET status = 'running', epoch = ${row.epoch + 1}, woken = 0,
          due_at = ${this.#now} + ${this.#lease} WHERE run_id = ${runId}`
      }
      const messages = taken ? yield* this.#messages(row.conversation) : []
      const [last] = yield* sql<{
        number: number | null
      }>`SELECT MAX(number) AS number FROM toolspan_events WHERE run_id = ${runId}`
      return yield* reading((): Claim => {
        const run = toRun(row)
        return {
          run: taken ? { ...run, status: "running", epoch: row.epoch + 1 } : run,
          taken,
          found: status,
          messages,
          approvals: approvals.map(toApproval),
          lastEvent: last?.number ?? 0
        }
      })
    })
  }

  #commit(runId: string, epoch: number, change: Change): Effect.Effect<void, SqlError | AgentError> {
    const sql = this.#sql
    const { approvals = [], events = [], messages = [], outcome, progress, status } = change
    return Effect.gen({ self: this }, function* () {
      const row = yield* this.#row(runId, "lock")
      if (row.epoch !== epoch || row.status !== "running") return yield* refuse(new Superseded({ runId }))
      yield* this.#ask(approvals)
      if (status === "ended") {
        const decided = decidedJson.encode({ decision: "expired", at: row.now })
        yield* sql`UPDATE toolspan_approvals SET decided = ${decided} WHERE run_id = ${runId} AND decided IS NULL`
      }
      // What was decided while it ran is found by whoever takes it next; so is what expires.
      const dueAt =
        status === "running"
          ? sql`${this.#now} + ${this.#lease}`
          : status === "ready" || (status === "waiting" && row.woken === 1)
            ? sql`0`
            : status === "waiting"
              ? sql`(SELECT MIN(expires_at) FROM toolspan_approvals WHERE run_id = ${runId} AND decided IS NULL)`
              : sql`NULL`
      yield* sql`UPDATE toolspan_runs SET status = ${status}, progress = ${progressJson.encode(progress)},
        outcome = ${outcome === undefined ? row.outcome : outcomeJson.encode(outcome)}, due_at = ${dueAt}
        WHERE run_id = ${runId}`
      yield* this.#append(row.conversation, messages)
      yield* this.#insert(
        "toolspan_events",
        events.map(({ event, number }) => ({ run_id: runId, number, event: eventJson.encode(event) }))
      )
    })
  }

  #cancel(runId: string) {
    const sql = this.#sql
    return Effect.gen({ self: this }, function* () {
      const { status } = yield* this.#row(runId, "lock")
      if (status === "ended") return false
      yield* status === "waiting"
        ? sql`UPDATE toolspan_runs SET cancelled = 1, status = 'ready', due_at = 0 WHERE run_id = ${runId}`
        : sql`UPDATE toolspan_runs SET cancelled = 1 WHERE run_id = ${runId}`
      return true
    })
  }

  #due(agents: ReadonlyArray<string>) {
    const sql = this.#sql
    if (agents.length === 0) return Effect.succeed([])
    return Effect.flatMap(
      sql<RunRow>`SELECT *, ${this.#now} AS now FROM toolspan_runs
        WHERE due_at <= ${this.#now} AND ${sql.in("agent", agents)} ORDER BY due_at LIMIT ${DUE_AT_ONCE}`,
      (rows) => reading(() => rows.map(toRun))
    )
  }

  #messages(conversation: string) {
    return Effect.flatMap(
      this.#sql<{ position: number; message: string }>`SELECT position, message FROM toolspan_messages
        WHERE conversation = ${conversation} ORDER BY position`,
      (rows) =>
        reading(() =>
          rows.map(({ message, position }) =>
            messageJson.decode(message, "toolspan_messages", `${conversation}/${position}`)
          )
        )
    )
  }

  #append(conversation: string, messages: ReadonlyArray<Prompt.Message>) {
    if (messages.length === 0) return Effect.void
    return Effect.flatMap(
      this.#sql<{
        position: number | null
      }>`SELECT MAX(position) AS position FROM toolspan_messages WHERE conversation = ${conversation}`,
      ([last]) => {
        const first = (last?.position ?? -1) + 1
        return this.#insert(
          "toolspan_messages",
          messages.map((message, index) => ({
            conversation,
            position: first + index,
            message: messageJson.encode(message)
          }))
        )
      }
    )
  }

  #ask(approvals: ReadonlyArray<Approval>) {
    return this.#insert(
      "toolspan_approvals",
      approvals.map((approval) => {
        const { approvalId, decided, expiresAt, requestedAt, runId, toolName, ...rest } = approval
        return {
          approval_id: approvalId,
          run_id: runId,
          tool_name: nameJson.encode(toolName),
          requested_at: requestedAt,
          expires_at: expiresAt ?? null,
          approval: approvalJson.encode({
            approvalId,
            runId,
            toolName,
            requestedAt,
            ...rest,
            ...(expiresAt !== undefined && { expiresAt })
          }),
          decided: decided === undefined ? null : decidedJson.encode(decided)
        }
      })
    )
  }

  #insert(table: string, rows: ReadonlyArray<Record<string, unknown>>) {
    const sql = this.#sql
    const chunks = Array.from({ length: Math.ceil(rows.length / ROWS) }, (_, index) =>
      rows.slice(index * ROWS, (index + 1) * ROWS)
    )
    return Effect.forEach(
      chunks,
      ([first, ...others]): Effect.Effect<unknown, SqlError> =>
        first === undefined ? Effect.void : sql`INSERT INTO ${sql(table)} ${sql.insert([first, ...others])}`,
      { discard: true }
    )
  }

  #beginCall(runId: string, epoch: number, key: CallKey, rerun: number | undefined) {
    const sql = this.#sql
    const { arguments: args, conversation, toolCallId } = key
    const toolName = nameJson.encode(key.toolName)
    return Effect.gen({ self: this }, function* () {
      const run = yield* this.#row(runId, "lock")
      if (run.epoch !== epoch || run.status !== "running") return yield* refuse(new Superseded({ runId }))
      const inserted = yield* sql`INSERT INTO toolspan_calls ${sql.insert({
        conversation,
        tool_call_id: toolCallId,
        tool_name: toolName,
        arguments: args,
        run_id: runId,
        epoch,
        attempt: 1,
        status: "started",
        started_at: run.now,
        result: null,
        resolved: null
      })} ON CONFLICT DO NOTHING RETURNING attempt`
      if (inserted.length === 1) return { _tag: "Run", attempt: 1 } satisfies Begun
      const [call] = yield* sql<CallRow>`SELECT * FROM toolspan_calls
        WHERE conversation = ${conversation} AND tool_call_id = ${toolCallId}${this.#forUpdate}`
      if (call === undefined)
        return yield* Effect.fail(new Damaged(`call "${toolCallId}" is there, and is not`))
      const [holder] =
        yield* sql<RunRow>`SELECT *, ${this.#now} AS now FROM toolspan_runs WHERE run_id = ${call.run_id}`
      const isHeld =
        holder !== undefined &&
        holder.epoch === call.epoch &&
        holder.status === "running" &&
        (holder.due_at ?? 0) > holder.now
      const isMine = call.run_id === runId && call.epoch === epoch
      const begun = yield* reading(() =>
        begunBefore(
          {
            toolName: nameOf(call),
            arguments: call.arguments,
            attempt: call.attempt,
            startedAt: call.started_at,
            result: toResult(call, call.resolved ?? call.result)
          },
          key,
          isMine ? "this worker" : isHeld ? "another" : "nobody",
          rerun
        )
      )
      if (begun._tag === "Run") {
        yield* sql`UPDATE toolspan_calls SET run_id = ${runId}, epoch = ${epoch}, attempt = ${begun.attempt},
          started_at = ${run.now} WHERE conversation = ${conversation} AND tool_call_id = ${toolCallId}`
      }
      return begun
    }) as Effect.Effect<Begun, SqlError | AgentError | Damaged>
  }

  #settleCall(
    { conversation, toolCallId }: CallKey,
    attempt: number,
    status: "ended" | "unknown",
    result: CallResult
  ) {
    return Effect.map(
      this.#sql`UPDATE toolspan_calls SET status = ${status}, result = ${resultJson.encode(result)}
        WHERE conversation = ${conversation} AND tool_call_id = ${toolCallId} AND attempt = ${attempt} AND status = 'started'
        RETURNING attempt`,
      (rows) => rows.length === 1
    )
  }

  #approval(approvalId: string) {
    return Effect.flatMap(
      this
        .#sql<ApprovalRow>`SELECT *, ${this.#now} AS now FROM toolspan_approvals WHERE approval_id = ${approvalId}`,
      ([row]) =>
        row === undefined ? refuse(new ApprovalNotFound({ approvalId })) : reading(() => toApproval(row))
    )
  }

  #decide(approvalId: string, verdict: Verdict) {
    const sql = this.#sql
    return Effect.gen({ self: this }, function* () {
      const { runId } = yield* this.#approval(approvalId)
      // The run first, as everybody does: then what was decided is known.
      const run = yield* this.#row(runId, "lock")
      const approval = yield* this.#approval(approvalId)
      const refusal = decisionRefusal(approval, verdict)
      if (refusal !== undefined) return yield* refuse(refusal)
      const now = decided(verdict.decision, run.now, verdict)
      yield* sql`UPDATE toolspan_approvals SET decided = ${decidedJson.encode(now)} WHERE approval_id = ${approvalId}`
      yield* run.status === "waiting"
        ? sql`UPDATE toolspan_runs SET woken = 1, due_at = 0 WHERE run_id = ${runId}`
        : sql`UPDATE toolspan_runs SET woken = 1 WHERE run_id = ${runId}`
      return { ...approval, decided: now }
    })
  }
}

/** How many runs one look gives. */
const DUE_AT_ONCE = 100
