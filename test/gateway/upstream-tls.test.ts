import { once } from 'node:events'
import { createServer } from 'node:https'
import t, { type Test } from 'tap'
import { serve } from '../cli/run.ts'
import { createWorkspace } from '../cli/workspace.ts'
import { type Certificate, expiredCertificate, makeCertificate } from '../setup/certificates.ts'
import { startGateway } from '../setup/gateway.ts'
import { portOf } from '../setup/net.ts'
import { ask } from './support/ask.ts'
import { assertProblem } from './support/problem.ts'
import { certificateFiles } from './support/tls.ts'

/** A backend that shows this certificate. @returns its URL by the name `localhost` */
async function startTlsBackend(t: Test, certificate: Certificate): Promise<string> {
  const server = createServer(certificate, (_request, response) => response.end('ok'))
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
