import t from 'tap'
import { run } from '../cli/run.ts'
import { newIssuerKey, startIssuer } from '../identity/issuers/issuer-server.ts'
import { startBoth } from '../setup/both.ts'
import { rawRequest } from '../setup/raw-client.ts'
import { ask } from './support/ask.ts'

const wellKnown = '/.well-known/oauth-protected-resource'
const origin = 'https://api.example.com:8443'

const route = (path: string, options: Readonly<Record<string, unknown>> = {}) => ({
  name: `r${path.replaceAll(/[^a-z]/g, '')}`,
  path,
  upstream: 'backend',
  auth: 'any',
  ...options,
})

t.test('the metadata of resources, and the challenges that lead to it', async (t) => {
  const issuer = await startIssuer(t, [await newIssuerKey('one')])
  const { backend, gateway } = await startBoth(t, {
    config: {
      publicUrl: origin,
      issuers: [
        { name: 'corp', issuer: issuer.url, audience: 'orders', scopes: 'scope' },
        {
          name: 'other',
          issuer: 'https://other.example.com/',
          audience: 'x',
          jwks: { url: `${issuer.url}/jwks` },
        },
      ],
      routes: [
        route('/', { name: 'rest', auth: 'none' }),
        route('/mcp', { issuers: ['corp', 'other'], scopes: undefined }),
        route('/orders/', {
          name: 'read',
          methods: ['GET'],
          auth: 'bearer',
          issuers: ['corp'],
          scopes: ['orders:read'],
        }),
        route('/orders', {
          name: 'write',
          methods: ['POST'],
          issuers: ['corp'],
          scopes: ['orders:write', 'orders:read'],
        }),
        route('/orders', { name: 'delete', methods: ['DELETE'], auth: 'secretKey' }),
        route('/mcp', { name: 'host', host: 'tools.example.com', issuers: ['corp'] }),
        route('/ours'),
        route('/keys', { auth: 'secretKey' }),
        route('/left', { authorization: 'backend' }),
        route('/optional/a%20b', { auth: 'optional', issuers: ['corp'] }),
      ],
      decide: { port: 0 },
      trustedProxies: ['127.0.0.1'],
      cors: { origins: ['https://app.example.com'] },
    },
  })
  const get = (path: string, headers: readonly string[] = []) => ask(t, gateway.url, `GET ${path}`, headers)
  const askHost = (host: string, path: string) =>
    rawRequest(t, gateway.url, [`GET ${path} HTTP/1.1`, `Host: ${host}`])
  const base = {
    bearer_methods_supported: ['header'],
    dpop_signing_alg_values_supported: ['ES256', 'ES384', 'EdDSA', 'Ed25519', 'RS256', 'PS256'],
  }

  for (const [path, expected] of [
    [
      '/mcp',
      {
        resource: `${origin}/mcp`,
        authorization_servers: [issuer.url, 'https://other.example.com/', origin],
      },
    ],
    [
      '/orders',
      {
        resource: `${origin}/orders`,
        authorization_servers: [issuer.url, origin],
        scopes_supported: ['orders:read', 'orders:write'],
      },
    ],
    ['/ours', { resource: `${origin}/ours`, authorization_servers: [origin] }],
    [
      '/optional/a%20b',
      { resource: `${origin}/optional/a%20b`, authorization_servers: [issuer.url, origin] },
    ],
  ] as const) {
    const { status, headers, json } = await get(wellKnown + path, ['Origin: https://app.example.com'])
    t.equal(status, 200, path)
    t.strictSame(json(), { ...expected, ...base })
    t.match(headers, {
      'content-type': /^application\/json/,
      'cache-control': 'public, max-age=300',
      'access-control-allow-origin': 'https://app.example.com',
    })
  }
  const ofHost = await askHost('TOOLS.example.com:1234', `${wellKnown}/mcp`)
  t.strictSame(ofHost.json(), {
    resource: 'https://tools.example.com:8443/mcp',
    authorization_servers: [issuer.url, origin],
    ...base,
  })
  t.equal((await ask(t, gateway.url, `HEAD ${wellKnown}/mcp`)).status, 200)
  t.match(await ask(t, gateway.url, `POST ${wellKnown}/mcp`), {
    status: 405,
    headers: { allow: 'GET, HEAD' },
  })

  const before = backend.seen.length
  for (const path of ['', '/keys', '/mcp/deeper', '/nothing'])
    t.equal((await get(wellKnown + path)).status, 200, `${path} is the backend's`)
  t.equal(backend.seen.length, before + 4)

  const metadataOf = (path: string) => `resource_metadata="${origin}${wellKnown}${path}"`
  const challengesOf = async (path: string, headers: readonly string[] = []) =>
    [(await get(path, headers)).headers['www-authenticate'] ?? ''].flat().join(', ')
  const key = 'SecretKey realm="gatehouse"\n'
  t.equal(
    await challengesOf('/mcp/x'),
    `Bearer realm="gatehouse", ${metadataOf('/mcp')}\n${key.trim()}`,
    'first, for clients that read one',
  )
  t.equal(
    await challengesOf('/orders', ['Authorization: Bearer x']),
    `Bearer realm="gatehouse", error="invalid_token", error_description="the token is not valid", ${metadataOf('/orders')}`,
  )
  t.match(
    await challengesOf('/orders', [`Authorization: Bearer ${await issuer.sign({ scope: 'other' })}`]),
    `scope="orders:read", ${metadataOf('/orders')}`,
  )
  t.equal(await challengesOf('/ours'), `${key}Bearer realm="gatehouse"`, 'there is nobody to ask')
  t.equal(await challengesOf('/keys'), 'SecretKey realm="gatehouse"')
  t.equal(await challengesOf('/api/v1/accounts/usage'), `${key}Bearer realm="gatehouse"`)
  const atHost = await askHost('tools.example.com', '/mcp')
  t.match(
    atHost.headers['www-authenticate'],
    `resource_metadata="https://tools.example.com:8443${wellKnown}/mcp"`,
  )

  const decided = await fetch(`${gateway.decideUrl}/decide`, {
    headers: {
      'X-Forwarded-Method': 'GET',
      'X-Forwarded-Proto': 'https',
      'X-Forwarded-Host': 'api.example.com',
      'X-Forwarded-Uri': '/mcp',
      'X-Forwarded-For': '192.0.2.1',
    },
  })
  t.equal(decided.status, 401)
  t.match(decided.headers.get('www-authenticate'), metadataOf('/mcp'))

  const explained = await run(t, [
    ...['explain', 'GET', `${gateway.url}${wellKnown}/mcp`, '--json', '--config', gateway.configFile],
  ])
  t.match(explained.json(), { decision: 'answer', route: '_gateway' })
})
