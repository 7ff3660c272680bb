import type { Bench, GatewayKind } from '../bench.ts'
import { observed } from './contestants.ts'
import { contestantsOf, loadFigures, measureLoad } from './load-figures.ts'
import { tamper, withKeys, withTokens, writeRequest } from './requests.ts'
import type { Contestant, Scenario } from './scenario.ts'

const peers = [
  'bare',
  'minimal-proxy',
  'haproxy',
  'haproxy-jwt',
  'nginx',
  'nginx-auth',
  'nginx-auth-cached',
  'http-proxy',
] as const

export const smallGet: Scenario = {
  summary: 'Small GET: what one request costs, by how it authenticates',
  figures: loadFigures,
  compared: 'cpuUs',
  yardsticks: ['haproxy', 'bare', 'gatehouse: auth none', 'gatehouse: bearer'],
  note:
    '200 tokens or keys in turn, answers of 15 bytes, a small head that repeats. `cold cache`: a cache of one entry, so that ' +
    'each key is looked up in SQLite. `token in the head`, `key in the head`: the same bytes as with a bearer or key, but on ' +
    'a public route; the token is forwarded to the backend. `wrong key` has a wrong checksum; `wrong signature` is a token ' +
    'that was seen before.',
  async open(bench) {
    const { credentials } = await bench.gateway(bench.gateways[0])
    const requests = withTokens('GET /any', credentials.accessTokens)
    const found: Contestant[] = []
    for (const name of bench.available(peers)) {
      const subject = await bench.peer(name)
      found.push({ name, measure: () => measureLoad(bench, subject, { requests }) })
    }
    for (const kind of bench.gateways) found.push(...(await openGateway(bench, kind)))
    return found
  },
}

async function openGateway(bench: Bench, kind: GatewayKind): Promise<readonly Contestant[]> {
  const subject = await bench.gateway(kind)
  const logging = await bench.gateway(kind, { config: observed })
  const cold = await bench.gateway(kind, { config: { cache: { entries: 1 } } })
  const { secretKeys, accessTokens } = subject.credentials
  const line = 'GET /any'
  return contestantsOf(bench, kind, {
    'auth none': [subject, { requests: [writeRequest('GET /public')] }],
    'auth none, token in the head': [subject, { requests: withTokens('GET /public', accessTokens) }],
    'auth none, key in the head': [subject, { requests: withKeys('GET /public', secretKeys) }],
    bearer: [subject, { requests: withTokens(line, accessTokens) }],
    'bearer, access log': [logging, { requests: withTokens(line, logging.credentials.accessTokens) }],
    key: [subject, { requests: withKeys(line, secretKeys) }],
    'key, cold cache': [cold, { requests: withKeys(line, cold.credentials.secretKeys) }],
    'no key': [subject, { requests: [writeRequest(line)], status: 401 }],
    'wrong key': [subject, { requests: withKeys(line, secretKeys.map(tamper)), status: 401 }],
    'wrong signature': [subject, { requests: withTokens(line, accessTokens.map(tamper)), status: 401 }],
  })
}
