import { readFileSync } from 'node:fs'
import { METHODS } from 'node:http'
import t from 'tap'
import { startBoth } from '../setup/both.ts'
import { until } from '../setup/net.ts'
import { accessTokenPath, ask, askJson, refreshTokenPath } from './support/ask.ts'
import { type Exposition, readMetrics } from './support/metrics.ts'

/** What the reference says that the gateway measures of itself: the names and labels that dashboards rely on. */
const documented = [
  ...readFileSync('docs/metrics.md', 'utf8').matchAll(/^\| `(gatehouse_\w+)` \| (\w+) \| (.*?) \|/gm),
].map(([, name = '', type = '', labels = '']) => ({ name, type, labels: labels.match(/\w+/g) ?? [] }))

t.test('the ops listener', async (t) => {
  const { backend, gateway } = await startBoth(t)
  const user = await gateway.createAccount()
  const { JwtToken } = await gateway.tokens(user)
  const key = `SecretKey: ${user.secretKey}`

  /** What a few calls change. A request is counted once it is over, which a client may see a little earlier. */
  async function changes(calls: () => Promise<unknown>, awaited: (now: Exposition) => number) {
    const before = await readMetrics(gateway.opsUrl)
    await calls()
    const after = await until('it is counted', async () => {
      const now = await readMetrics(gateway.opsUrl)
      return awaited(now) > awaited(before) ? now : undefined
    })
    return (name: string, labels = {}) => after.value(name, labels) - before.value(name, labels)
  }

  t.test('the ops listener answers /livez and /readyz', async (t) => {
    for (const path of ['/livez', '/readyz']) {
      const response = await ask(t, gateway.opsUrl, `GET ${path}`)
      t.equal(response.status, 200)
      t.match(response.json(), { status: 'ok' })
      t.equal((await ask(t, gateway.opsUrl, `HEAD ${path}`)).status, 200)
    }
    t.equal((await ask(t, gateway.opsUrl, 'GET /nowhere')).status, 404)
    for (const [line, allow] of [
      ['POST /livez', 'GET, HEAD'],
      ['POST /metrics?x', 'GET, HEAD'],
      ['DELETE /status?json', 'GET, HEAD'],
      ['GET /reload', 'POST'],
    ] as const)
      t.match(await ask(t, gateway.opsUrl, line), { status: 405, headers: { allow } }, line)
  })

  t.test("the ops and the main listener serve none of each other's paths", async (t) => {
    for (const path of ['/livez', '/readyz', '/metrics', '/status'])
      t.equal((await ask(t, gateway.url, `GET ${path}`)).status, 404)
    for (const path of ['/public', accessTokenPath])
      t.equal((await ask(t, gateway.opsUrl, `POST ${path}`, [], '')).status, 404)
  })

  t.test('/metrics is Prometheus text with just the names and labels of the reference', async (t) => {
    await ask(t, gateway.url, 'GET /key', [key])
    await askJson(t, gateway.url, accessTokenPath, {})
    const response = await ask(t, gateway.opsUrl, 'GET /metrics')
    t.match(response.headers['content-type'], /^text\/plain; version=0\.0\.4/)
    const { samples, types } = await readMetrics(gateway.opsUrl)
    const ours = [...types.keys()].filter((name) => name.startsWith('gatehouse_'))
    t.strictSame(ours.toSorted(), documented.map(({ name }) => name).toSorted())
    for (const { name, type, labels } of documented) {
      t.equal(types.get(name), type, name)
      // Only what other proxies ask about has this one.
      const usual = labels.filter((label) => label !== 'listener')
      const own = samples.filter((sample) => sample.name.replace(/_(bucket|sum|count)$/, '') === name)
      for (const sample of own) {
        const found = Object.keys(sample.labels).filter((label) => label !== 'le')
        t.strictSame(found.toSorted(), usual.toSorted(), name)
      }
    }
    for (const [name, type] of types)
      t.equal(name.endsWith('_total'), type === 'counter', `${name} is a ${type}`)
    t.match(samples.find(({ name }) => name === 'gatehouse_build_info')?.labels, {
      version: /^\d/,
      node: /^v\d/,
    })
  })

  t.test('/metrics counts each request under its route, method and status', async (t) => {
    const rows = [
      ['GET /key/secret-path', [key], { route: 'key', method: 'GET', code: '200' }],
      ['PUT /key', [key], { route: 'key', method: 'PUT', code: '200' }],
      ['GET /key', [], { route: 'key', method: 'GET', code: '401' }],
      ['GET /key', [key], { route: 'key', method: 'GET', code: '200' }],
      ['POST /bearer', [], { route: 'bearer', method: 'POST', code: '401' }],
      ['GET /nowhere', [], { route: '_unmatched', method: 'GET', code: '404' }],
      ['GET /key/../x', [], { route: '_unmatched', method: 'GET', code: '400' }],
      [`GET ${accessTokenPath}`, [], { route: '_gateway', method: 'GET', code: '405' }],
      [`POST ${refreshTokenPath}`, [], { route: '_gateway', method: 'POST', code: '400' }],
    ] as const
    for (const [line, headers, labels] of rows) {
      const counter = 'gatehouse_http_requests_total'
      const change = await changes(
        () => ask(t, gateway.url, line, [...headers]),
        (now) => now.value(counter, labels),
      )
      t.equal(change(counter, labels), 1, line)
      t.equal(change(counter), 1, 'and no other')
      t.equal(change('gatehouse_http_request_duration_seconds_count', { route: labels.route }), 1)
      const isProxied = labels.code === '200' ? 1 : 0
      t.equal(change('gatehouse_upstream_request_duration_seconds_count', { upstream: 'backend' }), isProxied)
      t.equal(change('gatehouse_overhead_duration_seconds_count'), isProxied)
    }
  })

  t.test('/metrics counts decisions by scheme, outcome and reason', async (t) => {
    for (const [line, headers, labels] of [
      ['GET /key', [key], { scheme: 'secretKey', outcome: 'allowed', reason: 'ok' }],
      [
        'GET /bearer',
        [`Authorization: Bearer ${JwtToken}`],
        { scheme: 'bearer', outcome: 'allowed', reason: 'ok' },
      ],
      ['GET /optional', [], { scheme: 'none', outcome: 'allowed', reason: 'anonymous' }],
      [
        'GET /key',
        ['SecretKey: x'],
        { scheme: 'secretKey', outcome: 'refused', reason: 'secret-key-invalid' },
      ],
      ['GET /admin', [key], { scheme: 'secretKey', outcome: 'refused', reason: 'role-forbidden' }],
      ['GET /any', [], { scheme: 'none', outcome: 'refused', reason: 'credentials-missing' }],
    ] as const) {
      const counter = 'gatehouse_auth_decisions_total'
      const change = await changes(
        () => ask(t, gateway.url, line, [...headers]),
        (now) => now.value(counter, labels),
      )
      t.equal(change(counter), 1, `${line} ${labels.reason}`)
    }
  })

  t.test('/metrics counts issued tokens and cache look-ups', async (t) => {
    const issued = 'gatehouse_tokens_issued_total'
    const change = await changes(
      async () => {
        const { RefreshToken } = await gateway.tokens(user)
        await askJson(t, gateway.url, refreshTokenPath, { token: RefreshToken })
        await askJson(t, gateway.url, refreshTokenPath, { token: 'wrong' })
      },
      (now) => now.value(issued, { grant: 'refresh' }),
    )
    t.strictSame([change(issued, { grant: 'keys' }), change(issued)], [1, 2])
    const other = await gateway.createAccount()
    const cache = 'gatehouse_key_cache_requests_total'
    const looked = await changes(
      async () => {
        for (let turn = 0; turn < 3; turn++)
          await ask(t, gateway.url, 'GET /key', [`SecretKey: ${other.secretKey}`])
      },
      (now) => now.value(cache, { result: 'hit' }),
    )
    t.strictSame([looked(cache, { result: 'miss' }), looked(cache, { result: 'hit' })], [1, 2])
  })

  t.test('no metric label holds a path, key, user or address', async (t) => {
    for (const method of METHODS.filter((method) => method !== 'CONNECT'))
      await ask(t, gateway.url, `${method} /key/some-path-of-a-client`, ['SecretKey: gate_sk_x'])
    const { samples } = await readMetrics(gateway.opsUrl)
    const own = samples.filter(({ name }) => name.startsWith('gatehouse_'))
    // The address of a target comes from the config, not from a client.
    const text = JSON.stringify(own).replaceAll(`"target":${JSON.stringify(backend.url)}`, '')
    t.notMatch(text, /some-path|example\.com|127\.0\.0\.1|gate_sk_|eyJ/)
    t.notOk(text.includes(user.account.id))
    const routes = new Set(samples.map(({ labels }) => labels.route).filter((route) => route !== undefined))
    const known = [
      '_gateway',
      '_unmatched',
      'public',
      'optional',
      'key',
      'bearer',
      'any',
      'admin',
      'verified',
    ]
    for (const route of routes) t.ok(known.includes(route), route)
  })
})
