/** The time by which something from outside must have arrived. */
export interface Deadline {
  clear(): void
}

/** The last part of the time, which must pass while the event loop runs. */
const lastPartMs = 100

/**
 * Waits for something from outside. The event loop runs timers before it reads from sockets, so after a standstill (it
 * was blocked, or the process suspended) a plain timer would refuse what has long arrived, and what could only be sent
 * after the standstill. So the last part of the time begins anew after one, and sockets are read once more at its end.
 * @param onMissed called once, unless it is cleared before
 */
export function startDeadline(timeoutMs: number, onMissed: () => void): Deadline {
  const lastMs = Math.min(lastPartMs, timeoutMs / 2)
  let immediate: NodeJS.Immediate | undefined
  let timer = setTimeout(() => {
    timer = setTimeout(() => {
      immediate = setImmediate(onMissed)
    }, lastMs)
  }, timeoutMs - lastMs)
  return {
    clear: () => {
      clearTimeout(timer)
      clearImmediate(immediate)
    },
  }
}

/**
 * The result of work that waits for something from outside.
 * @throws what `missed` returns, where there is none in time; the work goes on nevertheless
 */
export function inTime<Value>(work: Promise<Value>, timeoutMs: number, missed: () => Error): Promise<Value> {
  return new Promise((resolve, reject) => {
    const deadline = startDeadline(timeoutMs, () => reject(missed()))
    work.then(resolve, reject).finally(deadline.clear)
  })
}

/** As `AbortSignal.timeout`. @returns what to call once the work is over, too */
export function signalAtDeadline(timeoutMs: number): Deadline & { readonly signal: AbortSignal } {
  const controller = new AbortController()
  const { clear } = startDeadline(timeoutMs, () =>
    controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')),
  )
  return { signal: controller.signal, clear }
}
