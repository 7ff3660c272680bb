import type { Bench, GatewayKind } from '../bench.ts'
import type { Subject } from '../subjects/subject.ts'
import { contestantsOf, loadFiguresWithLatency, measureLoad, type Ways } from './load-figures.ts'
import { fresh, tamper } from './requests.ts'
import type { Contestant, Scenario } from './scenario.ts'

const peers = ['haproxy', 'nginx', 'minimal-proxy', 'relay'] as const

export const freshHeads: Scenario = {
  summary: 'Fresh heads: what a request of a browser costs',
  figures: loadFiguresWithLatency,
  compared: 'cpuUs',
  yardsticks: ['haproxy', 'gatehouse: bearer'],
  note:
    'The sixteen fields that a browser sends, of which `traceparent` and `X-Request-Id` never repeat; 200 tokens or keys ' +
    'in turn, answers of 15 bytes, access log and metrics on. `repeating`: a small head that comes again and again.',
  async open(bench) {
    const { credentials } = await bench.gateway(bench.gateways[0], observed)
    const load = fresh('GET /any', credentials.accessTokens.map(bearer))
    const found: Contestant[] = []
    for (const name of bench.available(peers)) {
      const subject = await bench.peer(name)
      found.push({ name, measure: () => measureLoad(bench, subject, load) })
    }
    for (const kind of bench.gateways) found.push(...(await openGateway(bench, kind)))
    return found
  },
}

const observed = { config: { log: { level: 'info', access: true } } }

function bearer(token: string) {
  return { Authorization: `Bearer ${token}` }
}

async function openGateway(bench: Bench, kind: GatewayKind): Promise<readonly Contestant[]> {
  const subject = await bench.gateway(kind, observed)
  const quiet = await bench.gateway(kind)
  return [
    ...contestantsOf(bench, kind, waysOf(subject)),
    ...contestantsOf(bench, kind, {
      'bearer, no access log': [quiet, fresh('GET /any', quiet.credentials.accessTokens.map(bearer))],
    }),
  ]
}

function waysOf(
  subject: Subject & {
    readonly credentials: { readonly accessTokens: readonly string[]; readonly secretKeys: readonly string[] }
  },
): Ways {
  const { accessTokens, secretKeys } = subject.credentials
  const keyed = secretKeys.map((key) => ({ SecretKey: key }))
  return {
    public: [subject, fresh('GET /public', [{}])],
    bearer: [subject, fresh('GET /any', accessTokens.map(bearer))],
    key: [subject, fresh('GET /any', keyed)],
    'no key': [subject, { ...fresh('GET /any', [{}]), status: 401 }],
    'wrong signature': [subject, { ...fresh('GET /any', accessTokens.map(tamper).map(bearer)), status: 401 }],
  }
}
