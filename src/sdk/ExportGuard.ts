/**
 * Stands before an exporter, so that nothing an exporter or an endpoint does is lost without notice, or holds up the program.
 *
 * A batch that is refused as too large (413) is halved until only the item that is too large by itself is lost. A batch that fails for a
 * reason that passes (nobody listens, a timeout, 429, 502, 503, 504) is kept and sent again for as long as the program runs: the OTLP exporters' own
 * retries give up with their timeout, 10 seconds. How much is kept is bounded. An exporter that throws has failed. What is finally lost is
 * counted, by items. When the program ends, {@link ExportGuard.drain} gives the exporter a new timeout and what is kept its last try, and
 * {@link ExportGuard.abandon} ends what is still under way.
 */
import { diag } from "@opentelemetry/api"
import { core } from "@opentelemetry/sdk-node"
import type { Make } from "./Exporters.ts"
import { RETRIED, type Requests, type Sender } from "./Requests.ts"

/** What exporters of all three signals have in common. */
export interface Exporter<Batch> {
  export(batch: Batch, done: (result: core.ExportResult) => void): void
  forceFlush?(): Promise<void>
  shutdown(): Promise<void>
}

/** How to treat batches of a signal. */
export interface Batches<Batch> {
  /** The two halves; undefined where the batch cannot be divided. */
  readonly halves: (batch: Batch) => readonly [Batch, Batch] | undefined
  /** Hears what was finally lost. */
  readonly lost: (batch: Batch) => void
  /** How many items it has; 0 where a batch is not worth keeping. */
  readonly size: (batch: Batch) => number
  /** How many items are kept at most, to be sent again. */
  readonly kept: number
}

/** Milliseconds before a batch is sent again. */
const FIRST_PAUSE = 1000
const LONGEST_PAUSE = 5000

/** An exporter around an exporter. `make` makes the inner one; the constructor throws what it throws. */
export class ExportGuard<Batch, Inner extends Exporter<Batch> = Exporter<Batch>> implements Exporter<Batch> {
  readonly #make: Make<Inner>
  readonly #batches: Batches<Batch>
  readonly #requests: Requests
  readonly #pending = new Set<Promise<unknown>>()
  readonly #giveUp = new Set<() => void>()
  #inner: Inner
  #before: Promise<unknown> = Promise.resolve()
  #sender: Sender = { last: false }
  /** Items of the batches that wait to be sent again, and how to end their waiting. */
  #kept = 0
  readonly #wake = new Set<() => void>()
  #draining = false
  #abandoned = false

  constructor(make: Make<Inner>, batches: Batches<Batch>, requests: Requests) {
    this.#make = make
    this.#batches = batches
    this.#requests = requests
    this.#inner = make()
  }

  /** The exporter inside. */
  get inner(): Inner {
    return this.#inner
  }

  export(batch: Batch, done: (result: core.ExportResult) => void): void {
    const delivery = this.#deliver(batch)
      .then(done)
      .catch((error) => diag.error("toolspan: the end of an export could not be reported", error))
      .finally(() => this.#pending.delete(delivery))
    this.#pending.add(delivery)
  }

  async forceFlush(): Promise<void> {
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending)
  }

  async shutdown(): Promise<void> {
    await this.forceFlush()
    await this.#inner.shutdown()
  }

  /** From now on, sends are over within `timeoutMillis`, retries included, and what is under way is not retried after its next try. */
  drain(timeoutMillis: number): void {
    this.#draining = true
    const before = this.#inner
    try {
      this.#inner = this.#make(timeoutMillis)
    } catch {
      return
    } finally {
      for (const wake of this.#wake) wake()
    }
    this.#sender.last = true
    this.#sender = { last: false }
    this.#before = shutDown(before)
  }

  /** Ends what is under way, as lost, and accepts nothing more. The promise: that the exporters have fallen silent. */
  async abandon(): Promise<void> {
    this.#abandoned = true
    for (const giveUp of this.#giveUp) giveUp()
    for (const wake of this.#wake) wake()
    this.#sender.last = true
    await Promise.all([this.#before, shutDown(this.#inner)])
  }

  async #deliver(batch: Batch): Promise<core.ExportResult> {
    const result = await this.#persist(batch)
    if (result.code === core.ExportResultCode.SUCCESS) return result
    const halves = isTooLarge(result.error) ? this.#batches.halves(batch) : undefined
    if (halves === undefined) {
      this.#batches.lost(batch)
      return result
    }
    // One after the other: exporters limit how many sends they take at once.
    const first = await this.#deliver(halves[0])
    const second = await this.#deliver(halves[1])
    return first.code === core.ExportResultCode.SUCCESS ? second : first
  }

  /** Sends the batch until it is taken, refused for good, or there is no room to keep it. */
  async #persist(batch: Batch): Promise<core.ExportResult> {
    let result = await this.#send(batch)
    let pause = FIRST_PAUSE
    while (passes(result) && !this.#draining && !this.#abandoned) {
      const size = this.#batches.size(batch)
      if (size === 0 || this.#kept + size > this.#batches.kept) break
      this.#kept += size
      await this.#pause(pause)
      this.#kept -= size
      pause = Math.min(pause * 2, LONGEST_PAUSE)
      result = await this.#send(batch)
    }
    return result
  }

  /** Over earlier when the program ends. Keeps no process alive. */
  #pause(millis: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer)
        this.#wake.delete(wake)
        resolve()
      }
      const timer = setTimeout(wake, millis)
      timer.unref()
      this.#wake.add(wake)
    })
  }

  #send(batch: Batch): Promise<core.ExportResult> {
    return new Promise<core.ExportResult>((resolve) => {
      const fail = (error: unknown) =>
        resolve({
          code: core.ExportResultCode.FAILED,
          error: error instanceof Error ? error : new Error(String(error))
        })
      const giveUp = () => fail(new Error("toolspan: the telemetry was shut down before the export was over"))
      if (this.#abandoned) return giveUp()
      this.#giveUp.add(giveUp)
      const done = (result: core.ExportResult) => {
        this.#giveUp.delete(giveUp)
        resolve(result)
      }
      try {
        this.#requests.run(this.#sender, () => this.#inner.export(batch, done))
      } catch (error) {
        this.#giveUp.delete(giveUp)
        fail(error)
      }
    })
  }
}

const isTooLarge = (error: Error | undefined): boolean =>
  error !== undefined && "code" in error && error.code === 413

/** gRPC's codes that a later try may not meet: cancelled, too late, exhausted, aborted, out of range, unavailable, data loss. */
const passingGrpc: ReadonlySet<unknown> = new Set([1, 4, 8, 10, 11, 14, 15])

/** What the exporters say, without a code, of what they tried in vain or had no time for. */
const passingMessage = /\bwith retryable status|time(d )?out|concurrent export limit/i

/** Whether a later try may succeed, as OTLP has it: not what an endpoint refuses, and not what throws. */
const passes = ({ code, error }: core.ExportResult): boolean => {
  if (code === core.ExportResultCode.SUCCESS || error === undefined) return false
  const reason = "code" in error ? error.code : undefined
  if (typeof reason === "number") return RETRIED.has(reason) || passingGrpc.has(reason)
  return typeof reason === "string"
    ? /^E(CONN|TIMEDOUT|PIPE|HOST|NET|AI_AGAIN)/.test(reason)
    : passingMessage.test(error.message)
}

const shutDown = async (exporter: { shutdown(): Promise<void> }): Promise<void> => {
  try {
    await exporter.shutdown()
  } catch (error) {
    diag.error("toolspan: an exporter could not be shut down", error)
  }
}
