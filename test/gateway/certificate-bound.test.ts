import { createHash, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:http2'
import * as https from 'node:https'
import { type Agent, request } from 'node:https'
import { exportJWK, generateKeyPair } from 'jose'
import Provider from 'oidc-provider'
import t, { type Test } from 'tap'
import { tempFolder } from '../cli/run.ts'
import { ask as askHttp2 } from '../http/h2/ask.ts'
import { newIssuerKey, startIssuer } from '../identity/issuers/issuer-server.ts'
import { startBoth } from '../setup/both.ts'
import { type Certificate, makeCertificate } from '../setup/certificates.ts'
import { portOf } from '../setup/net.ts'
import { ask } from './support/ask.ts'

const server = makeCertificate(t, 'IP:127.0.0.1')
const [mine, other, stranger] = ['a', 'b', 'c'].map((name) => makeCertificate(t, `DNS:${name}`, name)) as [
  Certificate,
  Certificate,
  Certificate,
]

const derOf = ({ cert }: Certificate) => new X509Certificate(cert).raw
const thumbprintOf = (certificate: Certificate) =>
  createHash('sha256').update(derOf(certificate)).digest('base64url')

/** A gateway with TLS that asks its clients for a certificate of one of two authorities. */
async function start(t: Test, config: object = {}) {
  const folder = tempFolder(t)
  const file = (name: string, text: string) => {
    writeFileSync(`${folder}/${name}`, text)
    return { file: `${folder}/${name}` }
  }
  const clientCa = file('ca.pem', mine.cert + other.cert)
  const issuer = await startIssuer(t, [await newIssuerKey('one')])
  const { backend, gateway } = await startBoth(t, {
    config: {
      listen: {
        port: 0,
        tls: { cert: file('cert.pem', server.cert), key: file('key.pem', server.key), clientCa },
      },
      issuers: [{ name: 'corp', issuer: issuer.url, audience: 'orders', algorithms: ['ES256'] }],
      routes: [{ name: 'bound', path: '/bound', upstream: 'backend', auth: 'any', issuers: ['corp'] }],
      ...config,
    },
  })
  const token = await issuer.sign({ cnf: { 'x5t#S256': thumbprintOf(mine) } })
  return { backend, gateway, issuer, token, clientCa }
}

interface Sent {
  readonly status: number
  readonly code: string
  readonly challenge: string
  readonly isResumed: boolean
}

function send(url: string, token: string, client?: Certificate, agent?: Agent): Promise<Sent> {
  const headers = { Authorization: `Bearer ${token}` }
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/bound`, { ca: server.cert, headers, ...client, ...(agent && { agent }) })
    sent.on('error', reject).on('response', async (response) => {
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk as Buffer)
      const text = Buffer.concat(chunks).toString()
      const { code = '' } = response.statusCode === 200 ? {} : (JSON.parse(text) as { code: string })
      const { 'www-authenticate': challenge = '' } = response.headers
      // The cast is sound: it is a connection of TLS.
      const isResumed = (sent.socket as import('node:tls').TLSSocket).isSessionReused()
      resolve({ status: response.statusCode ?? 0, code, challenge, isResumed })
    })
    sent.end()
  })
}

t.test('a token that is bound to a certificate passes with that certificate alone', async (t) => {
  const { gateway, backend, issuer, token } = await start(t)
  t.equal((await send(gateway.url, token, mine)).status, 200)
  t.equal(backend.last().headers['x-user-id'], 'corp:ada')
  for (const [name, certificate] of [
    ['no certificate', undefined],
    ['another', other],
    ['one of an authority that is not trusted', stranger],
  ] as const) {
    const { status, code, challenge } = await send(gateway.url, token, certificate)
    t.match({ status, code }, { status: 401, code: 'certificate-required' }, name)
    t.match(challenge, /Bearer realm="gatehouse", error="invalid_token"/)
  }
  t.ok(gateway.logLines.some((line) => line.includes('does not match cnf.x5t#S256')))
  const untrusted = await issuer.sign({ cnf: { 'x5t#S256': thumbprintOf(stranger) } })
  t.equal((await send(gateway.url, untrusted, stranger)).status, 401, 'bound to what is not trusted')
  t.equal((await send(gateway.url, await issuer.sign())).status, 200, 'no other client needs one')
})

t.test('the same over HTTP/2', async (t) => {
  const { gateway, token } = await start(t)
  for (const [certificate, status] of [
    [mine, 200],
    [other, 401],
  ] as const) {
    const session = connect(gateway.url, { ca: server.cert, ...certificate })
    t.teardown(() => session.destroy())
    const headers = { authorization: `Bearer ${token}` }
    for (const path of ['/bound/a', '/bound/b'])
      t.equal((await askHttp2(session, path, { headers })).status, status)
  }
})

t.test('the authorities are read again by a reload, and a resumed session has no others', async (t) => {
  const { gateway, token, clientCa } = await start(t)
  const agent = new https.Agent({ maxCachedSessions: 10 })
  t.teardown(() => agent.destroy())
  t.equal((await send(gateway.url, token, mine, agent)).status, 200)
  t.match(await send(gateway.url, token, mine, agent), { status: 200, isResumed: true })
  writeFileSync(clientCa.file, other.cert)
  t.equal((await fetch(`${gateway.opsUrl}/reload`, { method: 'POST' })).status, 200)
  t.match(await send(gateway.url, token, mine, agent), { status: 401, isResumed: false })
  writeFileSync(clientCa.file, mine.cert)
  t.equal((await fetch(`${gateway.opsUrl}/reload`, { method: 'POST' })).status, 200)
  t.equal((await send(gateway.url, token, mine, agent)).status, 200)
})

const escapedPem = ({ cert }: Certificate) => encodeURIComponent(cert)
const hexOf = (certificate: Certificate) => createHash('sha256').update(derOf(certificate)).digest('hex')
const base64Of = (certificate: Certificate) => derOf(certificate).toString('base64')

const fields = {
  'Client-Cert': {
    right: [`:${base64Of(mine)}:`],
    wrong: [
      '',
      base64Of(mine),
      `:${base64Of(other)}:`,
      `:${base64Of(mine)}`,
      ':AAAA:',
      `:${base64Of(mine)}:, :${base64Of(mine)}:`,
    ],
  },
  'X-Forwarded-Client-Cert': {
    right: [
      `Hash=${hexOf(mine)}`,
      `By=spiffe://a;Hash=${hexOf(mine)};Subject="CN=a,O=\\"b;c\\"";URI=x;DNS=a;DNS=b`,
      `hash=${hexOf(mine).toUpperCase()}`,
      `Cert="${escapedPem(mine)}"`,
      `Hash=${hexOf(other)};Cert="${escapedPem(mine)}"`,
    ],
    wrong: [
      '',
      'Hash=',
      `Hash=${hexOf(other)}`,
      `Hash=${hexOf(mine)}00`,
      `Hash=${hexOf(mine)},Hash=${hexOf(other)}`,
      `Hash=${hexOf(other)},Hash=${hexOf(mine)}`,
      `Hash=${hexOf(other)};Hash=${hexOf(mine)}`,
      `Subject="Hash=${hexOf(mine)}"`,
      `Subject=";Hash=${hexOf(mine)}`,
      'Cert="%zz"',
      'Cert="no PEM"',
    ],
  },
}

for (const [name, { right, wrong }] of Object.entries(fields))
  t.test(`trusted proxies say in ${name} which certificate their client has`, async (t) => {
    const plain = { listen: { port: 0 }, clientCertificateHeader: name }
    const trusting = await start(t, { ...plain, trustedProxies: ['127.0.0.1'] })
    const statusOf = async ({ gateway, token }: typeof trusting, lines: readonly string[]) =>
      (await ask(t, gateway.url, 'GET /bound', [`Authorization: Bearer ${token}`, ...lines])).status
    for (const value of right) t.equal(await statusOf(trusting, [`${name}: ${value}`]), 200, value)
    for (const value of wrong) t.equal(await statusOf(trusting, [`${name}: ${value}`]), 401, value)
    const [value = ''] = right
    t.equal(await statusOf(trusting, [`${name}: ${value}`, `${name}: ${value}`]), 401, 'twice')
    const another = Object.keys(fields).find((each) => each !== name)
    t.equal(await statusOf(trusting, [`${another}: ${value}`]), 401, 'in another field')
    const alone = await start(t, plain)
    t.equal(await statusOf(alone, [`${name}: ${value}`]), 401, 'a client that is no proxy')
    const open = await alone.issuer.sign()
    const sent = [
      `Authorization: Bearer ${open}`,
      `${name}: ${value}`,
      'Client-Cert-Chain: x',
      'Client_Cert: x',
    ]
    t.equal((await ask(t, alone.gateway.url, 'GET /bound', sent)).status, 200)
    t.notOk(
      Object.keys(alone.backend.last().headers).some((each) => /client.?cert/.test(each)),
      'dropped',
    )
  })

t.test('tokens that oidc-provider binds to the certificate of a client pass with it alone', async (t) => {
  let handle: ReturnType<Provider['callback']> = () => {}
  const listener = createServer((incoming, response) => handle(incoming, response)).listen(0, '127.0.0.1')
  await once(listener, 'listening')
  t.teardown(() => listener.close())
  const url = `http://127.0.0.1:${portOf(listener)}`
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  const info = { scope: '', audience: 'orders', accessTokenFormat: 'jwt', jwt: { sign: { alg: 'ES256' } } }
  handle = new Provider(url, {
    clients: [
      {
        client_id: 'reader',
        client_secret: 'reader-secret',
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
        tls_client_certificate_bound_access_tokens: true,
      },
    ],
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: 'only', alg: 'ES256', use: 'sig' }] },
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      mTLS: { enabled: true, certificateBoundAccessTokens: true, getCertificate: () => mine.cert },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => 'urn:orders',
        getResourceServerInfo: () => info,
      },
    },
  }).callback()
  const granted = await fetch(`${url}/token`, {
    method: 'POST',
    headers: { Authorization: `Basic ${btoa('reader:reader-secret')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  })
  const { access_token: token = '' } = (await granted.json()) as { readonly access_token?: string }
  const issuers = [{ name: 'corp', issuer: url, audience: 'orders', algorithms: ['ES256'] }]
  const { gateway, backend } = await start(t, { issuers })
  t.equal((await send(gateway.url, token, mine)).status, 200)
  t.equal(backend.last().headers['x-user-id'], 'corp:reader')
  t.equal((await send(gateway.url, token, other)).status, 401)
  t.equal((await send(gateway.url, token)).status, 401)
})
