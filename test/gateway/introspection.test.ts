import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startIntrospectionServer } from '../identity/issuers/introspection-server.ts'
import { startBoth } from '../setup/both.ts'
import { ask } from './support/ask.ts'

type Options = Readonly<Record<string, unknown>>

const route = (name: string, options: Options = {}) => ({
  name,
  path: `/${name}`,
  upstream: 'backend',
  auth: 'bearer',
  issuers: ['corp'],
  ...options,
})
const routes = [
  route('orders'),
  route('any', { auth: 'any' }),
  route('optional', { auth: 'optional' }),
  route('ours', { issuers: [] }),
  route('admin', { roles: ['Admin'] }),
  route('scoped', { scopes: ['orders:read'] }),
]
const right = { sub: 'ada', aud: 'orders', token_type: 'Bearer' }
/** For tests of more wrong tokens than a client may send. */
const limits = { failures: { limit: 1_000, per: '1m' } }

async function start(t: Test, options: Options = {}, config: Options = {}) {
  const server = await startIntrospectionServer(t, { 'opaque-token-of-ada': right })
  const file = join(t.testdir({ secret: 'a secret: ä+%' }), 'secret')
  const both = await startBoth(t, {
    config: {
      issuers: [
        {
          name: 'corp',
          issuer: server.url,
          audience: 'orders',
          introspection: { ...server.endpoint, clientId: 'gate:way', clientSecret: { file } },
          role: { claim: 'groups', map: { ops: 'Admin' } },
          scopes: 'scope',
          email: 'email',
          ...options,
        },
      ],
      routes,
      ...config,
    },
  })
  const codeOf = async (path: string, token: string, scheme = 'Bearer') => {
    const { status, json } = await ask(t, both.gateway.url, `GET ${path}`, [
      `Authorization: ${scheme} ${token}`,
    ])
    return status === 200 ? '200' : `${status} ${(json() as { readonly code: string }).code}`
  }
  return { server, codeOf, ...both }
}

t.test('an opaque token passes the routes of its issuer, and no other; it is asked about once', async (t) => {
  const { server, backend, codeOf } = await start(t)
  const token = 'opaque-token-of-ada'
  for (const path of ['/orders', '/any', '/optional', '/orders']) t.equal(await codeOf(path, token), '200')
  t.match(backend.last().headers, { 'x-user-id': 'corp:ada', 'x-user-role': 'User' })
  t.equal(backend.last().headers.authorization, undefined)
  t.strictSame(server.asked(), [token])
  const [asked] = server.seen
  t.match(asked, { method: 'POST', url: '/introspect' })
  t.match(asked?.headers['content-type'], /^application\/x-www-form-urlencoded/)
  t.equal(new URLSearchParams(asked?.body).get('token_type_hint'), 'access_token')
  const [scheme, credentials = ''] = asked?.headers.authorization?.split(' ') ?? []
  t.equal(scheme, 'Basic')
  t.equal(Buffer.from(credentials, 'base64').toString(), 'gate%3Away:a+secret%3A+%C3%A4%2B%25', 'form-encoded first (RFC 6749 2.3.1)')
  for (const path of ['/ours', '/api/v1/admin/accounts', '/api/v1/accounts/usage'])
    t.equal(await codeOf(path, token), '401 token-invalid', path)
  t.equal(await codeOf('/orders', 'another-token'), '401 token-invalid')
  t.strictSame(server.asked(), [token, 'another-token'])
})

t.test('the members of an answer are read as the claims of a token', async (t) => {
  const { server, backend, codeOf } = await start(t, { require: { tenant: ['acme'] } }, { limits })
  const exp = Math.floor(Date.now() / 1_000) + 60
  for (const [members, path, expected] of [
    [{}, '/orders', '401 token-invalid'],
    [{ tenant: 'other' }, '/orders', '401 token-invalid'],
    [{ tenant: 'acme' }, '/orders', '200'],
    [{ tenant: 'acme', sub: undefined }, '/orders', '401 token-invalid'],
    [{ tenant: 'acme', sub: 7 }, '/orders', '401 token-invalid'],
    [{ tenant: 'acme', aud: 'shop' }, '/orders', '401 token-invalid'],
    [{ tenant: 'acme', aud: undefined }, '/orders', '401 token-invalid'],
    [{ tenant: 'acme', aud: ['shop', 'orders'] }, '/orders', '200'],
    [{ tenant: 'acme', iss: 'https://other.example.com' }, '/orders', '401 token-invalid'],
    [{ tenant: 'acme', iss: server.url, exp, nbf: null }, '/orders', '200'],
    [{ tenant: 'acme', exp: 1 }, '/orders', '401 token-expired'],
    [{ tenant: 'acme', exp: 'soon' }, '/orders', '401 token-invalid'],
    [{ tenant: 'acme', nbf: exp }, '/orders', '401 token-invalid'],
    [{ tenant: 'acme', groups: ['ops'] }, '/admin', '200'],
    [{ tenant: 'acme', groups: 'staff' }, '/admin', '403 role-forbidden'],
    [{ tenant: 'acme', scope: 'orders:read openid' }, '/scoped', '200'],
    [{ tenant: 'acme', scope: 'openid' }, '/scoped', '403 scope-forbidden'],
    [{ tenant: 'acme', scope: 'openid' }, '/orders', '403 scope-forbidden'],
    [{ tenant: 'acme', token_type: 'refresh_token' }, '/orders', '401 token-invalid'],
    [{ tenant: 'acme', token_type: undefined, token_use: 'refresh_token' }, '/orders', '401 token-invalid'],
    [{ tenant: 'acme', token_type: undefined, token_use: 'access_token' }, '/orders', '200'],
    [{ tenant: 'acme', token_type: undefined, typ: 'Refresh' }, '/orders', '401 token-invalid'],
    [{ tenant: 'acme', token_type: undefined, typ: 'Bearer' }, '/orders', '200'],
    [{ tenant: 'acme', token_type: 'DPoP' }, '/orders', '401 token-invalid'],
    [{ tenant: 'acme', cnf: { jkt: 'x'.repeat(43) }, token_type: 'DPoP' }, '/orders', '401 proof-missing'],
    [{ tenant: 'acme', active: false }, '/orders', '401 token-invalid'],
  ] as const) {
    const token = `token-${server.state.tokens.size}`
    server.state.tokens.set(token, { ...right, ...members })
    t.equal(await codeOf(path, token), expected, `${path} ${JSON.stringify(members)}`)
  }
  t.equal(backend.last().headers['x-user-id'], 'corp:ada')
})
