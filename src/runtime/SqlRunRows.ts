/**
 * The rows of the SQL store, and what they say. A row that cannot be read is named.
 */
import * as Prompt from "effect/ai/Prompt"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Stored } from "./AgentEvent.ts"
import { Approval, Decided } from "./ApprovalRecord.ts"
import { Outcome } from "./Outcome.ts"
import { CallResult, Progress, type Run, type Status, type UnknownCall } from "./RunStore.ts"

/** A row that cannot be read: the table, and which row. */
export class Damaged extends Error {}

/** Reads rows; one that is damaged is a failure that names it. */
export const reading = <A>(read: () => A): Effect.Effect<A, Damaged> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(read())
    } catch (error) {
      if (error instanceof Damaged) return Effect.fail(error)
      throw error
    }
  })

const json = <A>(codec: Schema.Codec<A, unknown>) => {
  const text = Schema.fromJsonString(Schema.toCodecJson(codec))
  const decode = Schema.decodeUnknownSync(text)
  const encode = Schema.encodeSync(text)
  return {
    encode: (value: A): string => encode(value),
    decode: (value: unknown, table: string, id: string): A => {
      try {
        return decode(value)
      } catch (cause) {
        throw new Damaged(`table ${table}, row "${id}" cannot be read`, { cause })
      }
    }
  }
}

export const messageJson = json(Prompt.Message)
export const progressJson = json(Progress)
export const outcomeJson = json(Outcome)
export const resultJson = json(CallResult)
export const approvalJson = json(Approval)
export const decidedJson = json(Decided)
export const eventJson = json(Stored)
/** Names that a model makes: any text at all, which Postgres takes only escaped. */
export const nameJson = json(Schema.String)

export interface RunRow {
  readonly run_id: string
  readonly conversation: string
  readonly agent: string
  readonly status: Status
  readonly epoch: number
  readonly due_at: number | null
  readonly woken: number
  readonly cancelled: number
  readonly progress: string
  readonly outcome: string | null
  readonly now: number
}

export interface CallRow {
  readonly conversation: string
  readonly tool_call_id: string
  readonly tool_name: string
  readonly arguments: string
  readonly run_id: string
  readonly epoch: number
  readonly attempt: number
  readonly status: "started" | "ended" | "unknown"
  readonly started_at: number
  readonly result: string | null
  readonly resolved: string | null
}

export interface ApprovalRow {
  readonly approval_id: string
  readonly run_id: string
  readonly expires_at: number | null
  readonly approval: string
  readonly decided: string | null
  readonly now: number
}

export const toRun = (row: RunRow): Run => ({
  runId: row.run_id,
  conversation: row.conversation,
  agent: row.agent,
  status: row.status,
  epoch: row.epoch,
  progress: progressJson.decode(row.progress, "toolspan_runs", row.run_id),
  outcome: row.outcome === null ? undefined : outcomeJson.decode(row.outcome, "toolspan_runs", row.run_id),
  cancelled: row.cancelled === 1
})

/** The approval as it stands now: one that nobody has decided in time is expired, whether that was written or not. */
export const toApproval = (row: ApprovalRow): Approval => {
  const approval = approvalJson.decode(row.approval, "toolspan_approvals", row.approval_id)
  if (row.decided !== null) {
    return { ...approval, decided: decidedJson.decode(row.decided, "toolspan_approvals", row.approval_id) }
  }
  return row.expires_at !== null && row.expires_at <= row.now
    ? { ...approval, decided: { decision: "expired", at: row.expires_at } }
    : approval
}

export const toResult = (row: CallRow, text: string | null): CallResult | undefined =>
  text === null
    ? undefined
    : resultJson.decode(text, "toolspan_calls", `${row.conversation}/${row.tool_call_id}`)

export const nameOf = (row: CallRow): string =>
  nameJson.decode(row.tool_name, "toolspan_calls", `${row.conversation}/${row.tool_call_id}`)

export const toUnknown = (row: CallRow): UnknownCall => ({
  conversation: row.conversation,
  toolCallId: row.tool_call_id,
  toolName: nameOf(row),
  arguments: row.arguments,
  runId: row.run_id,
  startedAt: row.started_at,
  attempt: row.attempt,
  resolved: toResult(row, row.resolved)
})
