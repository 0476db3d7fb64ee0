/**
 * SIGTERM and SIGINT for programs that do not handle them.
 */

const SIGNALS = ["SIGTERM", "SIGINT"] as const

/**
 * On the first of the signals: waits for `flush` and raises the signal again, without us listening, so that the process ends the way it
 * would have. Where the program listens itself, it decides when to end, and the signal is not raised again. A second signal is not waited
 * for. Returns how to stop listening.
 */
export const reraiseAfter = (flush: () => Promise<void>): (() => void) => {
  const stop = () => {
    for (const signal of SIGNALS) process.removeListener(signal, onSignal)
  }
  const onSignal = (signal: NodeJS.Signals) => {
    stop()
    const isHandled = process.listenerCount(signal) > 0
    void flush().finally(() => {
      if (!isHandled) process.kill(process.pid, signal)
    })
  }
  // First of all listeners: one that the program added with `once` is gone when the next is called.
  for (const signal of SIGNALS) process.prependListener(signal, onSignal)
  return stop
}
