import { once } from 'node:events'
import { createServer } from 'node:https'
import t from 'tap'
import { startServer } from '../../setup/backend.ts'
import { expiredCertificate, makeCertificate } from '../../setup/certificates.ts'
import { portOf } from '../../setup/net.ts'
import { startTlsBackend } from './backends.ts'
import { exchange, openTestUpstream, request } from './exchange.ts'

t.test('an untrusted certificate is refused by default', async (t) => {
  const { port } = await startTlsBackend(t, makeCertificate(t, 'DNS:localhost,IP:127.0.0.1'))
  for (const host of ['localhost', '127.0.0.1']) {
    const upstream = openTestUpstream(t, `https://${host}:${port}`)
    const { failure, events } = exchange(upstream, { method: 'POST' })
    t.match(await failure, { reason: 'connect-failed', message: /self-signed/ })
    t.strictSame(events, ['connect-failed'], 'nothing was sent')
  }
})

t.test('a certificate of the configured CA is accepted, for a name and for an address', async (t) => {
  const certificate = makeCertificate(t, 'DNS:localhost,IP:127.0.0.1')
  const { port } = await startTlsBackend(t, certificate)
  const tls = { verify: true, ca: certificate.cert }
  t.equal(
    (await request(openTestUpstream(t, `https://localhost:${port}`, { tls }))).body,
    'http/1.1 localhost',
  )
  // A server name is never an address.
  t.equal((await request(openTestUpstream(t, `https://127.0.0.1:${port}`, { tls }))).body, 'http/1.1 false')
})

t.test('a certificate of another host is refused, though its CA is trusted', async (t) => {
  const certificate = makeCertificate(t, 'DNS:other.example,IP:127.0.0.2')
  const { port } = await startTlsBackend(t, certificate)
  for (const host of ['localhost', '127.0.0.1']) {
    const upstream = openTestUpstream(t, `https://${host}:${port}`, {
      tls: { verify: true, ca: certificate.cert },
    })
    const { failure } = exchange(upstream)
    t.equal((await failure).reason, 'connect-failed', host)
  }
})

t.test('a certificate of another CA than the configured one is refused', async (t) => {
  const { port } = await startTlsBackend(t, makeCertificate(t, 'DNS:localhost'))
  const ca = makeCertificate(t, 'DNS:localhost').cert
  const { failure } = exchange(
    openTestUpstream(t, `https://localhost:${port}`, { tls: { verify: true, ca } }),
  )
  t.equal((await failure).reason, 'connect-failed')
})

t.test('verify: false accepts any certificate', async (t) => {
  const { port } = await startTlsBackend(t, makeCertificate(t, 'DNS:other.example'))
  const upstream = openTestUpstream(t, `https://localhost:${port}`, { tls: { verify: false, ca: undefined } })
  t.equal((await request(upstream)).body, 'http/1.1 localhost')
})

t.test('an expired certificate is refused, though its CA is trusted', async (t) => {
  const { port } = await startTlsBackend(t, expiredCertificate)
  const url = `https://localhost:${port}`
  const { failure } = exchange(
    openTestUpstream(t, url, { tls: { verify: true, ca: expiredCertificate.cert } }),
  )
  t.match(await failure, { reason: 'connect-failed', message: /expired/ })
  const unverified = openTestUpstream(t, url, { tls: { verify: false, ca: undefined } })
  t.equal((await request(unverified)).body, 'http/1.1 localhost')
})

t.test('TLS to a plain-text server fails, and is not retried in the clear', async (t) => {
  let isAsked = false
  const url = await startServer(t, () => {
    isAsked = true
  })
  const { failure } = exchange(openTestUpstream(t, url.replace('http:', 'https:')))
  t.equal((await failure).reason, 'connect-failed')
  t.equal(isAsked, false)
})

t.test('TLS connections are reused', async (t) => {
  const certificate = makeCertificate(t, 'DNS:localhost')
  const { port, countConnections } = await startTlsBackend(t, certificate)
  const tls = { verify: true, ca: certificate.cert }
  const upstream = openTestUpstream(t, `https://localhost:${port}`, { tls })
  for (let turn = 0; turn < 5; turn++) t.match(await request(upstream), { body: /^http/ })
  t.equal(countConnections(), 1)
})

t.test('a new TLS connection resumes an earlier session', async (t) => {
  const certificate = makeCertificate(t, 'DNS:localhost')
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    const reused: boolean[] = []
    const server = createServer({ ...certificate, maxVersion }, (_request, response) =>
      response.writeHead(200, { Connection: 'close' }).end('ok'),
    ).listen(0, '127.0.0.1')
    server.on('secureConnection', (socket) => reused.push(socket.isSessionReused()))
    await once(server, 'listening')
    t.teardown(() => server.close())
    const tls = { verify: true, ca: certificate.cert }
    const upstream = openTestUpstream(t, `https://localhost:${portOf(server)}`, { tls })
    for (let turn = 0; turn < 3; turn++) t.match(await request(upstream), { body: 'ok' })
    t.strictSame(reused, [false, true, true], maxVersion)
  }
})
