import type { Bench } from '../bench.ts'
import type { PeerName } from '../subjects/peers.ts'
import type { Subject } from '../subjects/subject.ts'
import { observed, streamsOnly, withConnections, withoutInternals } from './contestants.ts'
import { loadFiguresWithLatency, measureLoad } from './load-figures.ts'
import { bearers, fresh, withTokens } from './requests.ts'
import type { Contestant, Scenario } from './scenario.ts'

const plainPeers = ['haproxy', 'nginx'] as const
const tlsPeers = ['haproxy-tls', 'nginx-tls'] as const

const shared = { figures: loadFiguresWithLatency, compared: 'cpuUs' } satisfies Partial<Scenario>
const bearer = 'Bearer, 200 tokens in turn, answers of 15 bytes.'
const browser =
  'Heads of a browser as in `fresh-heads`, with the access log; bearer, 200 tokens in turn, answers of 15 bytes.'
const newEach =
  'wrk sends `Connection: close`, and opens a connection for each request; those to the upstream are kept, where the ' +
  'subject keeps any.'

export const newConnections: Scenario = {
  ...shared,
  summary: 'Fresh heads: a new connection for each request',
  yardsticks: ['haproxy'],
  note:
    `${browser} ${newEach} ${streamsOnly} In a profile of the gateway half of the time is in the kernel: a quarter in ` +
    'the two writes, an eighth in closing, and the rest in accepting and reading.',
  open: (bench) => openAll(bench, plainPeers, { isClosing: true }),
}

export const tls: Scenario = {
  ...shared,
  summary: 'Small GET over TLS, connections kept alive',
  yardsticks: ['haproxy-tls'],
  note:
    `${bearer} A certificate on P-256, the default protocols and ciphers of each; the upstream is without TLS. ` +
    '`relay-tls` forwards bytes, and parses nothing; `minimal-proxy-tls` is the least that a proxy in Node does. ' +
    'By the accounting of the kernel, in turns of 3 s once warmed up, a request takes the gateway 10.9 µs in user space ' +
    'and 13.2 µs in the kernel, `minimal-proxy-tls` 6.7 and 12.6, HAProxy 7.1 and 13.0: 1.19 of HAProxy. What the ' +
    'gateway takes more is parsing, deciding, counting and rewriting, in which no function takes more than 0.4 µs. ' +
    'With 200 tokens a request takes 1 to 1.5 µs more than with one.',
  open: (bench) =>
    openAll(bench, [...tlsPeers, 'relay-tls', 'minimal-proxy-tls'], { isTls: true, repeats: true }),
}

export const tlsNewConnections: Scenario = {
  ...shared,
  summary: 'Fresh heads over TLS: a new connection for each request',
  yardsticks: ['haproxy-tls'],
  note:
    `${browser} ${newEach} A certificate on P-256, the default protocols and ciphers of each. Nearly all of it is the ` +
    'handshake: on kept connections HAProxy needs a seventeenth of this, the gateway a fourteenth.',
  open: (bench) => openAll(bench, tlsPeers, { isTls: true, isClosing: true }),
}

const connectionCounts = [300, 1_000] as const

export const manyConnections: Scenario = {
  ...shared,
  summary: 'Fresh heads over 300 and 1,000 connections at once',
  yardsticks: connectionCounts.map((count) => `haproxy: ${count} connections`),
  note:
    `${browser} All connections are opened in each run, so that it includes their first requests. ` +
    '`relay` shows what sockets of Node cost without HTTP. A connection that got no ' +
    'answer at all is not counted. `as many to the upstream`: the gateway may open as many connections to the ' +
    'upstream as there are clients; with the default it has at most 114 for one client network.',
  open: async (bench) => {
    const byCount = connectionCounts.flatMap((connections) => [
      openAll(bench, [...plainPeers, 'relay', 'minimal-proxy'], { connections }),
      openAll(bench, [], { connections, toUpstream: connections }),
    ])
    return (await Promise.all(byCount)).flat()
  },
}

interface Way {
  readonly isTls?: boolean
  readonly isClosing?: boolean
  /** Whether heads repeat, and there is no access log; the gateway is also measured with one token then. */
  readonly repeats?: boolean
  readonly connections?: number
  /** How many connections a gateway may open to the upstream; absent = the default. */
  readonly toUpstream?: number
}

/** These peers and every gateway, under the same load. @throws Error without wrk: ours keeps its connections */
async function openAll(bench: Bench, peers: readonly PeerName[], way: Way): Promise<readonly Contestant[]> {
  if (bench.options.load !== 'wrk') throw new Error('only wrk opens new connections, and measures latency')
  const { isTls = false, isClosing = false, repeats = false, connections, toUpstream } = way
  const asMany = toUpstream === undefined ? '' : ', as many to the upstream'
  const suffix = connections === undefined ? '' : `: ${connections} connections${asMany}`
  const config = {
    ...(!repeats && observed),
    ...(toUpstream !== undefined && withConnections(bench, toUpstream)),
  }
  function contestant(name: string, subject: Subject, accessTokens: readonly string[]): Contestant {
    const requests = repeats ? withTokens('GET /any', accessTokens) : freshRequests(accessTokens, isClosing)
    const load = { requests, isNumbered: !repeats, ...(connections !== undefined && { connections }) }
    return { name: `${name}${suffix}`, measure: () => measureLoad(bench, subject, load) }
  }
  const { credentials } = await bench.gateway(bench.gateways[0])
  const found: Contestant[] = []
  for (const name of bench.available(peers)) {
    found.push(contestant(name, await bench.peer(name), credentials.accessTokens))
  }
  for (const kind of bench.gateways) {
    const subject = await bench.gateway(kind, { config, ...(isTls && { isTls }) })
    const { accessTokens } = subject.credentials
    found.push(contestant(kind.label, subject, accessTokens))
    if (isClosing && !isTls) {
      const plain = await bench.gateway(kind, { config, nodeFlags: withoutInternals })
      found.push(contestant(`${kind.label}: streams only`, plain, plain.credentials.accessTokens))
    }
    if (repeats) found.push(contestant(`${kind.label}: one token`, subject, accessTokens.slice(0, 1)))
  }
  return found
}

function freshRequests(accessTokens: readonly string[], isClosing: boolean): readonly string[] {
  const { requests } = fresh('GET /any', bearers(accessTokens))
  return isClosing
    ? requests.map((request) => request.replace('Connection: keep-alive', 'Connection: close'))
    : requests
}
