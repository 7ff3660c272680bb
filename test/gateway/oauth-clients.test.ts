import * as client from 'openid-client'
import t, { type Test } from 'tap'
import { startBoth } from '../setup/both.ts'
import { freePort, until } from '../setup/net.ts'
import { addKey } from './support/further-keys.ts'

/** A gateway that clients discover at its own URL, before a route for each kind of scope. */
async function start(t: Test) {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const { backend, gateway } = await startBoth(t, {
    config: {
      publicUrl: url,
      listen: { port },
      routes: [
        { name: 'any', path: '/any', upstream: 'backend', auth: 'bearer' },
        { name: 'orders', path: '/orders', upstream: 'backend', auth: 'bearer', scopes: ['orders:read'] },
      ],
    },
  })
  const discover = (id: string, auth: client.ClientAuth) =>
    client.discovery(new URL(url), id, undefined, auth, {
      algorithm: 'oauth2',
      execute: [client.allowInsecureRequests],
    })
  const statusOf = async (path: string, token: string) =>
    (await fetch(url + path, { headers: { Authorization: `Bearer ${token}` } })).status
  return { backend, gateway, url, discover, statusOf }
}

/** Status and error, as the library tells them; where it tells a challenge alone, the status. */
async function refusalOf(answer: Promise<unknown>): Promise<string> {
  const refused = (reason: unknown) => reason as { readonly status?: number; readonly error?: string }
  const { status, error = '' } = await answer.then(() => ({ status: 200, error: '' }), refused)
  return `${status} ${error}`
}

t.test('openid-client gets a token by its discovered endpoint, by Basic and in the body', async (t) => {
  const { backend, gateway, discover, statusOf } = await start(t)
  const { account, apiKey, secretKey } = await gateway.createAccount()
  for (const auth of [client.ClientSecretBasic(secretKey), client.ClientSecretPost(secretKey)]) {
    const tokens = await client.clientCredentialsGrant(await discover(apiKey, auth))
    t.equal(tokens.token_type, 'bearer')
    t.equal(tokens.expires_in, 600)
    t.notOk('refresh_token' in tokens, 'RFC 6749 4.4.3')
    t.notOk('scope' in tokens, 'it is not limited')
    t.equal(await statusOf('/any', tokens.access_token), 200)
    t.equal(backend.last().headers['x-user-id'], account.id)
  }
})

t.test('openid-client asks for fewer scopes than its key has, and is refused more', async (t) => {
  const { gateway, discover, statusOf } = await start(t)
  const { account, apiKey, secretKey } = await gateway.createAccount()
  const limited = await addKey(gateway, account.id, { name: 'ci', scopes: ['orders:read', 'orders:write'] })
  const config = await discover(apiKey, client.ClientSecretBasic(limited))
  const all = await client.clientCredentialsGrant(config)
  t.equal(all.scope, 'orders:read orders:write')
  const fewer = await client.clientCredentialsGrant(config, { scope: 'orders:read' })
  t.equal(fewer.scope, 'orders:read')
  t.equal(await statusOf('/orders', fewer.access_token), 200)
  t.equal(await statusOf('/any', fewer.access_token), 403)
  const other = await client.clientCredentialsGrant(config, { scope: 'orders:write' })
  t.equal(await statusOf('/orders', other.access_token), 403)
  t.equal(
    await refusalOf(client.clientCredentialsGrant(config, { scope: 'orders:read admin' })),
    '400 invalid_scope',
  )
  const unlimited = await discover(apiKey, client.ClientSecretBasic(secretKey))
  const narrowed = await client.clientCredentialsGrant(unlimited, { scope: 'orders:read' })
  t.equal(narrowed.scope, 'orders:read')
  t.equal(await statusOf('/any', narrowed.access_token), 403, 'as a key with scopes')
})

t.test('openid-client refreshes, with and without its client, but not tokens of others', async (t) => {
  const { gateway, discover, statusOf } = await start(t)
  const created = await gateway.createAccount()
  const other = await gateway.createAccount()
  const { RefreshToken } = await gateway.tokens(created)
  const stranger = await discover(other.apiKey, client.ClientSecretBasic(other.secretKey))
  t.equal(await refusalOf(client.refreshTokenGrant(stranger, RefreshToken)), '400 invalid_grant')
  let token = RefreshToken
  for (const auth of [
    client.ClientSecretBasic(created.secretKey),
    client.ClientSecretPost(created.secretKey),
    client.None(),
  ]) {
    const tokens = await client.refreshTokenGrant(await discover(created.apiKey, auth), token)
    t.not(tokens.refresh_token, token, 'it rotates')
    t.equal(await statusOf('/any', tokens.access_token), 200)
    token = tokens.refresh_token ?? ''
  }
  const config = await discover(created.apiKey, client.None())
  t.equal(await refusalOf(client.refreshTokenGrant(config, RefreshToken)), '400 invalid_grant')
  t.equal(
    await refusalOf(client.refreshTokenGrant(config, token)),
    '400 invalid_grant',
    'the old one has ended the session',
  )
})

t.test('openid-client introspects tokens of others as an Admin, and revokes its own', async (t) => {
  const { gateway, url, discover, statusOf } = await start(t)
  const created = await gateway.createAccount()
  const admin = await gateway.createAccount({ role: 'Admin' })
  const own = await discover(created.apiKey, client.ClientSecretBasic(created.secretKey))
  const asking = await discover(admin.apiKey, client.ClientSecretBasic(admin.secretKey))
  const { access_token: granted } = await client.clientCredentialsGrant(own, { scope: 'orders:read' })
  t.match(await client.tokenIntrospection(asking, granted), {
    active: true,
    token_type: 'Bearer',
    iss: url,
    sub: created.account.id,
    client_id: created.account.id,
    scope: 'orders:read',
  })
  const { JwtToken, RefreshToken } = await gateway.tokens(created)
  t.match(await client.tokenIntrospection(asking, JwtToken), { active: true, sub: created.account.id })
  t.match(await client.tokenIntrospection(asking, RefreshToken), {
    active: true,
    sub: created.account.id,
    client_id: created.account.id,
  })
  for (const unknown of ['x', created.secretKey, created.apiKey, `${JwtToken}x`, `${RefreshToken}x`])
    t.strictSame(await client.tokenIntrospection(asking, unknown), { active: false })
  t.equal(await refusalOf(client.tokenIntrospection(own, granted)), '403 insufficient_scope')

  await client.tokenRevocation(own, granted)
  t.strictSame(await client.tokenIntrospection(asking, granted), { active: false })
  t.equal(await statusOf('/orders', granted), 401)
  t.equal(await statusOf('/any', JwtToken), 200, 'another session')
  await client.tokenRevocation(own, RefreshToken)
  for (const ended of [JwtToken, RefreshToken])
    t.strictSame(await client.tokenIntrospection(asking, ended), { active: false })
  for (const unknown of ['x', granted, RefreshToken]) await client.tokenRevocation(own, unknown)
  const { RefreshToken: others } = await gateway.tokens(admin)
  t.equal(await refusalOf(client.tokenRevocation(own, others)), '400 unauthorized_client')
  t.match(await client.tokenIntrospection(asking, others), { active: true })
})

t.test(
  'a refresh token of a key that has ended is inactive, and revoking it still ends its session',
  async (t) => {
    const { gateway, discover } = await start(t)
    const created = await gateway.createAccount()
    const { id } = created.account
    const admin = await gateway.createAccount({ role: 'Admin' })
    const asking = await discover(admin.apiKey, client.ClientSecretBasic(admin.secretKey))
    const own = await discover(created.apiKey, client.ClientSecretBasic(created.secretKey))
    const countSessions = () =>
      gateway.operate(
        async ({ store }) => (await store.listSessions(id, { now: Date.now(), limit: 10 })).length,
      )
    const revokeKey = (name: string, graceMs: number) =>
      gateway.operate(({ secretKeys }) => secretKeys.revoke(id, name, graceMs))
    const startSession = async (name: string) => {
      const secretKey = await addKey(gateway, id, { name })
      return (await gateway.tokens({ ...created, secretKey })).RefreshToken
    }
    const token = await startSession('ci')
    const another = await startSession('cd')
    const spare = await startSession('spare')
    for (const one of [token, another, spare])
      t.match(await client.tokenIntrospection(asking, one), { active: true, sub: id })
    for (const name of ['ci', 'cd']) await revokeKey(name, 1)
    await until(
      'the first is inactive',
      async () => {
        return (await client.tokenIntrospection(asking, token)).active === false || undefined
      },
      5_000,
    )
    for (const config of [own, await discover(created.apiKey, client.None())])
      t.equal(await refusalOf(client.refreshTokenGrant(config, token)), '400 invalid_grant')
    t.equal(await countSessions(), 3)
    await client.tokenRevocation(own, token)
    t.equal(await countSessions(), 2)

    // With it, the account loses what is left of the other two.
    await revokeKey('spare', 0)
    const { secretKeys } = (await gateway.operate(({ store }) => store.findAccount(id))) ?? {}
    t.strictSame(
      secretKeys?.map(({ name }) => name),
      ['default'],
    )
    t.strictSame(await client.tokenIntrospection(asking, another), { active: false })
    t.equal(await refusalOf(client.refreshTokenGrant(own, another)), '400 invalid_grant')
    await client.tokenRevocation(own, another)
    t.equal(await countSessions(), 0)
  },
)

t.test('openid-client is told what is wrong with its client', async (t) => {
  const { gateway, discover } = await start(t)
  const { account, apiKey, secretKey } = await gateway.createAccount()
  const other = await gateway.createAccount()
  for (const auth of [client.ClientSecretBasic(other.secretKey), client.ClientSecretPost(other.secretKey)])
    t.equal(await refusalOf(client.clientCredentialsGrant(await discover(apiKey, auth))), '401 ')
  t.equal(await refusalOf(client.clientCredentialsGrant(await discover(apiKey, client.None()))), '401 ')
  await gateway.operate(({ accounts }) => accounts.update(account.id, { isDisabled: true }))
  const disabled = client.clientCredentialsGrant(await discover(apiKey, client.ClientSecretBasic(secretKey)))
  t.equal(await refusalOf(disabled), '400 unauthorized_client')
})
