import { once } from 'node:events'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import t, { type Test } from 'tap'
import { startBackend, startCannedBackend, startRawBackend, startServer } from '../../setup/backend.ts'
import { type Certificate, makeCertificate } from '../../setup/certificates.ts'
import { freePort, until } from '../../setup/net.ts'
import { connectRaw, rawRequest } from '../../setup/raw-client.ts'
import { startProxy } from './start-proxy.ts'

/** Each of these is what http-proxy does otherwise. */

async function startTlsBackend(t: Test, certificate: Certificate): Promise<string> {
  const server = createTlsServer(certificate, (_request, response) => response.end('ok')).listen(
    0,
    '127.0.0.1',
  )
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return `https://localhost:${(server.address() as AddressInfo).port}`
}

t.test('a backend whose certificate is not trusted, or of another name, gets no request', async (t) => {
  const trusted = makeCertificate(t, 'DNS:localhost')
  const other = makeCertificate(t, 'DNS:other.example')
  process.env.GATEHOUSE_TEST_CA = trusted.cert
  process.env.GATEHOUSE_TEST_OTHER_CA = other.cert
  const [upstream, otherUpstream] = [await startTlsBackend(t, trusted), await startTlsBackend(t, other)]
  const ca = { env: 'GATEHOUSE_TEST_CA' }
  const { url } = await startProxy(t, [
    { upstream, prefix: '/unknown', auth: 'none' },
    { upstream, prefix: '/known', auth: 'none', tls: { ca } },
    {
      upstream: otherUpstream,
      prefix: '/other',
      auth: 'none',
      tls: { ca: { env: 'GATEHOUSE_TEST_OTHER_CA' } },
    },
    { upstream, prefix: '/unverified', auth: 'none', tls: { verify: false } },
  ])
  const statusOf = async (path: string, host: string) =>
    (await rawRequest(t, url, [`GET ${path} HTTP/1.1`, `Host: ${host}`])).status
  t.equal(await statusOf('/unknown', 'localhost'), 502)
  t.equal(await statusOf('/known', 'localhost'), 200)
  t.equal(
    await statusOf('/known', 'other.example'),
    200,
    "the name is the backend's, not what a client sends",
  )
  t.equal(await statusOf('/other', 'other.example'), 502, 'a client cannot choose the name that is verified')
  t.equal(await statusOf('/unverified', 'localhost'), 200)
})

t.test('a backend is asked for tls.serverName, and shown the client certificate', async (t) => {
  const shown = makeCertificate(t, 'DNS:orders.internal')
  const own = makeCertificate(t, 'DNS:app')
  const variables = {
    GATEHOUSE_TEST_CA: shown.cert,
    GATEHOUSE_TEST_CERT: own.cert,
    GATEHOUSE_TEST_KEY: own.key,
  }
  Object.assign(process.env, variables)
  const server = createTlsServer(
    { ...shown, requestCert: true, rejectUnauthorized: false },
    ({ socket }, response) => {
      // The cast is sound: a server for TLS has no other sockets.
      const { servername, getPeerX509Certificate } = socket as TLSSocket
      response.end(`${servername} ${getPeerX509Certificate.call(socket)?.subjectAltName}`)
    },
  ).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const upstream = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  const secrets = { cert: { env: 'GATEHOUSE_TEST_CERT' }, key: { env: 'GATEHOUSE_TEST_KEY' } }
  const tls = { ca: { env: 'GATEHOUSE_TEST_CA' }, serverName: 'orders.internal', ...secrets }
  const { url } = await startProxy(t, [
    { upstream, prefix: '/right', auth: 'none', tls },
    { upstream, prefix: '/wrong', auth: 'none', tls: { ...tls, serverName: 'other.internal' } },
  ])
  t.equal(await (await fetch(`${url}/right`)).text(), 'orders.internal DNS:app')
  t.equal((await fetch(`${url}/wrong`)).status, 502)
})

t.test('an app connects to origins only', async (t) => {
  for (const [upstream, message] of [
    ['http://10.0.0.11/base', /upstream: must be an origin: no path/],
    ['unix:/run/app.sock', /upstream: must be an http\(s\) origin/],
  ] as const)
    await t.rejects(startProxy(t, [{ upstream, prefix: '/', auth: 'none' }]), message)
})

t.test('a 304 that names the length of the whole is passed on', async (t) => {
  const upstream = await startCannedBackend(t, 'HTTP/1.1 304 Not Modified\r\nContent-Length: 1000\r\n\r\n')
  const { url } = await startProxy(t, [{ upstream, prefix: '/', auth: 'none' }])
  for (let turn = 0; turn < 3; turn++)
    t.match(await rawRequest(t, url, ['GET / HTTP/1.1', 'Host: a', 'If-None-Match: "a"']), {
      status: 304,
      body: '',
    })
})

t.test('a request that a backend answers with 503 is sent once', async (t) => {
  const backend = await startBackend(t, (_request, response) =>
    response.writeHead(503, { 'Retry-After': '0' }).end(),
  )
  const { url } = await startProxy(t, [{ upstream: backend.url, prefix: '/', auth: 'none' }])
  t.equal((await fetch(url)).status, 503)
  t.equal(backend.seen.length, 1)
})

t.test('a request on a connection that breaks is not sent again', async (t) => {
  let requests = 0
  const upstream = await startRawBackend(t, (socket) => {
    socket.on('data', () => {
      requests++
      socket.destroy()
    })
  })
  const { url } = await startProxy(t, [{ upstream, prefix: '/', auth: 'none' }])
  const response = await fetch(url)
  t.match(await response.json(), { code: 'upstream-invalid-response', status: 502 })
  t.equal(requests, 1)
})

t.test('no response names the address of a backend that cannot be reached', async (t) => {
  const port = await freePort()
  const { url } = await startProxy(t, [{ upstream: `http://127.0.0.1:${port}`, prefix: '/', auth: 'none' }])
  for (const method of ['GET', 'POST']) {
    const lines = [`${method} / HTTP/1.1`, 'Host: a', ...(method === 'POST' ? ['Content-Length: 3'] : [])]
    const response = await rawRequest(t, url, lines, method === 'POST' ? 'abc' : '')
    t.match(response.json(), { code: 'upstream-unreachable', status: 502 }, method)
    t.notOk(response.head.includes(String(port)) || response.body.includes(String(port)), method)
  }
})

t.test('a backend that is silent is given up after its timeout', async (t) => {
  const upstream = await startServer(t, () => {})
  const { url } = await startProxy(t, [
    { upstream, prefix: '/', auth: 'none', timeouts: { response: '50ms' } },
  ])
  t.match(await (await fetch(url)).json(), { code: 'upstream-timeout', status: 504 })
})

t.test(
  'a client that expects 100 gets it once it is admitted, and its body reaches the backend',
  async (t) => {
    const backend = await startBackend(t)
    const { url, createAccount } = await startProxy(t, [{ upstream: backend.url, prefix: '/', auth: 'any' }])
    const { secretKey } = await createAccount()
    const head = (key: string) =>
      `POST /a HTTP/1.1\r\nHost: a\r\nSecretKey: ${key}\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n`
    const client = await connectRaw(t, url)
    client.send(head(secretKey))
    t.match(await client.readUntil('\r\n\r\n'), /^HTTP\/1\.1 100 /)
    client.send('body')
    t.equal((await client.response()).status, 200)
    t.equal(backend.last().body, 'body')
    const stranger = await connectRaw(t, url)
    stranger.send(head('wrong'))
    t.equal((await stranger.response()).status, 401)
  },
)

t.test('fields of the connection are neither an error nor forwarded', async (t) => {
  const backend = await startBackend(t)
  const { url } = await startProxy(t, [{ upstream: backend.url, prefix: '/', auth: 'none' }])
  const lines = [
    'GET /a HTTP/1.1',
    'Host: a',
    'Keep-Alive: timeout=5',
    'Connection: Upgrade, X-Own, X-User-Id',
    'Upgrade: h2c',
    'HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA',
    'X-Own: 1',
    'Proxy-Authorization: Basic x',
    'TE: trailers',
  ]
  t.equal((await rawRequest(t, url, lines)).status, 200)
  for (const name of ['keep-alive', 'upgrade', 'x-own', 'proxy-authorization', 'te'])
    t.notOk(name in backend.last().headers, name)
})

t.test(
  'a client that goes away ends the request at the backend, before and after the response has begun',
  async (t) => {
    const begun: string[] = []
    const ended: string[] = []
    const upstream = await startServer(t, (request, response) => {
      begun.push(request.url ?? '')
      response.on('close', () => ended.push(request.url ?? ''))
      if (request.url === '/begun') response.write('first')
    })
    const { url } = await startProxy(t, [{ upstream, prefix: '/', auth: 'none' }])
    for (const path of ['/silent', '/begun']) {
      const client = await connectRaw(t, url)
      client.send(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)
      if (path === '/begun') await client.readUntil('first')
      else await until('the backend has the request', () => begun.includes(path))
      client.socket.destroy()
      await until(`the end of ${path}`, () => ended.includes(path))
    }
    t.pass('both have ended')
  },
)
