import t, { type Test } from 'tap'
import { startBackend } from '../setup/backend.ts'
import { type Certificate, expiredCertificate, makeCertificate } from '../setup/certificates.ts'
import { startGateway, type TestGatewayOptions } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { connectRaw } from '../setup/raw-client.ts'
import { certificateFiles, connectTls } from './support/tls.ts'
import { untilClosed } from './support/until-closed.ts'
import { openWebSocket, record, startWebSocketBackend } from './support/web-socket.ts'

const names = 'DNS:localhost,IP:127.0.0.1'
const head = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`

/** A gateway that speaks TLS with this certificate. */
async function start(t: Test, certificate: Certificate, options: TestGatewayOptions = {}) {
  const files = certificateFiles(t, certificate)
  const { listen, ...config } = options.config ?? {}
  const all = { listen: { port: 0, tls: files.tls, ...(listen as object) }, ...config }
  return startGateway(t, { ...options, config: all })
}

t.test('clients are served over TLS, and the backend gets X-Forwarded-Proto: https', async (t) => {
  const certificate = makeCertificate(t, names)
  const backend = await startBackend(t)
  const gateway = await start(t, certificate, { backend: backend.url })
  t.match(gateway.url, /^https:\/\/127\.0\.0\.1:\d+$/)
  t.match(gateway.opsUrl, /^http:/, 'operators go on in the clear')
  const client = await connectTls(t, gateway.url, { ca: certificate.cert })
  t.equal(client.socket.alpnProtocol, 'http/1.1')
  for (let turn = 0; turn < 3; turn++) {
    t.match(await client.send(head('/public')).response(), { status: 200, body: 'ok' })
    t.equal(backend.last().headers['x-forwarded-proto'], 'https')
  }
})

t.test('TLS 1.2 and 1.3 are accepted, older versions refused', async (t) => {
  const certificate = makeCertificate(t, names)
  const gateway = await start(t, certificate)
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const options = { ca: certificate.cert, minVersion: version, maxVersion: version }
    t.equal((await connectTls(t, gateway.url, options)).socket.getProtocol(), version)
  }
  // Without a lower level of security no client of today would even offer it.
  const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
  await t.rejects(connectTls(t, gateway.url, { ca: certificate.cert, ...old }), /version|alert/i)
})

t.test('a TLS client whose ALPN has no version of HTTP that is served is refused', async (t) => {
  const certificate = makeCertificate(t, names)
  const gateway = await start(t, certificate)
  const connecting = connectTls(t, gateway.url, { ca: certificate.cert, ALPNProtocols: ['h3'] })
  await t.rejects(connecting, /no application protocol|alert/i)
})

t.test('bytes that are not TLS get no answer, and disturb no other client', async (t) => {
  const certificate = makeCertificate(t, names)
  const backend = await startBackend(t)
  const gateway = await start(t, certificate, { backend: backend.url })
  const plain = await connectRaw(t, gateway.url)
  plain.send(head('/public'))
  await plain.ended()
  const client = await connectTls(t, gateway.url, { ca: certificate.cert })
  t.equal((await client.send(head('/public')).response()).status, 200)
  t.equal(backend.seen.length, 1)
})

t.test('an unfinished TLS handshake is timed out', async (t) => {
  const certificate = makeCertificate(t, names)
  const gateway = await start(t, certificate, { config: { listen: { requestTimeout: '1s' } } })
  const silent = await connectRaw(t, gateway.url)
  const started = performance.now()
  await silent.ended()
  t.ok(performance.now() - started >= 900, 'it had its time')
})

t.test('WebSockets work over TLS', async (t) => {
  const certificate = makeCertificate(t, names)
  const backend = await startWebSocketBackend(t)
  const routes = [{ name: 'ws', path: '/ws', upstream: 'backend', auth: 'none', websocket: true }]
  const gateway = await start(t, certificate, { backend: backend.url, config: { routes } })
  const socket = await openWebSocket(t, `${gateway.url}/ws`, { ca: certificate.cert })
  const received = record(socket)
  socket.send('hello')
  await until('it comes back', () => received.messages[0])
  t.equal(received.messages[0]?.data.toString(), 'hello')
})

t.test('a shutdown answers one more request on each idle TLS connection', async (t) => {
  const certificate = makeCertificate(t, names)
  const backend = await startBackend(t)
  const config = { shutdown: { drain: '10s' } }
  const gateway = await start(t, certificate, { backend: backend.url, config })
  const client = await connectTls(t, gateway.url, { ca: certificate.cert })
  t.equal((await client.send(head('/public')).response()).status, 200)
  const down = gateway.shutDown()
  await untilClosed(t, gateway.url)
  const last = await client.send(head('/public')).response()
  t.match(last, { status: 200, headers: { connection: 'close' } })
  await client.ended()
  t.equal(await down, true)
})

t.test('an expired certificate is still served: clients decide whether to accept it', async (t) => {
  const gateway = await start(t, expiredCertificate)
  await t.rejects(connectTls(t, gateway.url, { ca: expiredCertificate.cert }), /expired/)
  await connectTls(t, gateway.url, { rejectUnauthorized: false })
})

t.test('plain HTTP on the TLS port gets a plain 400, and its connection ends', async (t) => {
  const gateway = await start(t, makeCertificate(t, names))
  for (const method of ['GET', 'POST', 'DELETE', 'CONNECT']) {
    const client = await connectRaw(t, gateway.url)
    client.send(`${method} /public HTTP/1.1\r\nHost: x\r\n\r\n`)
    const { status, headers, body } = await client.response()
    t.strictSame([status, headers.connection], [400, 'close'], method)
    t.match(JSON.parse(body), { code: 'request-invalid', detail: /https:\/\// })
    await client.ended()
  }
  const refused = gateway.logLines.filter((line) => line.includes('plain HTTP on a TLS port'))
  t.equal(refused.length, 4, 'the log says so')
})

t.test('a connection that is in its TLS handshake at a shutdown has its request served', async (t) => {
  const certificate = makeCertificate(t, names)
  const backend = await startBackend(t)
  const gateway = await start(t, certificate, {
    backend: backend.url,
    config: { shutdown: { drain: '20s' } },
  })
  const { secretKey } = await gateway.createAccount()
  const { socket } = await connectRaw(t, gateway.url)
  const down = gateway.shutDown()
  await untilClosed(t, gateway.url)
  const client = await connectTls(t, gateway.url, { ca: certificate.cert, socket })
  client.send(`GET /key HTTP/1.1\r\nHost: x\r\nSecretKey: ${secretKey}\r\n\r\n`)
  t.match(await client.response(), { status: 200, body: 'ok', headers: { connection: 'close' } })
  client.close()
  t.equal(await down, true)
})

t.test('a client that never begins its TLS handshake is closed at the end of a shutdown', async (t) => {
  const certificate = makeCertificate(t, names)
  const config = { listen: { requestTimeout: '10m' }, shutdown: { drain: '200ms' } }
  const gateway = await start(t, certificate, { config })
  const silent = await connectRaw(t, gateway.url)
  t.equal(await gateway.shutDown(), true)
  await silent.ended()
})
