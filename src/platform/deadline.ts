/** The time by which something from outside must have arrived. */
export interface Deadline {
  clear(): void
}

/** The last part of the time, which must pass while the event loop runs. */
const lastPartMs = 100

/**
 * Waits for something from outside. The event loop runs timers before it reads from sockets. After a standstill (it was
 * blocked, or the process was suspended) a plain timer would therefore fire although the answer has already arrived, or
 * although the question could not be sent before. So the last part of the time starts anew after a standstill, and
 * sockets are read once more at its end.
 * @param onMissed called once, unless it is cleared first
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
 * @throws what `missed` returns, if there is no result in time; the work continues nevertheless
 */
export function inTime<Value>(work: Promise<Value>, timeoutMs: number, missed: () => Error): Promise<Value> {
  return new Promise((resolve, reject) => {
    const deadline = startDeadline(timeoutMs, () => reject(missed()))
    work.then(resolve, reject).finally(deadline.clear)
  })
}

/** Whether work succeeds in time; if it does not, it continues nevertheless. */
export function isInTime(work: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  return inTime(work, timeoutMs, () => new Error('late')).then(
    () => true,
    () => false,
  )
}

/** Like `AbortSignal.timeout`. @returns the signal, and `clear`, to be called once the work is over */
export function signalAtDeadline(timeoutMs: number): Deadline & { readonly signal: AbortSignal } {
  const controller = new AbortController()
  const { clear } = startDeadline(timeoutMs, () =>
    controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')),
  )
  return { signal: controller.signal, clear }
}
