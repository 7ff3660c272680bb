import { once } from 'node:events'
import { createServer } from 'node:http'
import { exportJWK, generateKeyPair } from 'jose'
import Provider from 'oidc-provider'
import t, { type Test } from 'tap'
import { startBoth } from '../setup/both.ts'
import { portOf } from '../setup/net.ts'
import { ask } from './support/ask.ts'

/** Identifies the API at the provider (RFC 8707). */
const resource = 'https://orders.example.com'
const clients = [
  { client_id: 'reader', client_secret: 'reader-secret', scope: 'orders:read' },
  { client_id: 'writer', client_secret: 'writer-secret', scope: 'orders:read orders:write' },
].map((client) => ({
  ...client,
  grant_types: ['client_credentials'],
  redirect_uris: [],
  response_types: [],
}))

async function newJwk(kid: string, alg: string) {
  const { privateKey } = await generateKeyPair(alg, { extractable: true })
  return { ...(await exportJWK(privateKey)), kid, alg, use: 'sig' }
}

/** A real OpenID provider, of a library that others run; its signing keys may be replaced, as at its restart. */
async function startProvider(t: Test, alg: string) {
  let handle: ReturnType<Provider['callback']> = () => {}
  const server = createServer((request, response) => handle(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const url = `http://127.0.0.1:${portOf(server)}`

  async function useKey(kid: string): Promise<void> {
    const provider = new Provider(url, {
      clients,
      clientDefaults: { id_token_signed_response_alg: alg },
      jwks: { keys: [await newJwk(kid, alg)] },
      scopes: ['orders:read', 'orders:write'],
      features: {
        clientCredentials: { enabled: true },
        devInteractions: { enabled: false },
        resourceIndicators: {
          enabled: true,
          defaultResource: () => resource,
          getResourceServerInfo: () => ({
            scope: 'orders:read orders:write',
            audience: resource,
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg } },
          }),
        },
      },
    })
    handle = provider.callback()
  }

  async function tokenOf(id: string, scope?: string): Promise<string> {
    const response = await fetch(`${url}/token`, {
      method: 'POST',
      headers: { Authorization: `Basic ${Buffer.from(`${id}:${id}-secret`).toString('base64')}` },
      body: new URLSearchParams({ grant_type: 'client_credentials', ...(scope !== undefined && { scope }) }),
    })
    if (response.status !== 200) throw new Error(await response.text())
    return ((await response.json()) as { readonly access_token: string }).access_token
  }

  await useKey('first')
  return { url, useKey, tokenOf }
}

for (const alg of ['RS256', 'ES256']) {
  t.test(
    `tokens of a real OpenID provider pass, signed with ${alg}, also after its keys were replaced`,
    async (t) => {
      const provider = await startProvider(t, alg)
      const route = { upstream: 'backend', auth: 'any', issuers: ['corp'] }
      const { backend, gateway } = await startBoth(t, {
        config: {
          issuers: [{ name: 'corp', issuer: provider.url, audience: resource, scopes: 'scope' }],
          routes: [
            { ...route, name: 'open', path: '/' },
            { ...route, name: 'read', path: '/read', scopes: ['orders:read'] },
            { ...route, name: 'write', path: '/write', scopes: ['orders:write'] },
          ],
        },
      })
      const statusOf = async (path: string, token: string) =>
        (await ask(t, gateway.url, `GET ${path}`, [`Authorization: Bearer ${token}`])).status

      const [reader, writer, plain] = [
        await provider.tokenOf('reader', 'orders:read'),
        await provider.tokenOf('writer', 'orders:read orders:write'),
        await provider.tokenOf('reader'),
      ]
      t.strictSame([await statusOf('/read', reader), await statusOf('/write', reader)], [200, 403])
      t.equal(backend.last().headers['x-user-id'], 'corp:reader')
      t.strictSame([await statusOf('/read', writer), await statusOf('/write', writer)], [200, 200])
      t.strictSame([await statusOf('/', plain), await statusOf('/read', plain)], [200, 403])

      await provider.useKey('second')
      const later = await provider.tokenOf('reader', 'orders:read')
      t.equal(await statusOf('/read', later), 200, 'signed with the new key')
      t.equal(await statusOf('/read', reader), 401, 'the provider has withdrawn the key of this one')
    },
  )
}
