import type { Bench, GatewayKind } from '../bench.ts'
import type { PeerName } from '../subjects/peers.ts'
import { type Authorization, observed, streamsOnly, withoutInternals } from './contestants.ts'
import { contestantsOf, loadFiguresWithLatency, measureLoad } from './load-figures.ts'
import { bearers, fresh, keysOf, tamper } from './requests.ts'
import type { Contestant, Scenario } from './scenario.ts'

/** What many a gateway has in its config. */
const deployedConfig = {
  ...observed,
  trustedProxies: ['127.0.0.1'],
  cors: { origins: ['https://bench.example'] },
  routes: [{ name: 'api', path: '/api', upstream: 'backend', auth: 'any', stripPrefix: true }],
}

const shared = { figures: loadFiguresWithLatency, compared: 'cpuUs' } satisfies Partial<Scenario>
const fields =
  'The sixteen fields that a browser sends, of which `traceparent` and `X-Request-Id` never repeat; 200 tokens or keys in ' +
  'turn, answers of 15 bytes. The gateway writes its access log and its metrics.'

export const freshHeads: Scenario = {
  ...shared,
  summary: 'Fresh heads: what a request of a browser costs',
  yardsticks: ['haproxy', 'gatehouse: bearer'],
  note:
    `${fields} ${streamsOnly} \`behind a balancer\`: through a trusted proxy, with X-Forwarded-For, -Proto and -Host, ` +
    'to a route that strips a prefix, with CORS.',
  async open(bench) {
    const found = await openPeers(bench, ['haproxy', 'nginx', 'minimal-proxy', 'relay'], 'GET /any')
    for (const kind of bench.gateways) found.push(...(await openWays(bench, kind)))
    return found
  },
}

export const freshHeadsTls: Scenario = {
  ...shared,
  summary: 'Fresh heads over TLS',
  yardsticks: ['haproxy-tls'],
  note: `${fields} A certificate on P-256, connections kept alive.`,
  async open(bench) {
    const found = await openPeers(bench, ['haproxy-tls', 'nginx-tls', 'minimal-proxy-tls'], 'GET /any')
    for (const kind of bench.gateways) found.push(await openBearer(bench, kind, { isTls: true }))
    return found
  },
}

const body = 'x'.repeat(10_240)

export const freshPost: Scenario = {
  ...shared,
  summary: 'Fresh heads: a POST of 10 KiB',
  yardsticks: ['haproxy'],
  note: fields,
  async open(bench) {
    const found = await openPeers(bench, ['haproxy', 'nginx'], 'POST /any', body)
    for (const kind of bench.gateways) found.push(await openBearer(bench, kind, { body }))
    return found
  },
}

async function openPeers(
  bench: Bench,
  names: readonly PeerName[],
  line: string,
  sent = '',
): Promise<Contestant[]> {
  const { credentials } = await bench.gateway(bench.gateways[0], { config: observed })
  const load = fresh(line, bearers(credentials.accessTokens), sent)
  const found: Contestant[] = []
  for (const name of bench.available(names)) {
    const subject = await bench.peer(name)
    found.push({ name, measure: () => measureLoad(bench, subject, load) })
  }
  return found
}

async function openBearer(
  bench: Bench,
  kind: GatewayKind,
  { isTls = false, body: sent = '' }: { readonly isTls?: boolean; readonly body?: string },
): Promise<Contestant> {
  const subject = await bench.gateway(kind, { config: observed, ...(isTls && { isTls }) })
  const line = sent === '' ? 'GET /any' : 'POST /any'
  const load = fresh(line, bearers(subject.credentials.accessTokens), sent)
  return { name: kind.label, measure: () => measureLoad(bench, subject, load) }
}

async function openWays(bench: Bench, kind: GatewayKind): Promise<readonly Contestant[]> {
  const subject = await bench.gateway(kind, { config: observed })
  const plain = await bench.gateway(kind, { config: observed, nodeFlags: withoutInternals })
  const quiet = await bench.gateway(kind)
  const deployed = await bench.gateway(kind, { config: deployedConfig })
  const { accessTokens, secretKeys } = subject.credentials
  const freshBearers = (tokens: readonly string[]) => fresh('GET /any', bearers(tokens))
  return contestantsOf(bench, kind, {
    public: [subject, fresh('GET /public', [{}])],
    bearer: [subject, freshBearers(accessTokens)],
    'bearer, no access log': [quiet, freshBearers(quiet.credentials.accessTokens)],
    'bearer, streams only': [plain, freshBearers(plain.credentials.accessTokens)],
    'bearer, behind a balancer': [
      deployed,
      fresh('GET /api/any', bearers(deployed.credentials.accessTokens).map(withForwarding)),
    ],
    key: [subject, fresh('GET /any', keysOf(secretKeys))],
    'no key': [subject, { ...fresh('GET /any', [{}]), status: 401 }],
    'wrong signature': [subject, { ...freshBearers(accessTokens.map(tamper)), status: 401 }],
  })
}

/** What a load balancer adds to what a client sends. */
function withForwarding(credential: Authorization): Authorization {
  return {
    ...credential,
    'X-Forwarded-For': '198.51.100.7',
    'X-Forwarded-Proto': 'https',
    'X-Forwarded-Host': 'bench.example',
  }
}
