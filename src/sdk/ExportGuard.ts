/**
 * Stands before an exporter, so that nothing an exporter or an endpoint does is lost without notice, or holds up the program.
 *
 * A batch that is refused as too large (413) is halved until only the item that is too large by itself is lost. An exporter that throws
 * has failed. What is finally lost is counted, by items. When the program ends, {@link ExportGuard.drain} gives the exporter a new
 * timeout, and {@link ExportGuard.abandon} ends what is still under way. Retries after 429, 502, 503, 504 and broken connections are the
 * OTLP exporters' own.
 */
import { diag } from "@opentelemetry/api"
import { core } from "@opentelemetry/sdk-node"
import type { Make } from "./Exporters.ts"
import type { Requests, Sender } from "./Requests.ts"

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
}

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
    const before = this.#inner
    try {
      this.#inner = this.#make(timeoutMillis)
    } catch {
      return
    }
    this.#sender.last = true
    this.#sender = { last: false }
    this.#before = shutDown(before)
  }

  /** Ends what is under way, as lost, and accepts nothing more. The promise: that the exporters have fallen silent. */
  async abandon(): Promise<void> {
    this.#abandoned = true
    for (const giveUp of this.#giveUp) giveUp()
    this.#sender.last = true
    await Promise.all([this.#before, shutDown(this.#inner)])
  }

  async #deliver(batch: Batch): Promise<core.ExportResult> {
    const result = await this.#send(batch)
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

const shutDown = async (exporter: { shutdown(): Promise<void> }): Promise<void> => {
  try {
    await exporter.shutdown()
  } catch (error) {
    diag.error("toolspan: an exporter could not be shut down", error)
  }
}
