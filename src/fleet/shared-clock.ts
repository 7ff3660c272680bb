/** A moment of performance.now() on the monotonic clock of the machine, which all its processes share; milliseconds. */
export function toSharedClock(now: number): number {
  return now + originMs
}

/** A moment on the clock of the machine as performance.now() of this process would have returned it. */
export function fromSharedClock(sharedMs: number): number {
  return sharedMs - originMs
}

const originMs = Number(process.hrtime.bigint()) / 1e6 - performance.now()
