import type { ChildProcess } from 'node:child_process'
import { Redis } from 'ioredis'
import { type RedisServer, startRedis } from '../../test/setup/redis.ts'
import type { Report } from '../drills/figures.ts'
import { type InstanceGroup, startInstanceGroup } from '../drills/instance-group.ts'
import { rssBytesOf } from '../process-tree.ts'
import { cores, startModule } from '../processes.ts'
import type { ReadyMessage } from '../report-url.ts'
import type { Scope } from '../scope.ts'
import { runKeyClient, runResetClient, runTokenClient, type SoakContext, sleep } from './clients.ts'
import { FaultLog } from './faults.ts'
import { runHostileClient } from './hostile-client.ts'
import { createFaults, type Target } from './inject.ts'
import { ResponseChecker } from './response-checker.ts'
import { createSender } from './send.ts'

export interface SoakOptions {
  readonly seconds: number
  /** Chooses the faults: the same seed gives the same order. */
  readonly seed: number
}

const lanes = { key: 8, token: 6, reset: 3 } as const
const hostileClients = 2
/** Between two faults: as long as the previous one may explain responses, and a while without any. */
const calmMs = 2_000
/** How much more memory a run may end with than it had after its first third. */
const growth = { share: 1.25, mib: 24 } as const
const mib = 1_048_576
/** How long all workers compile what the load needs: on two cores each waits for the others, longer than for Redis. */
const startMs = 2_000
const starvedMs = 60
/** The gateways wait 100 ms for a write. */
const slowStoreMs = 60

/** Mixed load over two instances with two workers each while faults are injected: every response is checked. */
export async function soak(scope: Scope, report: Report, { seconds, seed }: SoakOptions): Promise<void> {
  const redis = await startRedis(scope, ['--appendonly', 'yes', '--appendfsync', 'always'])
  const targets = {
    http1: [await startTarget(scope, 'http1'), await startTarget(scope, 'http1')],
    http2: [await startTarget(scope, 'http2'), await startTarget(scope, 'http2')],
  }
  const fleet = await startInstanceGroup(scope, {
    backendUrl: '',
    stores: [{ url: redis.url }, { url: redis.url }],
    config: configOf(targets),
  })
  const { send, close } = createSender()
  scope.teardown(close)
  const faults = new FaultLog()
  const ledger = new ResponseChecker(faults)
  const startedAt = performance.now()
  faults.note({ name: 'start', explains: ['store-unavailable'] }, startedAt, startMs)
  const isOver = () => performance.now() - startedAt > seconds * 1_000
  const urls = fleet.instances.map(({ url }) => url)
  const shared: SoakContext = {
    send,
    ledger,
    urls,
    isOver,
    isStoreAtRisk: () => faults.isAtRisk('store-unavailable'),
  }
  const people = await createPeople(fleet)

  const work = Promise.all([
    Promise.all(people.key.map((account) => runKeyClient(shared, account))),
    Promise.all(people.token.map((account) => runTokenClient(shared, account))),
    Promise.all(people.reset.map((account) => runResetClient(shared, account, people.admin))),
    Promise.all(Array.from({ length: hostileClients }, (_, index) => runHostileClient(shared, seed + index))),
  ])
  const memory = watchMemory(fleet, isOver)
  void watchMachine(faults, isOver)
  void watchStore(redis, faults, isOver)
  const injection = inject(
    faults,
    createFaults({
      redis,
      instances: fleet.instances,
      targets: { http1: targets.http1[0], http2: targets.http2[0] },
    }),
    { seed, isOver },
  )
  const [[, sessions, resets, attacks]] = await Promise.all([work, injection])
  const rss = await memory

  report.line(`seed ${seed}; ${ledger.answered} requests; faults: ${faults.counts()}`)
  report.line(`${attacks.reduce((sum, count) => sum + count, 0)} attacks by hostile clients of HTTP/2`)
  report.line([...ledger.kinds].map(([kind, count]) => `${kind}: ${count}`).join(', '))
  for (const example of ledger.examples) report.line(example)
  report.demand('0 answers crossed', ledger.crossed === 0, String(ledger.crossed))
  report.demand('0 unexplained statuses', ledger.unexplained === 0, String(ledger.unexplained))
  const lost = sessions.filter((isAlive) => !isAlive).length
  report.demand('every session lives on', lost === 0, `${lost} of ${sessions.length} lost`)
  const broken = resets.reduce((sum, each) => sum + each.broken, 0)
  const acknowledged = resets.reduce((sum, each) => sum + each.acknowledged, 0)
  report.demand('every acknowledged reset holds', broken === 0, `${broken} of ${acknowledged} do not`)
  report.demand(
    `memory at the end <= ${growth.share} x that after a third, + ${growth.mib} MiB`,
    rss.end <= rss.third * growth.share + growth.mib * mib,
    `${(rss.third / mib).toFixed(0)} MiB, then ${(rss.end / mib).toFixed(0)} MiB`,
  )
}

type Targets = Readonly<Record<Protocol, readonly (Target & { readonly url: string })[]>>
type Protocol = 'http1' | 'http2'

function configOf(targets: Targets): object {
  const upstreamOf = (protocol: Protocol) => ({
    protocol,
    targets: targets[protocol].map(({ url }) => ({ url })),
    health: { passive: { maxFailures: 3, window: '5s', ejectFor: '2s' } },
    timeouts: { response: '5s' },
  })
  return {
    listen: { port: 0, workers: 2 },
    upstreams: { http1: upstreamOf('http1'), http2: upstreamOf('http2') },
    routes: [
      { name: 'public', path: '/public', upstream: 'http1', auth: 'none' },
      { name: 'public-h2', path: '/public/h2', upstream: 'http2', auth: 'none' },
      // What hostile clients ask for: on the connections of everybody else.
      { name: 'attacked', path: '/public/attack', upstream: 'http2', auth: 'none' },
      { name: 'any', path: '/', upstream: 'http1', auth: 'any' },
      { name: 'h2', path: '/h2', upstream: 'http2', auth: 'any' },
    ],
    shutdown: { drain: '5s' },
  }
}

async function startTarget(scope: Scope, protocol: Protocol): Promise<Target & { readonly url: string }> {
  const start = (...args: readonly string[]) =>
    startModule<ReadyMessage>(scope, {
      core: cores.load,
      file: './soak/backend.ts',
      args: [protocol, ...args],
    })
  let { child, ready } = await start()
  const url = ready.url
  return {
    url,
    child: (): ChildProcess => child,
    restart: async () => {
      ;({ child, ready } = await start(new URL(url).port))
    },
  }
}

async function createPeople({ operate }: InstanceGroup) {
  const count = lanes.key + lanes.token + lanes.reset + 1
  const made = await operate(({ accounts }) =>
    accounts.createAll(
      Array.from({ length: count }, (_, index) => ({
        email: `soak${index}@example.com`,
        firstName: '',
        lastName: '',
        role: index === 0 ? 'Admin' : 'User',
        isVerified: true,
      })),
    ),
  )
  const [admin, ...rest] = made
  if (!admin) throw new Error('no account was made')
  return {
    admin,
    key: rest.slice(0, lanes.key),
    token: rest.slice(lanes.key, lanes.key + lanes.token),
    reset: rest.slice(lanes.key + lanes.token),
  }
}

/** One fault after another, in an order chosen by the seed, with pauses between them and at the end. */
async function inject(
  log: FaultLog,
  faults: ReturnType<typeof createFaults>,
  { seed, isOver }: { readonly seed: number; isOver(): boolean },
): Promise<void> {
  let state = seed
  while (!isOver()) {
    // A linear congruential generator (Numerical Recipes): the order only has to be varied and reproducible.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    const fault = faults[Math.floor((state / 2 ** 32) * faults.length)]
    await sleep(calmMs)
    if (fault && !isOver()) await log.run(fault)
  }
}

/** A machine too busy to run this process on time is also too busy for Redis to respond on time (100 ms). */
async function watchMachine(faults: FaultLog, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const from = performance.now()
    await sleep(10)
    const isStarved = performance.now() - from > starvedMs
    if (isStarved) faults.note({ name: 'machine busy', explains: ['store-unavailable'] }, from)
  }
}

/** A disk that is busy for long delays each acknowledgement of Redis (appendfsync), whoever asks. */
async function watchStore({ port }: RedisServer, faults: FaultLog, isOver: () => boolean): Promise<void> {
  const redis = new Redis({ host: '127.0.0.1', port, maxRetriesPerRequest: null })
  redis.on('error', () => {})
  for (let turn = 0; !isOver(); turn++) {
    const from = performance.now()
    await redis.set('soak:probe', turn)
    if (performance.now() - from > slowStoreMs)
      faults.note({ name: 'Redis slow', explains: ['store-unavailable'] }, from)
    await sleep(20)
  }
  redis.disconnect()
}

/** Resident memory of all instances, a third into the run and at its end: the median of a few samples each. */
async function watchMemory({ instances }: InstanceGroup, isOver: () => boolean) {
  const looks: number[] = []
  while (!isOver()) {
    await sleep(500)
    const look = rssOf(instances)
    if (look !== undefined) looks.push(look)
  }
  const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
  const third = Math.floor(looks.length / 3)
  return { third: median(looks.slice(third, third + 9)), end: median(looks.slice(-9)) }
}

/** undefined while a worker is exiting: its memory is already released, or it exits before it is sampled. */
function rssOf(instances: InstanceGroup['instances']): number | undefined {
  try {
    const bytes = rssBytesOf(instances.flatMap(({ child: { pid } }) => pid ?? []))
    return Number.isNaN(bytes) ? undefined : bytes
  } catch {
    return undefined
  }
}
