import t, { type Test } from 'tap'
import { ask } from '../gateway/support/ask.ts'
import { startBackend } from '../setup/backend.ts'
import { startGateway, type TestGateway } from '../setup/gateway.ts'
import { rawRequest } from '../setup/raw-client.ts'
import { run } from './run.ts'

interface Explained {
  readonly decision: string
  readonly status: number
  readonly code?: string
  readonly steps: readonly {
    readonly step: string
    readonly outcome: string
    readonly detail: string
    readonly facts: Readonly<Record<string, unknown>>
  }[]
}

const visit = ['Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: document', 'Sec-Fetch-Site: same-origin']
const page = '/app/orders?a=1&token=abc'
const browser = { cookie: true, signIn: true }
const app = { name: 'app', path: '/app', upstream: 'backend', auth: 'any', browser }
const config = { accessCookie: { enabled: true }, routes: [app] }

async function explain(t: Test, { configFile }: TestGateway, args: readonly string[]): Promise<Explained> {
  const outcome = await run(t, ['explain', ...args, '--config', configFile, '--json'])
  t.equal(outcome.status, 0, outcome.stderr)
  return outcome.json() as Explained
}

function flagsOf(headers: readonly string[]): readonly string[] {
  return headers.flatMap((header) => ['-H', header])
}

t.test('explain says of a page visit that it is led to the sign-in, as the gateway does', async (t) => {
  const gateway = await startGateway(t, { backend: (await startBackend(t)).url, config })
  const { secretKey } = await gateway.createAccount()
  const looping = async (count: number) => {
    const { headers } = await ask(t, gateway.url, `GET ${page}`, visit)
    const [, key] = /gatehouse-visit=([^.]+)\.1/.exec(String(headers['set-cookie'])) ?? []
    return [...visit, `Cookie: gatehouse-visit=${key}.${count}`]
  }
  for (const [what, headers, status, code] of [
    ['without a credential', visit, 303, 'credentials-missing'],
    ['with a broken cookie', [...visit, 'Cookie: accessToken=x.y.z'], 303, 'token-invalid'],
    ['of an old browser', ['Accept: text/html'], 303, 'credentials-missing'],
    ['that came back four times', await looping(4), 303, 'credentials-missing'],
    ['that came back too often', await looping(5), 401, 'credentials-missing'],
    ['that is none', ['Accept: application/json'], 401, 'credentials-missing'],
    ['with a wrong key', [...visit, 'SecretKey: gsk_x'], 401, 'secret-key-invalid'],
    ['with a right key', [...visit, `SecretKey: ${secretKey}`], 200, undefined],
  ] as const) {
    const explained = await explain(t, gateway, ['GET', page, ...flagsOf(headers)])
    const answer = await ask(t, gateway.url, `GET ${page}`, headers)
    t.equal(answer.status, status, `the gateway answers a visit ${what}`)
    const decision = status === 200 ? 'forward' : 'refuse'
    t.match(explained, { decision, status, ...(code !== undefined && { code }) }, what)
    if (status === 200) continue
    const { outcome, facts, detail } = explained.steps.at(-1) ?? {}
    t.equal(outcome, 'refused')
    t.equal(typeof facts?.location === 'string', status === 303, what)
    if (status === 303) {
      t.equal(facts?.location, String(answer.headers.location).split('?')[0])
      t.equal(facts?.returnTo, '/app/orders?a=1&token=[secret]', 'without secrets')
      t.match(detail, '303, Location: /portal/continue, and then back to /app/orders?a=1&token=[secret]')
    }
  }
  const { detail } =
    (await explain(t, gateway, ['GET', page, ...flagsOf(await looping(5))])).steps.at(-1) ?? {}
  t.match(detail, 'the access cookie did not come back')
  const flags = [...flagsOf(visit), '--config', gateway.configFile]
  const { stdout } = await run(t, ['explain', 'GET', page, ...flags])
  t.match(stdout, /\nrefuse: 303 credentials-missing\n$/)
  t.notMatch(stdout, '  check: ', 'nobody is told to send a key')
})

t.test('explain --decide says where a page visit has to sign in', async (t) => {
  const gateway = await startGateway(t, {
    config: { ...config, decide: { port: 0 }, trustedProxies: ['127.0.0.1'] },
  })
  const described = ['X-Forwarded-Method: GET', 'X-Forwarded-Host: app.test', `X-Forwarded-Uri: ${page}`]
  const told = await ask(t, gateway.decideUrl, 'GET /decide', [...described, ...visit])
  const explained = await explain(t, gateway, ['--decide', 'GET', page, ...flagsOf(visit)])
  t.match(explained, { decision: 'refuse', status: told.status, code: 'credentials-missing' })
  t.equal(explained.steps.at(-1)?.facts.location, String(told.headers.location).split('?')[0])
})

t.test('explain knows a portal on a host of its own, and the hosts that it leads back to', async (t) => {
  const gateway = await startGateway(t, {
    config: {
      ...config,
      publicUrl: 'https://app.example.com',
      portal: { host: 'auth.example.com' },
      accessCookie: { enabled: true, name: '__Host-accessToken' },
    },
  })
  for (const [host, location] of [
    ['app.example.com', 'https://auth.example.com/portal/continue'],
    ['other.example.net', undefined],
  ] as const) {
    const headers = [...visit, `Host: ${host}`]
    const answer = await rawRequest(t, gateway.url, [`GET ${page} HTTP/1.1`, ...headers])
    const explained = await explain(t, gateway, ['GET', page, ...flagsOf(headers)])
    t.equal(explained.status, answer.status, host)
    t.equal(explained.status, location === undefined ? 401 : 303, host)
    t.equal(explained.steps.at(-1)?.facts.location, location)
    t.equal(answer.headers.location?.split('?')[0], location)
  }
})
