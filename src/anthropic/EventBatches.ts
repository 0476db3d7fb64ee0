/**
 * An async iterator, such as the SDK's stream of events, read in batches: all that one read from the network brought is taken at once, and
 * comes on as what it was decoded to. To resume a fiber for each event would cost more than the SDK does to read it.
 */
import type * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Pull from "effect/Pull"

/** The most events that are read without a look at who waits for them. */
const limit = 1024

/** Takes events one by one as they are read. */
export interface Decoder<A, B, E> {
  /** Appends what the event says to a batch; a failure ends it all, after the batch. */
  readonly decode: (event: A, batch: Array<B>) => E | undefined
  /** A batch begins: nothing more will be appended to the one before. */
  readonly begin: () => void
}

export interface Options<A, B, E> extends Decoder<A, B, E> {
  /** For an iterator that fails. */
  readonly failure: (error: unknown) => E
  /** Whether nothing comes after this event. */
  readonly isLast: (event: A) => boolean
  /** The failure for an iterator that ends before the last event. */
  readonly cutOff: () => E
}

/** One pull at a time. Nothing is asked of the iterator until the first, and nothing more than one event ahead. */
export const pull = <A, B, E>(
  iterator: AsyncIterator<A, unknown>,
  { begin, cutOff, decode, failure, isLast }: Options<A, B, E>
): Pull.Pull<Arr.NonEmptyReadonlyArray<B>, E> => {
  /** What was asked for and has not been decoded. */
  let asked: Promise<IteratorResult<A, unknown>> | undefined
  let end: Pull.Pull<never, E> | undefined
  let complete = false

  return Effect.suspend(() => {
    if (end !== undefined) return end
    return Effect.callback<Arr.NonEmptyReadonlyArray<B>, E | Cause.Done>((resume) => {
      const batch: Array<B> = []
      let immediate: NodeJS.Immediate | undefined
      let closed = false

      const close = () => {
        // Events that say nothing are no reason to wake anybody.
        immediate = undefined
        if (closed || (batch.length === 0 && end === undefined)) return
        closed = true
        if (isNonEmpty(batch)) resume(Effect.succeed(batch))
        else if (end !== undefined) resume(end)
      }
      const fill = async () => {
        let count = 0
        while (!closed) {
          asked ??= iterator.next()
          const result = await asked
          // It came late, and stays asked for.
          if (closed) return
          asked = undefined
          if (result.done === true) {
            end = complete ? Cause.done() : Effect.fail(cutOff())
            break
          }
          const failed = decode(result.value, batch)
          if (failed !== undefined) {
            end = Effect.fail(failed)
            break
          }
          complete = isLast(result.value)
          // What is at hand comes before the next turn of the event loop, which is when more can come from the network.
          immediate ??= setImmediate(close)
          if (++count % limit === 0) close()
        }
        clearImmediate(immediate)
        close()
      }
      begin()
      fill().catch((error: unknown) => {
        if (closed) return
        asked = undefined
        end = Effect.fail(failure(error))
        clearImmediate(immediate)
        close()
      })
      return Effect.sync(() => {
        closed = true
        clearImmediate(immediate)
      })
    })
  })
}

const isNonEmpty = <A>(array: Array<A>): array is [A, ...Array<A>] => array.length > 0
