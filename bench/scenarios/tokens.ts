import type { Bench, GatewayKind } from '../bench.ts'
import type { Credentials } from '../subjects/subject.ts'
import { loadFigures, measureLoad } from './load-figures.ts'
import { writeRequest } from './requests.ts'
import type { Contestant, Scenario } from './scenario.ts'

const shared = {
  figures: { ...loadFigures, perCore: { title: 'a second and core', digits: 0 } },
  compared: 'cpuUs',
  yardsticks: ['bare'],
} satisfies Partial<Scenario>

export const issue: Scenario = {
  ...shared,
  summary: 'Token issue: POST access-token',
  note:
    'ES256, accounts and sessions on Redis; 200 pairs of keys in turn. `OAuth 2`: the same pairs at the token endpoint, ' +
    'with `client_credentials`.',
  async open(bench) {
    const found = [
      ...(await openTokens(bench, ({ pairs }) => ({
        requests: pairs.map((pair) => postJson('access-token', pair)),
      }))),
    ]
    for (const kind of bench.gateways) {
      const oauth = await openGateway(bench, kind, ({ pairs }) => ({ requests: pairs.map(askToken) }))
      found.push({ ...oauth, name: `${oauth.name}: OAuth 2` })
    }
    return found
  },
}

export const refresh: Scenario = {
  ...shared,
  summary: 'Refresh: POST refresh-token',
  note: 'ES256, on Redis; each connection sends the token of its last answer.',
  open: (bench) =>
    openTokens(bench, ({ refreshTokens }) => ({
      requests: refreshTokens.map((token) => postJson('refresh-token', JSON.stringify({ token }))),
      isRefresh: true,
    })),
}

function postJson(name: string, body: string): string {
  const fields = { 'Content-Type': 'application/json', 'Content-Length': String(body.length) }
  return writeRequest(`POST /api/v1/accounts/${name}`, fields, body)
}

/** RFC 6749 4.4. */
function askToken(pair: string): string {
  // The cast is sound: the bench has made it.
  const { SecretKey, APIKey } = JSON.parse(pair) as Record<'SecretKey' | 'APIKey', string>
  const fields = { grant_type: 'client_credentials', client_id: APIKey, client_secret: SecretKey }
  const body = new URLSearchParams(fields).toString()
  const head = {
    'Content-Type': 'application/x-www-form-urlencoded',
    'Content-Length': String(body.length),
  }
  return writeRequest('POST /api/v1/oauth/token', head, body)
}

async function openTokens(
  bench: Bench,
  loadOf: (credentials: Credentials) => {
    readonly requests: readonly string[]
    readonly isRefresh?: boolean
  },
): Promise<readonly Contestant[]> {
  const found: Contestant[] = []
  for (const name of bench.available(['bare'])) {
    const subject = await bench.peer(name)
    const requests = [writeRequest('GET /')]
    found.push({ name, measure: () => measurePerCore(bench, subject, { requests }) })
  }
  for (const kind of bench.gateways) found.push(await openGateway(bench, kind, loadOf))
  return found
}

async function openGateway(
  bench: Bench,
  kind: GatewayKind,
  loadOf: Parameters<typeof openTokens>[1],
): Promise<Contestant> {
  const subject = await bench.gateway(kind, { onRedis: true })
  const load = loadOf(subject.credentials)
  return { name: kind.label, measure: () => measurePerCore(bench, subject, load) }
}

async function measurePerCore(...args: Parameters<typeof measureLoad>) {
  const figures = await measureLoad(...args)
  return { ...figures, perCore: 1_000_000 / (figures.cpuUs ?? Number.NaN) }
}
