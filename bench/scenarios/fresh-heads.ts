import type { Bench, GatewayKind } from '../bench.ts'
import type { PeerName } from '../subjects/peers.ts'
import { contestantsOf, loadFiguresWithLatency, measureLoad } from './load-figures.ts'
import { fresh, tamper } from './requests.ts'
import type { Contestant, Scenario } from './scenario.ts'

/** With the access log, which gateways of the field have on. */
const observed = { config: { log: { level: 'info', access: true } } }

const shared = { figures: loadFiguresWithLatency, compared: 'cpuUs' } satisfies Partial<Scenario>
const fields =
  'The sixteen fields that a browser sends, of which `traceparent` and `X-Request-Id` never repeat; 200 tokens or keys in ' +
  'turn, answers of 15 bytes. The gateway writes its access log and its metrics.'

export const freshHeads: Scenario = {
  ...shared,
  summary: 'Fresh heads: what a request of a browser costs',
  yardsticks: ['haproxy', 'gatehouse: bearer'],
  note: `${fields} \`no access log\`: as the other scenarios.`,
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

function bearer(token: string) {
  return { Authorization: `Bearer ${token}` }
}

async function openPeers(
  bench: Bench,
  names: readonly PeerName[],
  line: string,
  sent = '',
): Promise<Contestant[]> {
  const { credentials } = await bench.gateway(bench.gateways[0], observed)
  const load = fresh(line, credentials.accessTokens.map(bearer), sent)
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
  const subject = await bench.gateway(kind, { ...observed, ...(isTls && { isTls }) })
  const line = sent === '' ? 'GET /any' : 'POST /any'
  const load = fresh(line, subject.credentials.accessTokens.map(bearer), sent)
  return { name: kind.label, measure: () => measureLoad(bench, subject, load) }
}

async function openWays(bench: Bench, kind: GatewayKind): Promise<readonly Contestant[]> {
  const subject = await bench.gateway(kind, observed)
  const quiet = await bench.gateway(kind)
  const { accessTokens, secretKeys } = subject.credentials
  const forged = accessTokens.map(tamper).map(bearer)
  return contestantsOf(bench, kind, {
    public: [subject, fresh('GET /public', [{}])],
    bearer: [subject, fresh('GET /any', accessTokens.map(bearer))],
    'bearer, no access log': [quiet, fresh('GET /any', quiet.credentials.accessTokens.map(bearer))],
    key: [
      subject,
      fresh(
        'GET /any',
        secretKeys.map((key) => ({ SecretKey: key })),
      ),
    ],
    'no key': [subject, { ...fresh('GET /any', [{}]), status: 401 }],
    'wrong signature': [subject, { ...fresh('GET /any', forged), status: 401 }],
  })
}
