import { once } from 'node:events'
import { createServer } from 'node:http'
import { exportJWK, generateKeyPair } from 'jose'
import Provider from 'oidc-provider'
import * as client from 'openid-client'
import t, { type Test } from 'tap'
import { run } from '../cli/run.ts'
import { ask as askHttp2, connectHttp2 } from '../http/h2/ask.ts'
import { newIssuerKey, startIssuer } from '../identity/issuers/issuer-server.ts'
import { startBoth } from '../setup/both.ts'
import { freePort, portOf } from '../setup/net.ts'
import { askDecision } from './decide/support.ts'
import { ask } from './support/ask.ts'
import { newProofClient } from './support/proofs.ts'

const resource = 'https://orders.example.com'

/** A real OpenID provider that binds its tokens to the keys of its clients. */
async function startProvider(t: Test): Promise<string> {
  let handle: ReturnType<Provider['callback']> = () => {}
  const server = createServer((request, response) => handle(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const url = `http://127.0.0.1:${portOf(server)}`
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  const sign = { alg: 'ES256' }
  handle = new Provider(url, {
    clients: [
      {
        client_id: 'reader',
        client_secret: 'reader-secret',
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
        dpop_bound_access_tokens: true,
      },
    ],
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: 'only', alg: 'ES256', use: 'sig' }] },
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      dPoP: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        getResourceServerInfo: () => ({
          scope: '',
          audience: resource,
          accessTokenFormat: 'jwt',
          jwt: { sign },
        }),
      },
    },
  }).callback()
  return url
}

t.test(
  'tokens that oidc-provider binds to the key of openid-client pass with its proofs alone',
  async (t) => {
    const issuer = await startProvider(t)
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const { backend } = await startBoth(t, {
      config: {
        publicUrl: url,
        listen: { port },
        issuers: [{ name: 'corp', issuer, audience: resource, algorithms: ['ES256'] }],
        routes: [{ name: 'bound', path: '/bound', upstream: 'backend', auth: 'any', issuers: ['corp'] }],
      },
    })
    const config = await client.discovery(
      new URL(issuer),
      'reader',
      undefined,
      client.ClientSecretBasic('reader-secret'),
      {
        execute: [client.allowInsecureRequests],
      },
    )
    const DPoP = client.getDPoPHandle(config, await client.randomDPoPKeyPair('ES256'))
    const { access_token: token, token_type: type } = await client.clientCredentialsGrant(
      config,
      {},
      { DPoP },
    )
    t.equal(type, 'dpop')
    const target = new URL(`${url}/bound/x`)
    for (let round = 0; round < 3; round++) {
      const answer = await client.fetchProtectedResource(config, token, target, 'POST', 'body', undefined, {
        DPoP,
      })
      t.equal(answer.status, 200)
      t.equal(backend.last().headers['x-user-id'], 'corp:reader')
    }
    const stolen = client.getDPoPHandle(config, await client.randomDPoPKeyPair('ES256'))
    await t.rejects(
      client.fetchProtectedResource(config, token, target, 'GET', null, undefined, { DPoP: stolen }),
    )
    t.equal((await fetch(target, { headers: { Authorization: `Bearer ${token}` } })).status, 401)
  },
)

/** A gateway that other proxies may ask, too, and a client with a token that is bound to its key. */
async function start(t: Test) {
  const issuer = await startIssuer(t, [await newIssuerKey('one')])
  const route = { upstream: 'backend' }
  const both = await startBoth(t, {
    config: {
      decide: { port: 0 },
      trustedProxies: ['127.0.0.1'],
      issuers: [{ name: 'corp', issuer: issuer.url, audience: 'orders', algorithms: ['ES256'] }],
      routes: [
        { ...route, name: 'files', path: '/files', auth: 'bearer', issuers: ['corp'] },
        { ...route, name: 'backend', path: '/backend', auth: 'any', authorization: 'backend' },
        { ...route, name: 'public', path: '/public', auth: 'none' },
      ],
    },
  })
  const key = await newProofClient()
  const token = await issuer.sign({ cnf: { jkt: key.jkt } })
  return { ...both, issuer, key, token }
}

t.test('a bound token passes over HTTP/2', async (t) => {
  const { gateway, backend, key, token } = await start(t)
  const session = await connectHttp2(t, gateway.url)
  const proof = await key.prove({ url: `${gateway.url}/files/a`, token })
  const headers = { authorization: `DPoP ${token}`, dpop: proof }
  t.equal((await askHttp2(session, '/files/a', { headers })).status, 200)
  t.equal(backend.last().headers.dpop, undefined)
  t.equal((await askHttp2(session, '/files/a', { headers })).status, 401, 'once')
  const twice = { authorization: `DPoP ${token}`, dpop: [proof, proof] }
  t.equal((await askHttp2(session, '/files/a', { headers: twice })).status, 401)
})

t.test('other proxies are told about the request that they describe', async (t) => {
  const { gateway, key, token } = await start(t)
  const ask = async (url: string) => {
    const proof = await key.prove({ url, token })
    const headers = [`Authorization: DPoP ${token}`, `DPoP: ${proof}`]
    return askDecision(t, gateway, { uri: '/files/a?b', headers })
  }
  const allowed = await ask('https://gateway.test/files/a')
  t.match([allowed.status, allowed.headers['x-user-id']], [200, 'corp:ada'])
  const refused = await ask(`${gateway.decideUrl}/decide`)
  t.match([refused.status, refused.headers['www-authenticate']], [401, /^DPoP /])
})

t.test('a second target needs no proof of its own', async (t) => {
  const { gateway, key, token } = await start(t)
  const url = 'http://gateway.test/files/a'
  const proof = await key.prove({ url, method: 'MOVE', token })
  const lines = [`Authorization: DPoP ${token}`, `DPoP: ${proof}`, 'Destination: http://gateway.test/files/b']
  t.equal((await ask(t, gateway.url, 'MOVE /files/a', lines)).status, 200)
})

t.test("where Authorization is the backend's, and where nobody looks at it, so is the proof", async (t) => {
  const { gateway, backend, key, token } = await start(t)
  const { secretKey } = await gateway.createAccount()
  const proof = await key.prove({ url: 'http://backend.test/', token })
  for (const path of ['/backend', '/public']) {
    const lines = [`SecretKey: ${secretKey}`, `Authorization: DPoP ${token}`, `DPoP: ${proof}`]
    t.equal((await ask(t, gateway.url, `GET ${path}`, lines)).status, 200, path)
    t.match(backend.last().headers, { authorization: `DPoP ${token}`, dpop: proof })
  }
})

t.test('explain checks a proof, shows it to nobody, and uses up nothing', async (t) => {
  const { gateway, key, token } = await start(t)
  const url = `${gateway.url}/files/a`
  const proof = await key.prove({ url, token })
  const explain = async (...headers: readonly string[]) => {
    const lines = headers.flatMap((line) => ['-H', line])
    return (await run(t, ['explain', 'GET', url, ...lines, '--config', gateway.configFile])).stdout
  }
  for (let round = 0; round < 2; round++) {
    const allowed = await explain(`Authorization: DPoP ${token}`, `DPoP: ${proof}`)
    t.match(allowed, 'bound to the key')
    t.notOk(allowed.includes(proof) || allowed.includes(token))
  }
  t.match(await explain(`Authorization: DPoP ${token}`), 'proof: no proof was sent')
  t.match(await explain(`Authorization: Bearer ${token}`), /proof-missing/)
  const sent = await fetch(url, { headers: { Authorization: `DPoP ${token}`, DPoP: proof } })
  t.equal(sent.status, 200)
})
