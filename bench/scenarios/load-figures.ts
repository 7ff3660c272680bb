import type { Bench, GatewayKind } from '../bench.ts'
import type { LoadResults } from '../load/commands.ts'
import { cpuUsOf } from '../process-tree.ts'
import type { Subject } from '../subjects/subject.ts'
import type { Contestant, FigureKind, Figures } from './scenario.ts'

export const loadFigures: Readonly<Record<string, FigureKind>> = {
  cpuUs: { title: 'CPU µs a request', digits: 1 },
  perSecond: { title: 'requests a second', digits: 0 },
  busyPercent: { title: '% of its core', digits: 0 },
}

/** The same with the latency, which only wrk measures in a closed loop. */
export const loadFiguresWithLatency: Readonly<Record<string, FigureKind>> = {
  ...loadFigures,
  p99Ms: { title: 'p99 ms', digits: 1 },
}

interface Requests {
  readonly requests: readonly string[]
  readonly status?: number
  readonly isRefresh?: boolean
  readonly isNumbered?: boolean
  /** Default: those of the command line. */
  readonly connections?: number
}

/** What a gateway is measured with in several ways, by their names: each with the subject that it is sent to. */
export type Ways = Readonly<Record<string, readonly [Subject, Requests]>>

export function contestantsOf(bench: Bench, { label }: GatewayKind, ways: Ways): readonly Contestant[] {
  return Object.entries(ways).map(([way, [subject, requests]]) => ({
    name: `${label}: ${way}`,
    measure: () => measureLoad(bench, subject, requests),
  }))
}

/** What each request of a closed loop costs a subject. */
export async function measureLoad(
  bench: Bench,
  { url, pids }: Subject,
  { requests, status = 200, isRefresh = false, isNumbered = false, connections }: Requests,
): Promise<Figures> {
  const { durationMs } = bench.options
  const opened = connections ?? bench.options.connections
  const order = { kind: 'closed', url, requests, status, connections: opened, durationMs } as const
  return measureClosed(pids, () =>
    isRefresh ? bench.load<'closed'>({ ...order, isRefresh }) : bench.closedLoad({ ...order, isNumbered }),
  )
}

/** What each request of any closed loop costs these processes. */
export async function measureClosed(
  pids: readonly number[],
  run: () => Promise<LoadResults['closed']>,
): Promise<Figures> {
  const before = cpuUsOf(pids)
  const { answers, elapsedMs, p99Ms } = await run()
  const cpuUs = cpuUsOf(pids) - before
  return {
    cpuUs: cpuUs / answers,
    perSecond: (answers * 1_000) / elapsedMs,
    busyPercent: cpuUs / 10 / elapsedMs,
    ...(p99Ms !== undefined && { p99Ms }),
  }
}
