import t from 'tap'
import { startBoth } from '../setup/both.ts'
import { notInApp, startGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { ask } from './support/ask.ts'

const uuid = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

const claims = [
  'X-Forwarded-For: 203.0.113.7, 10.0.0.1',
  'X-Forwarded-Proto: https',
  'X-Forwarded-Host: evil.example',
  'X-Forwarded-Port: 443',
  'X-Forwarded-Prefix: /admin',
  'X-Forwarded-Uri: /admin',
  'X-Forwarded-User: root',
  'X-Forwarded: for=1.2.3.4',
  'Forwarded: for=203.0.113.7;proto=https',
  'X-Real-IP: 203.0.113.7',
  'X-Original-URL: /admin',
  'X-Rewrite-URL: /admin',
  'X-Request-Id: mine',
]

const noRequestLog = { skip: notInApp('an app logs its requests itself') }

t.test('forwarding headers of an untrusted client are replaced', async (t) => {
  const { backend, gateway } = await startBoth(t, { config: { trustedProxies: ['10.0.0.0/8'] } })
  const { secretKey } = await gateway.createAccount()
  const own = {
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-proto': 'http',
    'x-forwarded-host': 'gateway.test',
  }
  for (const path of ['/public', '/optional', '/key']) {
    for (const sent of [[], claims, claims.map((line) => line.toUpperCase()), [...claims, ...claims]]) {
      await ask(t, gateway.url, `GET ${path}`, [...sent, `SecretKey: ${secretKey}`])
      const { headers, rawHeaders } = backend.last()
      t.match(headers, own)
      const names = Object.keys(headers).filter((name) => /forwarded|real|original|rewrite/.test(name))
      t.strictSame(names.toSorted(), Object.keys(own).toSorted())
      t.match(headers['x-request-id'], uuid)
      t.equal(
        rawHeaders.filter((name) => /^x-(forwarded|request)-/i.test(name)).length,
        4,
        'each of ours once',
      )
    }
  }
})

t.test('forwarding headers of a trusted proxy are kept and extended', async (t) => {
  const { backend, gateway } = await startBoth(t, { config: { trustedProxies: ['127.0.0.0/8'] } })
  await ask(t, gateway.url, 'GET /public', claims)
  t.match(backend.last().headers, {
    'x-forwarded-for': '203.0.113.7, 10.0.0.1, 127.0.0.1',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-port': '443',
    forwarded: 'for=203.0.113.7;proto=https',
    'x-real-ip': '203.0.113.7',
    'x-request-id': 'mine',
  })
  await ask(t, gateway.url, 'GET /public')
  t.match(backend.last().headers, { 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'http' })
  t.match(backend.last().headers['x-request-id'], uuid)
})

t.test('what a trusted proxy says is forwarded alike by the general path and the fast lane', async (t) => {
  const { backend, gateway } = await startBoth(t, { config: { trustedProxies: ['127.0.0.0/8'] } })
  const { secretKey } = await gateway.createAccount()
  const strange = ['X_Forwarded_For: 1.1.1.1', 'X-Forwarded-Host: second.example', 'X-REQUEST-ID: other']
  for (const lines of [claims, [...claims, ...claims], [...strange, ...claims], [...claims, ...strange]]) {
    const sent = [...lines, `SecretKey: ${secretKey}`]
    // The second is about a credential that was decided about before; with the third's field none is ordinary.
    await ask(t, gateway.url, 'GET /key', sent)
    await ask(t, gateway.url, 'GET /key', sent)
    const { rawHeaders } = backend.last()
    await ask(t, gateway.url, 'GET /key', [...sent, 'Connection: x-none'])
    t.strictSame(rawHeaders, backend.last().rawHeaders)
    t.match(backend.last().headers['x-forwarded-for'], /^203\.0\.113\.7, 10\.0\.0\.1/)
  }
})

t.test('the logged client is the last address that is not a trusted proxy', noRequestLog, async (t) => {
  const trustedProxies = ['127.0.0.1', '10.0.0.0/8', '::1']
  const { backend, gateway } = await startBoth(t, { config: { trustedProxies } })
  for (const [sent, client] of [
    [[], '127.0.0.1'],
    [['X-Forwarded-For: 203.0.113.7'], '203.0.113.7'],
    [['X-Forwarded-For: 1.1.1.1, 203.0.113.7, 10.1.2.3'], '203.0.113.7'],
    [['X-Forwarded-For: 1.1.1.1', 'X-Forwarded-For: 203.0.113.8'], '203.0.113.8'],
    [['X-Forwarded-For: 2001:db8::1, 10.0.0.1'], '2001:db8::1'],
    [['X-Forwarded-For: 203.0.113.9, garbage'], '127.0.0.1'],
    [['X-Forwarded-For: '], '127.0.0.1'],
  ] as const) {
    await ask(t, gateway.url, 'GET /public', [...sent])
    const count = backend.seen.length
    const lines = await until('the line is written', () => {
      const written = gateway.logLines.filter((line) => line.includes('"request"'))
      return written.length === count ? written : undefined
    })
    t.equal(JSON.parse(lines.at(-1) ?? '').client, client, sent.join())
  }
})

t.test('a request ID from a trusted proxy is kept only if well formed', async (t) => {
  const gateway = await startBoth(t, { config: { trustedProxies: ['127.0.0.1'] } })
  for (const id of ['a', 'x'.repeat(128), '{"json":1}'.replaceAll('"', "'")]) {
    const response = await ask(t, gateway.url, 'GET /any', [`X-Request-Id: ${id}`])
    t.equal(response.json().requestId, id)
    t.equal(response.headers['x-request-id'], id)
  }
  for (const id of ['', 'a b', 'x'.repeat(129), 'caf\xe9']) {
    const response = await ask(t, gateway.url, 'GET /any', [`X-Request-Id: ${id}`])
    t.match(response.json().requestId, uuid)
  }
})

t.test('an error response has the request ID of its log line', noRequestLog, async (t) => {
  const gateway = await startGateway(t)
  const { requestId } = (await ask(t, gateway.url, 'GET /any')).json()
  await until('the line is written', () => gateway.logLines.some((line) => line.includes(String(requestId))))
})
