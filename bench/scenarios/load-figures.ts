import type { Bench } from '../bench.ts'
import { cpuUsOf } from '../process-tree.ts'
import type { Subject } from '../subjects/subject.ts'
import type { FigureKind, Figures } from './scenario.ts'

export const loadFigures: Readonly<Record<string, FigureKind>> = {
  cpuUs: { title: 'CPU µs a request', digits: 1 },
  perSecond: { title: 'requests a second', digits: 0 },
  busyPercent: { title: '% of its core', digits: 0 },
}

interface Requests {
  readonly requests: readonly string[]
  readonly status?: number
  readonly isRefresh?: boolean
  readonly isNumbered?: boolean
}

/** What each request of a closed loop costs a subject. */
export async function measureLoad(
  bench: Bench,
  { url, pids }: Subject,
  { requests, status = 200, isRefresh = false, isNumbered = false }: Requests,
): Promise<Figures> {
  const { connections, durationMs } = bench.options
  const order = { kind: 'closed', url, requests, status, connections, durationMs } as const
  const before = cpuUsOf(pids)
  const { answers, elapsedMs } = isRefresh
    ? await bench.load<'closed'>({ ...order, isRefresh })
    : await bench.closedLoad({ ...order, isNumbered })
  const cpuUs = cpuUsOf(pids) - before
  return {
    cpuUs: cpuUs / answers,
    perSecond: (answers * 1_000) / elapsedMs,
    busyPercent: cpuUs / 10 / elapsedMs,
  }
}
