import t from 'tap'
import { askDecision, startDecideGateway } from '../gateway/decide/support.ts'
import { run } from './run.ts'

interface Explained {
  readonly decision: string
  readonly status: number
  readonly code?: string
  readonly route: string
  readonly steps: readonly {
    readonly step: string
    readonly facts: { readonly headers?: readonly Header[] }
  }[]
}

interface Header {
  readonly name: string
  readonly value: string
}

const routes = [
  { name: 'key', path: '/key', auth: 'secretKey' },
  { name: 'optional', path: '/optional', auth: 'optional' },
]

t.test('explain --decide prints what a proxy would be told', async (t) => {
  const identity = { headers: { session: 'X-User-Session' }, assertion: { enabled: true } }
  const gateway = await startDecideGateway(t, { config: { routes, identity } })
  const { account, secretKey } = await gateway.createAccount()
  const explain = async (args: readonly string[]) => {
    const outcome = await run(t, ['explain', '--config', gateway.configFile, '--json', ...args])
    t.equal(outcome.status, 0, outcome.stderr)
    return outcome.json() as Explained
  }
  const key = `SecretKey: ${secretKey}`
  const allowed = await explain(['--decide', 'GET', '/key', '-H', key])
  t.match(allowed, { decision: 'forward', status: 200, route: 'key' })
  const headers = allowed.steps.at(-1)?.facts.headers ?? []
  const told = await askDecision(t, gateway, { uri: '/key', headers: [key] })
  for (const { name, value } of headers) {
    const sent = told.headers[name.toLowerCase()]
    if (name === 'X-Request-Id') t.match(value, /new for each request/)
    else if (name === 'X-Gatehouse-Assertion') t.match(value, /^\(signed by the gateway for key, 60 s\)$/)
    else t.equal(value, sent, name)
  }
  t.match(headers, [
    { name: 'Cache-Control' },
    {},
    { name: 'X-User-Id', value: account.id },
    {},
    { value: '' },
    {},
  ])
  t.equal(headers.length, 6)
  const main = await explain(['GET', '/key', '-H', key])
  t.match(
    main,
    { decision: 'refuse', status: 404, code: 'route-not-found' },
    'no upstream: not on the main listener',
  )
  const anonymous = await explain(['--decide', 'GET', '/optional'])
  t.match(anonymous.steps.at(-1)?.facts.headers, [{}, {}, { name: 'X-User-Id', value: '' }])
  const own = await explain(['--decide', 'GET', '/portal/sign-in'])
  t.match(own, { decision: 'refuse', status: 404, code: 'route-not-found' })
})
