import { performance } from 'node:perf_hooks'

/**
 * Points in time, in milliseconds since 1970 by the clock of the system, which can be set forwards and backwards. They
 * are stored, signed, and compared with those of other machines.
 */
export type EpochMs = number & { readonly clock?: 'system' }

/**
 * Moments in this process, in milliseconds on the clock of performance.now(), for durations. It cannot be set, but may
 * stop while the machine is suspended.
 */
export type MonotonicMs = number & { readonly clock?: 'monotonic' }

/**
 * What is called `clock` reads the clock of the system, what is called `monotonic` the other. A function that has a moment
 * of both calls the first `time` and the second `now`.
 */
export type Clock = () => EpochMs
export type MonotonicClock = () => MonotonicMs

/** The global `performance` is a getter, too slow for each request. */
export const monotonicClock: MonotonicClock = () => performance.now()

/** @param lateMs how late it is called, in milliseconds */
type Tick = (lateMs: number) => void

const periodMs = 1_000

const ticks = new Set<Tick>()
let timer: NodeJS.Timeout | undefined
let dueAt = 0

/**
 * Calls a function once a second, together with all others, so that an idle process wakes up once for all of them. Does
 * not keep the process running. The first call comes within a second.
 * @returns a function that stops the calls
 */
export function everySecond(tick: Tick): () => void {
  ticks.add(tick)
  if (timer === undefined) {
    dueAt = performance.now() + periodMs
    timer = setInterval(tickAll, periodMs).unref()
  }
  return () => {
    ticks.delete(tick)
    if (ticks.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

function tickAll(): void {
  const now = performance.now()
  const lateMs = now - dueAt
  dueAt = now + periodMs
  for (const tick of ticks) tick(lateMs)
}
