import type { Log } from '#platform/log/log.ts'

/** Resolves at the first signal to stop; the second ends the process. */
export function stopSignal(log: Log): Promise<void> {
  return new Promise((resolve) => {
    let stoppingSince: number | undefined
    function onSignal(signal: NodeJS.Signals): void {
      const now = performance.now()
      if (stoppingSince !== undefined && now - stoppingSince < duplicateSignalMs) return
      log.info({ signal }, stoppingSince === undefined ? 'stopping' : 'stopping immediately')
      // The log is flushed at the exit.
      if (stoppingSince !== undefined) process.exit(2)
      stoppingSince = now
      resolve()
    }
    takeOver('SIGTERM', onSignal)
    takeOver('SIGINT', onSignal)
  })
}

/** npm repeats a signal that was sent to the whole process group: both count as one. */
const duplicateSignalMs = 100

/**
 * Reloads at SIGHUP. One that comes before `start` is kept until then: the config may have been read before it.
 * Several at once count as one.
 * @param reload may be called again before it has resolved
 */
export function reloadAtSignal(reload: () => Promise<unknown>) {
  let isStarted = false
  let isDue = false

  function reloadIfDue(): void {
    if (!isDue || !isStarted) return
    isDue = false
    void reload()
  }

  takeOver('SIGHUP', () => {
    isDue = true
    setImmediate(reloadIfDue)
  })
  return {
    start: () => {
      isStarted = true
      reloadIfDue()
    },
  }
}

/** Listens to a signal in place of main.ts. Its listener goes last: without any, a signal would end the process. */
function takeOver(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): void {
  const before = process.listeners(signal)
  process.on(signal, listener)
  for (const each of before) process.off(signal, each)
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Runs work that leaves nothing behind if a signal stops it: the work has to end when `stop` is aborted, and only then
 * does the signal end the process. A second signal ends it at once.
 */
export async function stoppable<Result>(work: (stop: AbortSignal) => Promise<Result>): Promise<Result> {
  const controller = new AbortController()
  let received: NodeJS.Signals | undefined
  const stop = (signal: NodeJS.Signals) => {
    if (received) release()
    received ??= signal
    controller.abort()
  }
  const release = () => {
    for (const signal of signals) process.off(signal, stop)
  }
  for (const signal of signals) process.on(signal, stop)
  try {
    return await work(controller.signal)
  } finally {
    release()
    if (received) await endBy(received)
  }
}

async function endBy(signal: NodeJS.Signals): Promise<never> {
  process.kill(process.pid, signal)
  return new Promise(() => {})
}

/** Passes batches on until the signal; then it throws. */
export async function* until<Batch>(
  stop: AbortSignal | undefined,
  batches: AsyncIterable<Batch>,
): AsyncGenerator<Batch> {
  for await (const batch of batches) {
    stop?.throwIfAborted()
    yield batch
  }
}
