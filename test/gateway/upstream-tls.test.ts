import { once } from 'node:events'
import { createSecureServer } from 'node:http2'
import { createServer } from 'node:https'
import type { TLSSocket, TlsOptions } from 'node:tls'
import t, { type Test } from 'tap'
import { serve } from '../cli/run.ts'
import { createWorkspace } from '../cli/workspace.ts'
import { type Certificate, expiredCertificate, makeCertificate } from '../setup/certificates.ts'
import { notInApp, startGateway } from '../setup/gateway.ts'
import { portOf, until } from '../setup/net.ts'
import { ask } from './support/ask.ts'
import { readMetrics } from './support/metrics.ts'
import { assertProblem } from './support/problem.ts'
import { reloadWith, taken } from './support/reload.ts'
import { certificateFiles } from './support/tls.ts'

/** A backend that shows this certificate. @returns its URL by the name `localhost` */
async function startTlsBackend(t: Test, certificate: Certificate, options: TlsOptions = {}): Promise<string> {
  const server = createServer({ ...options, ...certificate }, (_request, response) => response.end('ok'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return `https://localhost:${portOf(server)}`
}

/** The first answer of a gateway before such a backend. */
async function answerOf(t: Test, shown: Certificate, tls: Readonly<Record<string, unknown>>) {
  const url = await startTlsBackend(t, shown)
  const upstreams = { backend: { targets: [{ url }], tls } }
  const gateway = await startGateway(t, { config: { upstreams } })
  const response = await ask(t, gateway.url, 'GET /public')
  return { response, log: gateway.logLines.join('') }
}

t.test("a backend's certificate is checked for its CA, its name and its validity", async (t) => {
  const right = makeCertificate(t, 'DNS:localhost')
  const { response } = await answerOf(t, right, { ca: certificateFiles(t, right).tls.cert })
  t.match(response, { status: 200, body: 'ok' })
})

t.test("a CA of the system's trust store is trusted without configuration", async (t) => {
  const shown = makeCertificate(t, 'DNS:localhost')
  const url = await startTlsBackend(t, shown)
  const routes = [{ name: 'public', path: '/', upstream: 'backend', auth: 'none' }]
  const { config, folder } = createWorkspace(t, { upstreams: { backend: { targets: [{ url }] } }, routes })
  const statusWith = async (env: Readonly<Record<string, string>>) => {
    const gateway = await serve(t, ['--config', config], { cwd: folder, env })
    return (await fetch(`${gateway.url}/public`)).status
  }
  t.equal(await statusWith({ SSL_CERT_FILE: certificateFiles(t, shown).tls.cert.file }), 200)
  t.equal(await statusWith({}), 502)
})

const wrong: readonly (readonly [what: string, shown: (t: Test) => Certificate, reason: RegExp])[] = [
  ['the wrong name', (t) => makeCertificate(t, 'DNS:other.example'), /altnames|does not match/],
  ['an expired date', () => expiredCertificate, /expired/],
]

for (const [what, make, reason] of wrong) {
  t.test(`a backend whose certificate has ${what} is 502, and the log says why`, async (t) => {
    const shown = make(t)
    const { response, log } = await answerOf(t, shown, { ca: certificateFiles(t, shown).tls.cert })
    assertProblem(t, response, { status: 502, code: 'upstream-unreachable' })
    t.notMatch(response.body, /certificate|localhost/)
    t.match(log, reason)
    const unverified = await answerOf(t, shown, { verify: false })
    t.match(unverified.response, { status: 200, body: 'ok' })
  })
}

t.test('a backend with an unknown CA is 502, unless tls.verify is off', async (t) => {
  const shown = makeCertificate(t, 'DNS:localhost')
  const other = certificateFiles(t, makeCertificate(t, 'DNS:localhost')).tls.cert
  for (const tls of [{}, { ca: other }]) {
    const { response, log } = await answerOf(t, shown, tls)
    assertProblem(t, response, { status: 502, code: 'upstream-unreachable' })
    t.match(log, /self-signed/)
  }
  t.equal((await answerOf(t, shown, { verify: false })).response.status, 200)
})

for (const protocol of ['http1', 'http2'] as const) {
  t.test(
    `tls.serverName is asked for and verified, and the client certificate is shown: ${protocol}`,
    { skip: notInApp('it has a test of its own') },
    async (t) => {
      const shown = makeCertificate(t, 'DNS:orders.internal')
      const [first, second] = [makeCertificate(t, 'DNS:gateway-1'), makeCertificate(t, 'DNS:gateway-2')]
      const pair = certificateFiles(t, first)
      const asked = new Set<string>()
      // All certificates of these tests have one subject, by which a server would look for the authority.
      const options = { ...shown, requestCert: true, rejectUnauthorized: false }
      const server = createSecureServer(
        { ...options, allowHTTP1: protocol === 'http1' },
        (request, response) => {
          // The cast is sound: a server for TLS has no other sockets.
          const socket = (request.stream?.session?.socket ?? request.socket) as TLSSocket
          asked.add(String(socket.servername))
          response.end(socket.getPeerX509Certificate()?.subjectAltName ?? '')
        },
      ).listen(0, '127.0.0.1')
      await once(server, 'listening')
      const sockets = new Set<TLSSocket>()
      server.on('secureConnection', (socket: TLSSocket) => {
        sockets.add(socket)
        if (socket.getPeerX509Certificate() === undefined) socket.destroy()
      })
      t.teardown(() => {
        server.close()
        for (const socket of sockets) socket.destroy()
      })

      const url = `https://127.0.0.1:${portOf(server)}`
      const ca = certificateFiles(t, shown).tls.cert
      const upstreamsWith = (tls: object) => ({
        backend: {
          targets: [{ url }],
          protocol,
          tls: { ca, ...tls },
          health: { active: { path: '/healthz', interval: '20ms', unhealthyAfter: 2, healthyAfter: 1 } },
        },
      })
      const serverName = 'orders.internal'
      const gateway = await startGateway(t, {
        config: { upstreams: upstreamsWith({ serverName, ...pair.tls }) },
      })
      const named = async () => (await ask(t, gateway.url, 'GET /public')).body
      t.equal(await named(), 'DNS:gateway-1')
      t.strictSame([...asked], [serverName])

      pair.write(second)
      t.match(await reloadWith(gateway, {}), taken)
      t.equal(await named(), 'DNS:gateway-2', 'a reload reads both again')
      pair.write({ cert: first.cert, key: second.key })
      const { code, problems } = await reloadWith(gateway, {})
      t.match({ code, problems }, { code: 422, problems: [/is not the key of the certificate/] })
      t.equal(await named(), 'DNS:gateway-2', 'a pair that does not match changes nothing')
      pair.write(second)

      const healthOf = async () =>
        (await readMetrics(gateway.opsUrl)).samples.find(
          ({ name }) => name === 'gatehouse_upstream_target_healthy',
        )?.value
      for (const [tls, status] of [
        [{ serverName }, 502],
        [{ serverName: 'other.internal', ...pair.tls }, 502],
        [{ serverName, ...pair.tls }, 200],
      ] as const) {
        t.match(await reloadWith(gateway, { upstreams: upstreamsWith(tls) }), taken)
        await until(
          'the checks find out',
          async () => (await healthOf()) === Number(status === 200) || undefined,
        )
        const answer = await ask(t, gateway.url, 'GET /public')
        if (status === 200) t.equal(answer.status, 200)
        else assertProblem(t, answer, { status: 503, code: 'upstream-unavailable' })
      }
    },
  )
}
