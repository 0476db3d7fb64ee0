/**
 * Hundreds of runs on workers that are killed all the time: at random, and at chosen points. What the tools did stands in a ledger that the
 * store knows nothing of.
 */
import { type ChildProcess, spawn } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import type * as Prompt from "effect/ai/Prompt"
import * as Effect from "effect/Effect"
import * as Approvals from "../../src/runtime/Approvals.ts"
import { RunStore } from "../../src/runtime/RunStore.ts"
import * as Ports from "../support/Ports.ts"
import * as Postgres from "../support/Postgres.ts"
import * as Program from "../support/Program.ts"
import * as Clerk from "./Clerk.ts"
import * as Points from "./Points.ts"
import * as Stores from "./Stores.ts"

interface Scenario {
  readonly workers: number
  readonly engine: "cluster" | "single" | "memory"
  /** How many at least: there are more until workers have died everywhere. */
  readonly runs: number
  /** Whether a worker is stopped for longer than its lease, now and then, and goes on after that. */
  readonly pauses?: boolean
}

/** Workers that are there as long as the scope; a dead one is replaced. */
class Workers {
  readonly #processes: Array<ChildProcess | undefined>
  readonly #args: (index: number) => ReadonlyArray<string>
  kills = 0
  pauses = 0
  deaths = 0
  readonly said: Array<string> = []
  /** Those that have started, and are not stopped. */
  readonly #ready = new Set<ChildProcess>()
  #ending = false

  constructor(count: number, args: (index: number) => ReadonlyArray<string>) {
    this.#args = args
    this.#processes = Array.from({ length: count }, (_, index) => this.#start(index))
  }

  #start(index: number): ChildProcess {
    const child = spawn(
      process.execPath,
      ["--conditions=toolspan-source", `${Program.root}test/crash/programs/worker.ts`, ...this.#args(index)],
      { env: Program.environment }
    )
    child.stderr.on("data", (chunk) => this.said.push(String(chunk)))
    child.stdout.on("data", (chunk) => {
      this.said.push(String(chunk))
      this.#ready.add(child)
    })
    child.on("exit", () => {
      this.deaths++
      this.#ready.delete(child)
      if (!this.#ending) this.#processes[index] = this.#start(index)
    })
    return child
  }

  /** Kills one of them; false if none works yet. */
  kill(): boolean {
    const child = this.#any()
    if (child === undefined) return false
    this.kills++
    this.#ready.delete(child)
    child.kill("SIGKILL")
    return true
  }

  /** Stops one for so long, then lets it go on: it knows nothing of it. False if none works yet. */
  pause(millis: number): boolean {
    const child = this.#any()
    if (child === undefined) return false
    this.pauses++
    this.#ready.delete(child)
    child.kill("SIGSTOP")
    setTimeout(() => {
      if (child.kill("SIGCONT")) this.#ready.add(child)
    }, millis)
    return true
  }

  async end(): Promise<void> {
    this.#ending = true
    await Promise.all(
      this.#processes.map(
        (child) =>
          new Promise((resolve) => {
            if (child === undefined || child.exitCode !== null || child.signalCode !== null) {
              return resolve(undefined)
            }
            child.once("exit", resolve)
            child.kill("SIGKILL")
          })
      )
    )
  }

  #any(): ChildProcess | undefined {
    return [...this.#ready][Math.floor(Math.random() * this.#ready.size)]
  }
}

const crash = (url: string, { engine, pauses = false, runs, workers: count }: Scenario) =>
  Effect.gen(function* () {
    const store = yield* RunStore
    const directory = fs.mkdtempSync(path.join(os.tmpdir(), "toolspan-crash-"))
    const ledger = path.join(directory, "ledger")
    fs.writeFileSync(ledger, "")
    const ports = yield* Effect.all(Array.from({ length: count }, () => Ports.free))
    const ledgerLines = () => fs.readFileSync(ledger, "utf8").trimEnd().split("\n")
    /** How often workers died at each point. */
    const deathsAtPoints = () => {
      const died = Object.fromEntries(Object.keys(Points.points).map((point) => [point, 0]))
      for (const line of ledgerLines()) {
        const [, point] = /^died (.*)$/.exec(line) ?? []
        if (point !== undefined) died[point] = (died[point] ?? 0) + 1
      }
      return died
    }
    /** Whether workers die at points; not at the end, so that the runs come to theirs. */
    let die = "die"
    const workers = new Workers(count, (index) => [url, engine, String(ports[index]), ledger, die])
    yield* Effect.addFinalizer(() =>
      Effect.promise(async () => {
        await workers.end()
        fs.rmSync(directory, { recursive: true })
      })
    )
    const ids: Array<string> = []
    const begin = (runId: string) =>
      store.begin({
        runId,
        conversation: runId,
        agent: "clerk",
        messages: [{ role: "user", content: [{ type: "text", text: runId }] }].map(toMessage),
        caller: undefined
      })
    /** Approvals that were seen waiting and not decided: none of them may ever be missing. */
    const waiting = new Map<string, string>()
    let decisions = 0
    let denied = 0
    const seeApprovals = Effect.gen(function* () {
      const pending = yield* Approvals.pending
      const now = new Set(pending.map(({ approvalId }) => approvalId))
      for (const [approvalId, call] of waiting) {
        if (!now.has(approvalId)) return yield* Effect.die(`the approval of ${call} is lost`)
      }
      for (const approval of pending) {
        waiting.set(approval.approvalId, approval.toolCallId)
        // Some wait for a while.
        if (Math.random() < 0.5) continue
        waiting.delete(approval.approvalId)
        decisions++
        if (Math.random() < 0.2) {
          denied++
          yield* Approvals.deny(approval, { reason: "no" })
        } else yield* Approvals.approve(approval)
      }
    })
    const unfinished = Effect.filter(ids, (runId) =>
      Effect.match(store.get(runId), {
        onSuccess: ({ status }) => status !== "ended",
        onFailure: () => true
      })
    )
    const since = Date.now()
    let next = Date.now()
    while (true) {
      yield* Effect.sleep(150)
      yield* seeApprovals
      const open = yield* unfinished
      // They die until there were enough deaths of each kind, however slow the machine is.
      const toKill = workers.kills < KILLS
      const toPause = pauses && workers.pauses < PAUSES
      const calm = !toKill && !toPause && Object.values(deathsAtPoints()).every((deaths) => deaths > 0)
      if (calm) die = ""
      else if ((toKill || toPause) && Date.now() > next) {
        const done =
          toPause && !(toKill && Math.random() < 0.6) ? workers.pause(Stores.LEASE * 1.7) : workers.kill()
        if (done) next = Date.now() + 700 + Math.random() * 1800
      }
      if (calm && ids.length >= runs) {
        if (open.length === 0) break
      } else {
        // They come a few at a time, while workers die.
        const coming = Array.from(
          { length: Math.max(0, Math.min(10, OPEN - open.length)) },
          (_, index) => `run-${ids.length + index}`
        )
        yield* Effect.forEach(coming, begin)
        ids.push(...coming)
      }
      if (Date.now() - since > PATIENCE) {
        const states = yield* Effect.forEach(open.slice(0, 5), store.get)
        return yield* Effect.die(
          `${open.length} runs do not end: ${JSON.stringify(states, undefined, 1)}\n${workers.said.slice(-20).join("")}`
        )
      }
    }
    yield* Effect.promise(() => workers.end())

    const lines = ledgerLines()
    const deaths = deathsAtPoints()
    const turns = ids.length * 4
    const times = (line: string) => lines.filter((other) => other === line).length
    const effects = lines.filter((line) => /^(transfer|pay) /.test(line))
    let unknown = 0
    let happened = 0
    for (const runId of ids) {
      const messages = yield* store.messages(runId)
      const calls = messages.flatMap(partsOf("tool-call"))
      const results = messages.flatMap(partsOf("tool-result"))
      assert.deepStrictEqual(
        calls.map(({ id }) => id),
        Array.from({ length: Clerk.CALLS }, (_, index) => `${runId}/${index + 1}`),
        "the calls of a run are those that the model made"
      )
      assert.deepStrictEqual(
        results.map(({ id }) => id),
        calls.map(({ id }) => id),
        "each call has one result, in its order"
      )
      for (const { id, isFailure, name, result } of results) {
        const done = times(`${name} ${id}`)
        const said = JSON.stringify(result)
        if (!isFailure) {
          assert.isAtLeast(done, 1, `${id} has a result, and nothing happened`)
          happened++
        }
        if (name === "look_up") continue
        assert.isAtMost(done, 1, `${name} ${id} happened twice`)
        if (said.includes("outcome-unknown")) unknown++
        else if (isFailure) {
          assert.strictEqual(done, 0, `${id} happened, and the model was told: ${said}`)
          assert.include(said, "execution-denied")
        }
      }
      const run = yield* store.get(runId)
      assert.strictEqual(run.outcome?._tag, "Finished", runId)
    }
    assert.deepStrictEqual(yield* Approvals.pending, [])
    assert.strictEqual((yield* store.unknownCalls).length, unknown, "the operator is told of each")
    const asked = lines.filter((line) => line.startsWith("asked")).length
    // An answer that is recorded is never asked for again; it is recorded before its calls are run. A worker that was stopped between its
    // look at the store and its question may still ask, as long as nobody hears it: that is rare.
    const late = askedLate(lines)
    assert.isAtMost(late.length, ids.length / 10, late.join("\n"))
    process.stdout.write(
      `[crash] ${engine}, ${count} workers, ${ids.length} runs, ${ids.length * Clerk.CALLS} calls: ${workers.deaths} deaths, ` +
        `${workers.pauses} pauses beyond the lease; ${decisions} decisions (${denied} denied); ${effects.length} effects, 0 twice; ` +
        `${happened} successes, ${unknown} outcomes unknown; ${asked} answers asked for, of ${turns}, ${late.length} of them late; ` +
        `${Math.round((Date.now() - since) / 1000)} s\n[crash] deaths: ${Object.entries(deaths)
          .map(([point, times]) => `${times} ${point}`)
          .join(", ")}\n`
    )
  }).pipe(Effect.scoped, Effect.provide(Stores.store(url)))

/** The answers that were asked for after a call of theirs, or of a later one, had run. */
const askedLate = (lines: ReadonlyArray<string>): ReadonlyArray<string> => {
  const reached = new Map<string, number>()
  return lines.filter((line) => {
    const [, run, turn] = /^asked (\S+) (\d+)$/.exec(line) ?? []
    if (run !== undefined) return Number(turn) < (reached.get(run) ?? 0)
    const [, runOfCall, call] = /^\w+ (\S+)\/(\d+)$/.exec(line) ?? []
    if (runOfCall !== undefined) {
      reached.set(runOfCall, Math.max(reached.get(runOfCall) ?? 0, Clerk.turnOf(Number(call)) + 1))
    }
    return false
  })
}

/** Until how many deaths from outside workers die; and until each point was the end of one. */
const KILLS = 12
const PAUSES = 4

/** How many runs there are at once. */
const OPEN = 60

/** How long all of it may take, in milliseconds. */
const PATIENCE = 600_000

const toMessage = (message: { readonly role: string; readonly content: unknown }) =>
  message as unknown as Prompt.Message

const partsOf =
  <Type extends "tool-call" | "tool-result">(type: Type) =>
  ({ content }: Prompt.Message): ReadonlyArray<Extract<Prompt.Part, { readonly type: Type }>> =>
    typeof content === "string"
      ? []
      : (content as ReadonlyArray<Prompt.Part>).filter(
          (part): part is Extract<Prompt.Part, { readonly type: Type }> => part.type === type
        )

describe("on a file", () => {
  const onFile = (scenario: Scenario) =>
    Effect.suspend(() => {
      const directory = fs.mkdtempSync(path.join(os.tmpdir(), "toolspan-crash-file-"))
      return Effect.ensuring(
        crash(path.join(directory, "runs.db"), scenario),
        Effect.sync(() => fs.rmSync(directory, { recursive: true }))
      )
    })
  it.live("nothing happens twice, and nothing is lost: one worker", () =>
    onFile({ engine: "single", workers: 1, runs: 150 })
  )
  it.live("nor with two workers, which are stopped now and then", () =>
    onFile({ engine: "memory", workers: 2, runs: 200, pauses: true })
  )
})

describe("on Postgres", () => {
  const onPostgres = (scenario: Scenario) =>
    Effect.scoped(Effect.flatMap(Postgres.start, ({ url }) => crash(url, scenario)))
  it.live("nothing happens twice, and nothing is lost: two workers", () =>
    onPostgres({ engine: "cluster", workers: 2, runs: 200 })
  )
  it.live("nor with three workers, which are stopped now and then", () =>
    onPostgres({ engine: "cluster", workers: 3, runs: 200, pauses: true })
  )
})
