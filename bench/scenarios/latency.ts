import { availableParallelism } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench, BenchOptions } from '../bench.ts'
import type { LoadResults } from '../load/commands.ts'
import { stealMs } from '../process-tree.ts'
import type { Subject } from '../subjects/subject.ts'
import { warmUpTurns } from '../warm-up.ts'
import { measureLoad } from './load-figures.ts'
import { withTokens } from './requests.ts'
import type { Contestant, Figures, Scenario } from './scenario.ts'

const peers = ['haproxy', 'haproxy-jwt', 'nginx', 'nginx-auth-cached', 'http-proxy'] as const

export const latency: Scenario = {
  summary: 'Added latency of a small GET at half load',
  figures: {
    addedP50Ms: { title: 'p50 added ms', digits: 3 },
    addedP99Ms: { title: 'p99 added ms', digits: 3 },
    perSecond: { title: 'requests a second', digits: 0 },
    loadPercent: { title: '% of its most', digits: 0 },
    stolenPercent: { title: '% stolen', digits: 0 },
  },
  compared: 'addedP99Ms',
  skipsWarmUp: true,
  yardsticks: ['haproxy'],
  note:
    'Each subject gets half of its maximum rate, which is the best of three runs before. Added latency: the ' +
    "subject's latency minus that of the upstream asked directly, at the same rate just before. A negative figure " +
    'is noise: the direct run happened to be slower. With wrk each connection waits for a random time before its ' +
    'next request, in whole milliseconds only, so requests come in bunches; if the rate leaves 32 connections no ' +
    'time to wait between two requests, more connections are used. With the load of `bench/load/` requests follow ' +
    'a schedule, some about every millisecond; a request that is due while all connections are busy waits, and ' +
    'this time counts as latency. `% stolen`: the share of the time of all cores that a virtual machine did not ' +
    'get from its host. A hundredth of a second of stolen time is the last percentile of a second, so a run with ' +
    'stolen time is repeated, up to five times.',
  async open(bench) {
    const found: Contestant[] = []
    const { credentials } = await bench.gateway(bench.gateways[0])
    const requests = withTokens('GET /any', credentials.accessTokens)
    for (const name of bench.available(peers)) {
      found.push(await openOne(bench, { name, subject: await bench.peer(name), requests }))
    }
    for (const kind of bench.gateways) {
      const subject = await bench.gateway(kind)
      const own = withTokens('GET /any', subject.credentials.accessTokens)
      found.push(await openOne(bench, { name: kind.label, subject, requests: own }))
    }
    return found
  },
}

interface Entry {
  readonly name: string
  readonly subject: Subject
  readonly requests: readonly string[]
}

async function openOne(bench: Bench, { name, subject, requests }: Entry): Promise<Contestant> {
  let most = 0
  for (let turn = 0; turn < warmUpTurns(bench.options.durationMs); turn++) {
    const { perSecond = 0 } = await measureLoad(bench, subject, { requests })
    most = Math.max(most, perSecond)
  }
  const { connections, durationMs } = bench.options
  const order = {
    kind: 'paced',
    requests,
    status: 200,
    connections,
    durationMs,
    perSecond: most / 2,
  } as const
  const sendDirect = await bench.openPace({ ...order, url: bench.upstreamUrl })
  const sendThrough = await bench.openPace({ ...order, url: subject.url })
  return { name, measure: () => measureAdded(bench.options, { sendDirect, sendThrough, most }) }
}

interface Sends {
  sendDirect(): Promise<LoadResults['paced']>
  sendThrough(): Promise<LoadResults['paced']>
  /** Maximum requests per second of the subject. */
  readonly most: number
}

/** How often a turn with steal time is repeated at most; the best one counts. */
const attemptsMax = 6

async function measureAdded({ restMs, durationMs }: BenchOptions, sends: Sends): Promise<Figures> {
  let best = await measureOnce(durationMs, sends)
  for (let attempt = 1; attempt < attemptsMax && best.stolenPercent > 0; attempt++) {
    await sleep(restMs)
    const next = await measureOnce(durationMs, sends)
    if (next.stolenPercent < best.stolenPercent) best = next
  }
  return best
}

async function measureOnce(durationMs: number, { sendDirect, sendThrough, most }: Sends) {
  // At this rate, and after idle time, JIT-compiled programs behave differently.
  await sendThrough()
  const before = stealMs()
  const direct = await sendDirect()
  const through = await sendThrough()
  const perSecond = (through.answers * 1_000) / durationMs
  return {
    addedP50Ms: through.p50Ms - direct.p50Ms,
    addedP99Ms: through.p99Ms - direct.p99Ms,
    perSecond,
    loadPercent: (perSecond / most) * 100,
    stolenPercent: ((stealMs() - before) / (2 * durationMs) / availableParallelism()) * 100,
  }
}
