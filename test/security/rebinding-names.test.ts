import { once } from 'node:events'
import { createServer } from 'node:https'
import t, { type Test } from 'tap'
import { ask } from '../gateway/support/ask.ts'
import { certificateFiles } from '../gateway/support/tls.ts'
import { type Certificate, makeCertificate } from '../setup/certificates.ts'
import { startNameServer } from '../setup/dns-server.ts'
import { startGateway } from '../setup/gateway.ts'
import { freePort, until } from '../setup/net.ts'

const host = 'orders.test'

/** A server for TLS that counts the requests and the bytes of any kind that it gets. */
async function startAt(t: Test, address: string, port: number, certificate: Certificate) {
  const got = { requests: 0, connections: 0 }
  const server = createServer(certificate, (_request, response) => {
    got.requests++
    response.end(address)
  }).listen(port, address)
  server.on('connection', () => got.connections++)
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return got
}

t.test(
  'a name that resolves to a foreign server gives it no request, and no connection is kept',
  async (t) => {
    const server = await startNameServer(t)
    const [right, foreign] = [makeCertificate(t, `DNS:${host}`), makeCertificate(t, `DNS:${host}`)]
    const port = await freePort()
    const own = await startAt(t, '127.0.0.21', port, right)
    const theirs = await startAt(t, '127.0.0.22', port, foreign)
    server.names.set(host, ['127.0.0.21'])
    const backend = {
      targets: [{ url: `https://${host}:${port}` }],
      resolve: 'all',
      tls: { ca: certificateFiles(t, right).tls.cert },
    }
    const gateway = await startGateway(t, { config: { upstreams: { backend } } })
    const account = await gateway.createAccount()
    const askOwn = () => ask(t, gateway.url, 'GET /key/x', [`SecretKey: ${account.secretKey}`])
    await until('it is resolved', async () => (await askOwn()).body === '127.0.0.21' || undefined)
    const before = own.requests

    server.names.set(host, ['127.0.0.22'])
    await until('the foreign server is connected to', async () => {
      await askOwn()
      return theirs.connections > 0 || undefined
    })
    const requests = own.requests
    for (let count = 0; count < 5; count++) {
      const { status, body } = await askOwn()
      t.equal(status, 502)
      t.notMatch(body, /127\.0\.0\.|orders\.test/)
    }
    t.equal(theirs.requests, 0)
    t.equal(own.requests, requests, 'nor does the address of before get any')
    t.ok(requests >= before)

    server.names.set(host, ['127.0.0.21'])
    await until('it is back', async () => (await askOwn()).body === '127.0.0.21' || undefined)
  },
)

t.test('a name that resolves to no server’s address changes nothing', async (t) => {
  const server = await startNameServer(t)
  const certificate = makeCertificate(t, `DNS:${host}`)
  const port = await freePort()
  await startAt(t, '127.0.0.21', port, certificate)
  const atHome = await startAt(t, '127.0.0.1', port, certificate)
  server.names.set(host, ['127.0.0.21'])
  const backend = {
    targets: [{ url: `https://${host}:${port}` }],
    resolve: 'all',
    tls: { ca: certificateFiles(t, certificate).tls.cert },
  }
  const gateway = await startGateway(t, { config: { upstreams: { backend } } })
  const bodyOf = async () => (await ask(t, gateway.url, 'GET /public/x')).body
  await until('it is resolved', async () => (await bodyOf()) === '127.0.0.21' || undefined)
  server.names.set(host, ['0.0.0.0', '::', '224.0.0.1'])
  await until(
    'it was asked for',
    () => gateway.logLines.some((line) => line.includes('target not resolved')) || undefined,
  )
  t.equal(await bodyOf(), '127.0.0.21')
  t.equal(atHome.connections, 0)
})
