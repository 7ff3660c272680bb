import t from 'tap'
import { startBackend } from '../setup/backend.ts'
import { startGateway } from '../setup/gateway.ts'
import { freePort } from '../setup/net.ts'
import { connectRaw } from '../setup/raw-client.ts'
import { accessTokenPath, ask, askJson, refreshTokenPath } from './support/ask.ts'
import { assertProblem } from './support/problem.ts'
import { assertRefusals } from './support/refusals.ts'

const json = ['Content-Type: application/json']
const tokens = `POST ${accessTokenPath}`
const refresh = `POST ${refreshTokenPath}`
const crossSite = ['Cookie: refreshToken=x', 'Sec-Fetch-Site: cross-site']

t.test('requests refused whatever their credential', async (t) => {
  const backend = await startBackend(t)
  const nobody = `http://127.0.0.1:${await freePort()}`
  const route = { upstream: 'backend', auth: 'none' }
  const gateway = await startGateway(t, {
    config: {
      upstreams: { backend: { targets: [{ url: backend.url }] }, nobody: { targets: [{ url: nobody }] } },
      routes: [
        { ...route, name: 'public', path: '/public' },
        { ...route, name: 'methods', path: '/methods', methods: ['GET', 'PUT'] },
        { ...route, name: 'hosted', path: '/hosted', host: 'other.test' },
        { ...route, name: 'small', path: '/small', maxBody: '10B' },
        { ...route, name: 'nobody', path: '/nobody', upstream: 'nobody' },
        { ...route, name: 'key', path: '/key', auth: 'secretKey' },
      ],
    },
  })

  await assertRefusals(t, gateway.url, [
    ['a body that is not JSON', tokens, '400 request-invalid', { headers: json, body: '{' }],
    ['a body without its members', tokens, '400 request-invalid', { headers: json, body: '{}' }],
    ['no refresh token at all', refresh, '400 request-invalid'],
    ['an ambiguous path', 'GET /public/../key', '400 path-ambiguous'],
    ['a cookie from another site', refresh, '403 cross-site-refresh', { headers: crossSite }],
    ['a path of no route', 'GET /nowhere', '404 route-not-found'],
    ['a path that only begins like a route', 'GET /publicity', '404 route-not-found'],
    ['a path of another host', 'GET /hosted', '404 route-not-found'],
    [
      'a method the route does not take',
      'POST /methods',
      '405 method-not-allowed',
      { allow: 'GET, HEAD, PUT' },
    ],
    ['a method no endpoint takes', `GET ${accessTokenPath}`, '405 method-not-allowed', { allow: 'POST' }],
    ['a body over the limit', 'POST /small', '413 body-too-large', { body: '12345678901' }],
    ['JSON too large', tokens, '413 body-too-large', { headers: json, body: ' '.repeat(65_537) }],
    ['a body of another type', tokens, '415 media-type-unsupported', { headers: [], body: '{}' }],
    [
      'a header over the limit',
      'GET /public',
      '431 headers-too-large',
      { headers: [`X: ${'x'.repeat(20_000)}`] },
    ],
    ['an unreachable backend', 'GET /nobody', '502 upstream-unreachable'],
  ])
  t.equal(backend.seen.length, 0, 'none of them reached the backend')

  t.test('a request with no Host, two, or an invalid one is 400', async (t) => {
    for (const lines of [
      [],
      ['Host: a', 'Host: a'],
      ['Host: a b'],
      ['Host: a/b'],
      ['Host: a@b'],
      ['Host: a:b'],
      ['Host:'],
      ['Host: [::1'],
    ]) {
      const client = await connectRaw(t, gateway.url)
      client.send(`${['GET /public HTTP/1.1', ...lines].join('\r\n')}\r\n\r\n`)
      assertProblem(t, await client.response(), { status: 400, code: 'request-invalid' })
    }
    t.equal(backend.seen.length, 0)
  })

  t.test('TRACE and CONNECT are 405', async (t) => {
    for (const line of [
      'TRACE /public',
      'TRACE /none',
      'CONNECT example.com:443',
      'CONNECT /public',
      'CONNECT /none',
    ])
      assertProblem(t, await ask(t, gateway.url, line), { status: 405, code: 'method-not-allowed' })
    t.equal(backend.seen.length, 0)
  })

  t.test('an error that lists fields also has a detail', async (t) => {
    const response = await askJson(t, gateway.url, accessTokenPath, {})
    t.strictSame(Object.keys(response.json()).slice(0, 5), ['type', 'title', 'status', 'code', 'detail'])
    t.match(response.json().detail, /\w/)
  })

  t.test('the answer to HEAD has the head of the answer to GET, and no body', async (t) => {
    const client = await connectRaw(t, gateway.url)
    client.send('HEAD /key HTTP/1.1\r\nHost: x\r\n\r\nGET /key HTTP/1.1\r\nHost: x\r\n\r\n')
    const [head, get] = [await client.response(true), await client.response()]
    const names = ({ headers }: typeof head) => Object.keys(headers).toSorted()
    t.equal(head.status, 401)
    t.strictSame(names(head), names(get))
    t.equal(head.headers['content-length'], get.headers['content-length'])
  })
})

t.test('a repeated refusal has the same text, and the ID of its own request', async (t) => {
  const backend = await startBackend(t)
  const gateway = await startGateway(t, {
    config: {
      trustedProxies: ['127.0.0.1/32'],
      upstreams: { backend: { targets: [{ url: backend.url }] } },
      routes: [
        { name: 'any', path: '/any', upstream: 'backend', auth: 'any' },
        { name: 'key', path: '/key', upstream: 'backend', auth: 'secretKey' },
      ],
    },
  })
  const problemOf = async (path: string, id: string) => {
    const response = await ask(t, gateway.url, `GET ${path}`, [`X-Request-Id: ${id}`])
    assertProblem(t, response, { status: 401, code: 'credentials-missing' })
    const { 'x-request-id': idInHead, date, ...headers } = response.headers
    const { requestId, ...problem } = response.json()
    t.equal(idInHead, id)
    t.equal(requestId, id)
    t.match(date, /GMT$/)
    const { 'www-authenticate': challenge } = headers
    const length = Number(headers['content-length']) - id.length
    return { challenge, problem, headers: { ...headers, 'content-length': length } }
  }
  const first = await problemOf('/any', 'first')
  t.match(first.challenge, /Bearer/)
  for (const id of ['second', 'x'.repeat(128)]) t.strictSame(await problemOf('/any', id), first)
  for (const id of ['one', 'two']) {
    t.equal((await problemOf('/key', id)).challenge, 'SecretKey realm="gatehouse"', 'of its own route')
  }
  const quoted = await problemOf('/any', 'a"b\\c')
  t.strictSame(quoted.problem, first.problem)
})
