import { basename } from 'node:path'
import { startRedis } from '../test/setup/redis.ts'
import type { LoadCommand, LoadResults } from './load/commands.ts'
import { calibrateWrk, runWrk } from './load/wrk.ts'
import { ask, cores, startModule } from './processes.ts'
import type { ReadyMessage } from './report-url.ts'
import type { Scope } from './scope.ts'
import { type Gatehouse, type GatehouseOptions, startGatehouse } from './subjects/gatehouse.ts'
import { isInstalled, type PeerName, peers } from './subjects/peers.ts'
import type { Subject } from './subjects/subject.ts'
import { makeTlsFiles } from './subjects/tls-files.ts'

/** The command line options. */
export interface BenchOptions {
  /** Only these; all = every available one. */
  readonly peerNames: readonly PeerName[]
  /** Another checkout of the gateway, measured beside this one. */
  readonly against: string | undefined
  readonly load: 'wrk' | 'own'
  readonly connections: number
  readonly durationMs: number
  /** Idle time before each turn: some hosts grant CPU credits for idle time. */
  readonly restMs: number
}

/** A gateway to be measured, by its name in the results. */
export interface GatewayKind {
  readonly label: string
  readonly checkout: string
}

/** What scenarios use: started once, stopped with the scope. */
export interface Bench {
  /** What is started in it is stopped at the end. */
  readonly scope: Scope
  readonly options: BenchOptions
  readonly upstreamUrl: string
  /** The one of this checkout first. */
  readonly gateways: readonly [GatewayKind, ...GatewayKind[]]
  /** The selected and available ones of a list. */
  available(names: readonly PeerName[]): readonly PeerName[]
  /** Always the same one. */
  peer(name: PeerName): Promise<Subject>
  /** The same one for the same config. */
  gateway(kind: GatewayKind, changes?: Changes): Promise<Gatehouse>
  /** A separate peer or gateway: for measurements that leave state in a process. */
  fresh(scope: Scope, who: PeerName | GatewayKind): Promise<Subject>
  /** Runs a command in the load generator. */
  load<Kind extends LoadCommand['kind']>(
    order: Extract<LoadCommand, { kind: Kind }>,
  ): Promise<LoadResults[Kind]>
  /** Calibrates a request rate, with wrk if selected; the result sends the requests. */
  openPace(order: Extract<LoadCommand, { kind: 'paced' }>): Promise<() => Promise<LoadResults['paced']>>
  /** A closed loop, by wrk if selected. */
  closedLoad(order: Extract<LoadCommand, { kind: 'closed' }>): Promise<LoadResults['closed']>
}

type Changes = Pick<GatehouseOptions, 'config' | 'nodeFlags'> & {
  readonly onRedis?: boolean
  readonly isTls?: boolean
}

export async function openBench(scope: Scope, options: BenchOptions): Promise<Bench> {
  const { ready } = await startModule<ReadyMessage>(scope, { core: cores.load, file: 'upstream.ts' })
  const upstreamUrl = ready.url
  const { child: maker } = await startModule(scope, { core: cores.load, file: 'load/generator.ts' })
  const own: GatewayKind = { label: 'gatehouse', checkout: process.cwd() }
  const other = options.against && { label: basename(options.against), checkout: options.against }
  const gateways: Bench['gateways'] = other ? [own, other] : [own]

  const redis = remember(() => startRedis(scope))
  const gateway = remember(
    async (kind: GatewayKind, { config, nodeFlags, onRedis = false, isTls = false }: Changes = {}) =>
      startGatehouse(scope, {
        upstreamUrl,
        checkout: kind.checkout,
        ...(config && { config }),
        ...(nodeFlags && { nodeFlags }),
        ...(isTls && { tls: makeTlsFiles(scope) }),
        // Each has its own database there.
        ...(onRedis && { redisUrl: `${(await redis()).url}/${gateways.indexOf(kind)}` }),
      }),
  )
  async function startPeer(into: Scope, name: PeerName, before: string): Promise<Subject> {
    const { credentials } = await gateway(own)
    return peers[name].start({ scope: into, upstreamUrl: before, credentials })
  }
  const peer = remember((name: PeerName) => startPeer(scope, name, upstreamUrl))

  return {
    scope,
    options,
    upstreamUrl,
    gateways,
    available: (names) =>
      names.filter((name) => options.peerNames.includes(name) && isThere(peers[name].program)),
    peer,
    gateway,
    fresh: async (into, who) => {
      // Its own upstream too: ports of closed connections to another stay in use for a minute (TIME_WAIT).
      const { ready: own } = await startModule<ReadyMessage>(into, { core: cores.load, file: 'upstream.ts' })
      return typeof who === 'string'
        ? startPeer(into, who, own.url)
        : startGatehouse(into, { upstreamUrl: own.url, checkout: who.checkout })
    },
    load: (order) => ask(maker, order),
    openPace: async (order) => (options.load === 'wrk' ? calibrateWrk(order) : () => ask(maker, order)),
    closedLoad: (order) => (options.load === 'wrk' ? runWrk(order) : ask(maker, order)),
  }
}

/** Peers of a list whose program is not on PATH. */
export function missingPeers(names: readonly PeerName[]): readonly PeerName[] {
  return names.filter((name) => !isThere(peers[name].program))
}

function isThere(program: string | undefined): boolean {
  return program === undefined || isInstalled(program)
}

/** Memoizes by key. */
function remember<Words extends readonly unknown[], Thing>(
  make: (...words: Words) => Promise<Thing>,
): (...words: Words) => Promise<Thing> {
  const made = new Map<string, Promise<Thing>>()
  return (...words) => {
    const key = JSON.stringify(words)
    const thing = made.get(key) ?? make(...words)
    made.set(key, thing)
    return thing
  }
}
