import t from 'tap'
import { startGateway } from '../setup/gateway.ts'
import { run } from './run.ts'

interface Step {
  readonly step: string
  readonly detail: string
  readonly facts: Readonly<Record<string, unknown>>
}

const route = { upstream: 'backend', auth: 'none' }
const routes = [
  { ...route, name: 'orders', path: '/orders', stripPrefix: true },
  { ...route, name: 'sockets', path: '/sockets', websocket: true },
]
t.test('explain decides about a Destination, and says what is wrong with it', async (t) => {
  const { configFile } = await startGateway(t, {
    config: {
      routes: [...routes, { ...route, name: 'admin', path: '/admin', auth: 'any', roles: ['Admin'] }],
    },
  })
  const explainMove = async (destination: string) => {
    const header = `Destination: ${destination}`
    const url = 'http://gateway.test/orders/x'
    const { stdout } = await run(t, ['explain', 'MOVE', url, '-H', header, '--config', configFile, '--json'])
    const { steps, ...decision } = JSON.parse(stdout) as { readonly steps: readonly Step[] }
    return { ...decision, step: steps.find(({ step }) => step === 'destination'), last: steps.at(-1) }
  }
  t.match(await explainMove('http://gateway.test/orders/y?token=hidden-text'), {
    decision: 'forward',
    step: { detail: 'allowed; the upstream gets Destination: http://gateway.test/y?token=[secret]' },
    last: {
      facts: { headers: [{ name: 'Host' }, { name: 'Destination', value: /^http:\/\/gateway\.test\/y\?/ }] },
    },
  })
  for (const [destination, reason] of [
    ['/admin/x', 'is on the route admin, which requires a credential'],
    ['http://evil.example/orders/y', 'is on another host'],
    ['/orders/../y', 'is ambiguous'],
    ['/portal', "is a path of the gateway's own"],
    ['/nowhere', 'is refused: route-not-found'],
  ] as const)
    t.match(await explainMove(destination), {
      decision: 'refuse',
      status: 403,
      code: 'destination-forbidden',
      step: { outcome: 'refused', detail: `The destination is not allowed: the Destination ${reason}.` },
    })
})

t.test('explain decides about the source of a copy', async (t) => {
  const admin = { ...route, name: 'admin', path: '/orders/admin', auth: 'any', roles: ['Admin'] }
  const { configFile } = await startGateway(t, { config: { routes: [...routes, admin] } })
  const explainCopy = async (source: string) => {
    const flags = ['-H', `X-Amz-Copy-Source: ${source}`, '--config', configFile, '--json']
    const { stdout } = await run(t, ['explain', 'PUT', 'http://gateway.test/orders/x', ...flags])
    return JSON.parse(stdout) as { readonly decision: string; readonly steps: readonly Step[] }
  }
  const allowed = await explainCopy('bucket/y')
  t.equal(allowed.decision, 'forward')
  t.match(
    allowed.steps.find(({ step }) => step === 'destination'),
    { detail: 'allowed; the upstream gets X-Amz-Copy-Source: bucket/y' },
  )
  t.match(allowed.steps.at(-1), { facts: { headers: [{ name: 'Host' }, { name: 'X-Amz-Copy-Source' }] } })
  const refused = await explainCopy('admin/y')
  t.match(refused, { decision: 'refuse', code: 'destination-forbidden' })
  t.match(refused.steps.at(-1), {
    detail: /the X-Amz-Copy-Source is on the route admin, which requires a credential/,
  })
})

const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']

t.test('explain names a stripped prefix, and an upgrade that is not proxied', async (t) => {
  const { configFile } = await startGateway(t, { config: { routes, trustedProxies: ['127.0.0.1'] } })
  const upstreamStep = async (path: string, headers: readonly string[]): Promise<Step> => {
    const flags = headers.flatMap((header) => ['-H', header])
    const url = `http://gateway.test${path}`
    const { stdout } = await run(t, ['explain', 'GET', url, ...flags, '--config', configFile, '--json'])
    const step = (JSON.parse(stdout) as { steps: Step[] }).steps.at(-1)
    if (step?.step !== 'upstream') throw new Error(stdout)
    return step
  }
  const orders = await upstreamStep('/orders/x', ['X-Forwarded-Prefix: /outer'])
  t.match(
    orders.detail,
    'receives GET /x (without the prefix /orders; /outer/orders is put back before the paths of Location, Content-Location, Refresh, Link and Set-Cookie)',
  )
  t.match(orders.facts, { strippedPrefix: '/orders', forwardedPrefix: '/outer/orders', target: '/x' })
  t.match(JSON.stringify(orders.facts), '{"name":"X-Forwarded-Prefix","value":"/outer/orders"}')

  const ignored = await upstreamStep('/orders', upgrade)
  t.match(ignored.detail, 'as an ordinary request without Upgrade: the route has no websocket: true')
  t.equal(ignored.facts.isUpgradeIgnored, true)
  const other = await upstreamStep('/sockets', ['Connection: Upgrade', 'Upgrade: h2c'])
  t.match(other.detail, 'no other protocol is proxied')
  const proxied = await upstreamStep('/sockets', upgrade)
  t.notMatch(proxied.detail, /ordinary|prefix/)
  t.notOk('isUpgradeIgnored' in proxied.facts)
})

t.test(
  'explain names what stands in place of a prefix, the fields of the answer, and a closed route',
  async (t) => {
    const responseHeaders = { set: { 'Cache-Control': 'no-store' }, remove: ['Server'] }
    const { configFile } = await startGateway(t, {
      config: {
        routes: [
          { ...route, name: 'realtime', path: '/realtime/v1', rewrite: '/socket', responseHeaders },
          { name: 'closed', path: '/realtime/v1/admin', auth: 'deny' },
        ],
      },
    })
    const explained = async (path: string) => {
      const { stdout } = await run(t, ['explain', 'GET', path, '--config', configFile, '--json'])
      return JSON.parse(stdout) as { readonly steps: readonly Step[] }
    }
    t.match((await explained('/realtime/v1/x')).steps.at(-1), {
      detail:
        'backend receives GET /socket/x (/socket in place of /realtime/v1; /realtime/v1 in place of /socket in the paths of Location, Content-Location, Refresh, Link and Set-Cookie); the client gets its response with Cache-Control of the route and without server',
      facts: {
        rewrite: '/socket',
        forwardedPrefix: '/realtime/v1',
        responseHeaders: { set: ['Cache-Control'], remove: ['server'] },
      },
    })
    t.match(await explained('/realtime/v1/admin/x'), {
      decision: 'refuse',
      status: 403,
      code: 'route-denied',
      route: 'closed',
      steps: [
        { step: 'request' },
        { step: 'route', outcome: 'refused', detail: /This path is closed to all callers/ },
      ],
    })
  },
)

t.test('explain shows the base path of the targets', async (t) => {
  const { configFile } = await startGateway(t, {
    config: {
      upstreams: {
        backend: { targets: [{ url: 'http://10.0.0.11/base' }], host: 'target' },
        several: { targets: [{ url: 'http://10.0.0.11/one' }, { url: 'unix:/run/app.sock' }] },
      },
      routes: [...routes, { ...route, name: 'several', path: '/several', upstream: 'several' }],
    },
  })
  const lastOf = async (path: string) => {
    const url = `http://gateway.test${path}`
    const { stdout } = await run(t, ['explain', 'GET', url, '--config', configFile, '--json'])
    return (JSON.parse(stdout) as { readonly steps: readonly Step[] }).steps.at(-1)
  }
  t.match(await lastOf('/orders/x'), {
    detail: /^backend receives GET \/base\/x \(without the prefix \/orders/,
    facts: { target: '/base/x', headers: [{ name: 'Host', value: '10.0.0.11' }] },
  })
  t.match(await lastOf('/several/x'), {
    detail: 'several receives GET /several/x below the base path of the target',
    facts: { target: '/several/x' },
  })
})

t.test('explain names the cookie of sticky upstreams, and whether it came', async (t) => {
  const { configFile } = await startGateway(t, {
    config: {
      upstreams: { backend: { targets: [{ url: 'http://10.0.0.11' }], balancing: 'sticky' } },
      routes,
    },
  })
  const detailOf = async (...options: readonly string[]) => {
    const url = 'http://gateway.test/orders/x'
    const { stdout } = await run(t, ['explain', 'GET', url, '--config', configFile, '--json', ...options])
    const { steps } = JSON.parse(stdout) as { readonly steps: readonly Step[] }
    t.notMatch(stdout, 'hidden')
    return steps.at(-1)?.detail ?? ''
  }
  const detail = await detailOf()
  t.match(detail, /at any target, which the cookie gatehouse-target-[0-9a-f]{8} will name/)
  const [cookie] = /gatehouse-target-\w+/.exec(detail) ?? []
  t.match(await detailOf('-H', `Cookie: ${cookie}=hidden`), `, at the target that the cookie ${cookie} names`)
})
