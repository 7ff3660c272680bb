const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Runs work that leaves nothing behind where a signal stops it: it has to end when `stop` is aborted, and the process
 * ends by the signal only then. A second signal ends it at once.
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
