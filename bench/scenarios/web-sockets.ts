import { readFileSync } from 'node:fs'
import type { Bench, GatewayKind } from '../bench.ts'
import { rssBytesOf } from '../process-tree.ts'
import { inScope } from '../scope.ts'
import type { Gatehouse } from '../subjects/gatehouse.ts'
import type { PeerName } from '../subjects/peers.ts'
import type { Subject } from '../subjects/subject.ts'
import { writeRequest } from './requests.ts'
import type { Contestant, Figures, Scenario } from './scenario.ts'

const wanted = 10_000
const settleMs = 500
const idleMs = 30_000

export const webSockets: Scenario = {
  summary: '10,000 idle WebSockets',
  figures: {
    kibEach: { title: 'KiB each', digits: 2 },
    open: { title: 'held open', digits: 0 },
  },
  compared: 'kibEach',
  skipsWarmUp: true,
  yardsticks: ['relay'],
  note:
    'Growth of resident memory, in a new process for each run, divided by the number of WebSockets, half a minute ' +
    'after they were opened: V8 collects what the opening has left once a process has been idle for some 20 s. ' +
    'Until then it is about twice as much. `relay` holds ' +
    'the same two sockets for each WebSocket and does nothing else: the difference from `relay` is what a ' +
    'WebSocket needs beyond its sockets. A proxy opens two files for each WebSocket. If a process may not open ' +
    'enough files, the run holds as many WebSockets as the limit allows, with 500 files left for other uses: ' +
    '9,750 WebSockets with a limit of 20,000 files.',
  async open(bench) {
    const names = bench.available(['relay', 'haproxy', 'nginx', 'http-proxy'])
    return [
      ...names.map((name): Contestant => ({ name, measure: () => measureIdle(bench, name) })),
      ...bench.gateways.map(
        (kind): Contestant => ({
          name: kind.label,
          measure: () => measureIdle(bench, kind),
        }),
      ),
    ]
  },
}

function measureIdle(bench: Bench, who: PeerName | GatewayKind): Promise<Figures> {
  return inScope(async (scope) => {
    const subject = await bench.fresh(scope, who)
    const request = writeRequest('GET /any/ws', { ...authorizationOf(subject), ...upgradeFields })
    const connections = Math.min(wanted, mostHeld())
    const order = { kind: 'idle', url: subject.url, request } as const
    // The first ones load what all need.
    await bench.load<'idle'>({ ...order, connections: 100 })
    const before = await settledRss(subject)
    const { open } = await bench.load<'idle'>({ ...order, connections: connections + 100 })
    await new Promise((resolve) => setTimeout(resolve, idleMs))
    const after = await settledRss(subject)
    await bench.load<'close'>({ kind: 'close' })
    return { kibEach: (after - before) / 1_024 / (open - 100), open: open - 100 }
  })
}

/** RFC 6455 1.2. */
const upgradeFields = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
}

function authorizationOf(subject: Subject | Gatehouse): Readonly<Record<string, string>> {
  if (!('credentials' in subject)) return {}
  return { Authorization: `Bearer ${subject.credentials.accessTokens[0]}` }
}

/** A proxy has two sockets for each, and some other files. */
function mostHeld(): number {
  const [, limit] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
  return Math.floor((Number(limit) - 500) / 2)
}

/** Resident memory once it is stable. */
async function settledRss({ pids }: Subject): Promise<number> {
  let last = rssBytesOf(pids)
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, settleMs))
    const now = rssBytesOf(pids)
    if (Math.abs(now - last) < 262_144) return now
    last = now
  }
}
