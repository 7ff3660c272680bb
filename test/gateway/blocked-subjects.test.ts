import t, { type Test } from 'tap'
import { run } from '../cli/run.ts'
import { newIssuerKey, startIssuer } from '../identity/issuers/issuer-server.ts'
import { startBackend } from '../setup/backend.ts'
import { startGateway, storeDrivers, type TestGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { startPromise } from '../setup/promise-of-time.ts'
import { startRedis } from '../setup/redis.ts'
import { ask } from './support/ask.ts'
import { assertProblem } from './support/problem.ts'
import { openWebSocket, startWebSocketBackend } from './support/web-socket.ts'

const path = '/api/v1/admin/subjects'

const route = (name: string, options: Readonly<Record<string, unknown>> = {}) => ({
  name,
  path: `/${name}`,
  upstream: 'backend',
  auth: 'bearer',
  issuers: ['corp'],
  ...options,
})

async function startWith(
  t: Test,
  backend: string,
  issuer: string,
  options: Parameters<typeof startGateway>[1],
) {
  const gateway = await startGateway(t, {
    ...options,
    backend,
    config: {
      issuers: [
        { name: 'corp', issuer, audience: 'orders' },
        {
          name: 'other',
          issuer: 'https://other.example.com',
          audience: 'orders',
          jwks: { url: `${issuer}/jwks` },
        },
      ],
      routes: [
        route('orders'),
        route('optional', { auth: 'optional' }),
        route('ws', { websocket: true }),
        route('public', { auth: 'none', issuers: [] }),
      ],
      decide: { port: 0 },
      trustedProxies: ['127.0.0.1'],
    },
  })
  const codeAt = async (target: string, token: string) => {
    const { status, json } = await ask(t, gateway.url, `GET ${target}`, [`Authorization: Bearer ${token}`])
    return status === 200 ? '200' : `${status} ${(json() as { readonly code: string }).code}`
  }
  return { ...gateway, codeAt, codeOf: (token: string) => codeAt('/orders', token) }
}

/** The admin API as an Admin calls it. */
async function adminOf(gateway: TestGateway) {
  const { secretKey } = await gateway.createAccount({ role: 'Admin' })
  const headers = { SecretKey: secretKey, 'Content-Type': 'application/json' }
  const call = async (method: string, target: string, body?: unknown) => {
    const response = await fetch(gateway.url + target, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? undefined : (JSON.parse(text) as unknown) }
  }
  return {
    call,
    block: (subject: string, issuer = 'corp') => call('POST', path, { issuer, subject }),
    unblock: (subject: string, issuer = 'corp') =>
      call('DELETE', `${path}?${new URLSearchParams({ issuer, subject })}`),
  }
}

for (const driver of storeDrivers) {
  t.test(`an Admin blocks and unblocks users of an issuer on ${driver}`, async (t) => {
    const issuer = await startIssuer(t, [await newIssuerKey('one')])
    const backend = await startBackend(t)
    const gateway = await startWith(t, backend.url, issuer.url, { driver })
    const { codeOf, codeAt } = gateway
    const { call, block, unblock } = await adminOf(gateway)
    const [ada, bob] = [await issuer.sign(), await issuer.sign({ sub: 'bob' })]
    t.strictSame([await codeOf(ada), await codeOf(bob)], ['200', '200'])

    t.strictSame(await block('ada'), { status: 201, body: { issuer: 'corp', subject: 'ada' } })
    t.equal((await block('ada')).status, 200, 'blocked already')
    for (const [target, expected] of [
      ['/orders', '403 subject-blocked'],
      ['/optional', '403 subject-blocked'],
      ['/public', '200'],
    ] as const)
      t.equal(await codeAt(target, ada), expected, target)
    t.equal(await codeOf(await issuer.sign({ n: 2 })), '403 subject-blocked', 'each of its tokens')
    t.equal(await codeOf(bob), '200')
    const refused = await ask(t, gateway.url, 'GET /orders', [`Authorization: Bearer ${ada}`])
    assertProblem(t, refused, { status: 403, code: 'subject-blocked' })
    const decided = await fetch(`${gateway.decideUrl}/decide`, {
      headers: {
        Authorization: `Bearer ${ada}`,
        'X-Forwarded-Method': 'GET',
        'X-Forwarded-Proto': 'http',
        'X-Forwarded-Host': 'gateway.test',
        'X-Forwarded-Uri': '/orders',
        'X-Forwarded-For': '192.0.2.1',
      },
    })
    t.equal(decided.status, 403)
    t.match(await decided.json(), { code: 'subject-blocked' })

    const explained = await run(t, [
      ...['explain', 'GET', `${gateway.url}/orders`, '-H', `Authorization: Bearer ${ada}`, '--json'],
      ...['--config', gateway.configFile],
    ])
    t.match(explained.json(), { decision: 'refuse', status: 403, code: 'subject-blocked' })

    const strange = 'auth0|%/ü €\u{1f600}?'
    const tokenOfStrange = await issuer.sign({ sub: strange })
    t.equal((await block(strange)).status, 201)
    t.equal((await block('ada', 'other')).status, 201, 'a block is of one issuer')
    t.equal(await codeOf(tokenOfStrange), '403 subject-blocked')
    const first = await call('GET', `${path}?limit=2`)
    t.match(first, {
      status: 200,
      body: { items: [{ issuer: 'other', subject: 'ada', id: 'other:ada' }, { subject: strange }] },
    })
    const { nextCursor } = first.body as { readonly nextCursor: string }
    t.match(await call('GET', `${path}?limit=2&cursor=${nextCursor}`), {
      body: { items: [{ issuer: 'corp', subject: 'ada', id: 'corp:ada' }], nextCursor: null },
    })

    for (const subject of ['ada', strange]) t.equal((await unblock(subject)).status, 204)
    t.equal((await unblock('ada')).status, 204, 'it is not blocked any more')
    t.strictSame([await codeOf(ada), await codeOf(tokenOfStrange)], ['200', '200'])

    for (const [issuerName, subject, field] of [
      ['nobody', 'ada', 'issuer'],
      ['cor', 'ada', 'issuer'],
      ['', 'ada', 'issuer'],
      ['corp', '', 'subject'],
      ['corp', 'x'.repeat(256), 'subject'],
      ['corp', 'x'.repeat(50_000), 'subject'],
      ['corp', 'a\nb', 'subject'],
    ] as const) {
      const { status, body } = await block(subject, issuerName)
      t.equal(status, 400)
      t.match(body, { code: 'request-invalid', errors: [{ field }] })
    }
    t.equal((await block('x'.repeat(255))).status, 201)
    t.match((await block('ada', 'cor')).body, { errors: [{ message: /corp, other, did you mean "corp"\?/ }] })
    t.equal((await call('GET', `${path}?cursor=x`)).status, 400)

    const { body: audit } = await call('GET', '/api/v1/admin/audit?action=subject-blocked')
    t.match(audit, {
      items: [
        {},
        { details: { issuer: 'other', subject: 'ada' } },
        { details: { issuer: 'corp', subject: strange } },
        { actor: /@/, channel: 'api', details: { issuer: 'corp', subject: 'ada' } },
      ],
    })
    t.equal((audit as { readonly items: readonly unknown[] }).items.length, 4, 'nothing else is logged')
    t.match(await call('GET', '/api/v1/admin/audit?action=subject-unblocked'), {
      body: { items: [{ details: { subject: strange } }, { details: { subject: 'ada' } }] },
    })

    const { secretKey } = await gateway.createAccount()
    const user = await fetch(gateway.url + path, { headers: { SecretKey: secretKey } })
    t.equal(user.status, 403)
  })
}

t.test('a block is in force on every instance at once, and closes WebSockets', async (t) => {
  const issuer = await startIssuer(t, [await newIssuerKey('one')])
  const backend = await startWebSocketBackend(t)
  const redis = await startRedis(t)
  const [one, other] = await Promise.all([
    startWith(t, backend.url, issuer.url, { driver: 'redis', redis }),
    startWith(t, backend.url, issuer.url, { driver: 'redis', redis }),
  ])
  const { block, unblock } = await adminOf(one)
  const [ada, bob] = [await issuer.sign(), await issuer.sign({ sub: 'bob' })]
  const open = async (token: string) => {
    const socket = await openWebSocket(t, `${other.url}/ws`, {
      headers: { Authorization: `Bearer ${token}` },
    })
    const outcome: { code: number | undefined } = { code: undefined }
    socket.on('close', (code) => {
      outcome.code = code
    })
    return outcome
  }
  const [ofAda, ofBob] = [await open(ada), await open(bob)]
  t.equal(await other.codeOf(ada), '200')
  await block('ada')
  const assertInTime = startPromise(t)
  t.equal(await one.codeOf(ada), '403 subject-blocked', 'before the call is answered')
  await until('the other instance refuses it', async () => (await other.codeOf(ada)) !== '200' || undefined)
  await until('its WebSocket is closed', () => ofAda.code)
  assertInTime()
  t.equal(ofAda.code, 4001)
  t.equal(ofBob.code, undefined)
  await unblock('ada')
  await until('the other instance accepts it', async () => (await other.codeOf(ada)) === '200' || undefined)
})

t.test('without the store known subjects keep their state, and others are 503', async (t) => {
  const issuer = await startIssuer(t, [await newIssuerKey('one')])
  const backend = await startBackend(t)
  const redis = await startRedis(t)
  const gateway = await startWith(t, backend.url, issuer.url, { driver: 'redis', redis })
  const { codeOf, codeAt } = gateway
  const { block } = await adminOf(gateway)
  const [known, eve] = [await issuer.sign({ sub: 'known' }), await issuer.sign({ sub: 'eve' })]
  t.strictSame([await codeOf(known), await codeOf(eve)], ['200', '200'])
  await block('eve')
  t.equal(await codeOf(eve), '403 subject-blocked')
  await redis.stop('SIGKILL')
  await until('the gateway knows', async () => {
    const response = await fetch(`${gateway.opsUrl}/readyz`)
    return ((await response.json()) as { readonly status: string }).status !== 'ok' || undefined
  })
  t.equal(await codeOf(known), '200')
  t.equal(await codeOf(await issuer.sign({ sub: 'known', n: 2 })), '200', 'a new token of a known subject')
  t.equal(await codeOf(eve), '403 subject-blocked')
  t.equal(await codeOf(await issuer.sign({ sub: 'never seen' })), '503 store-unavailable')
  t.equal(await codeAt('/optional', await issuer.sign({ sub: 'never seen' })), '503 store-unavailable')
})
