import { performance } from 'node:perf_hooks'

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
