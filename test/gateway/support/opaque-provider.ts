import { once } from 'node:events'
import { createServer } from 'node:http'
import Provider from 'oidc-provider'
import type { Test } from 'tap'
import { portOf } from '../../setup/net.ts'

/** Identifies the API at the provider (RFC 8707). */
export const resource = 'https://orders.example.com'

/** The client of the gateway, whose ID and secret have to be encoded (RFC 6749 2.3.1). */
export const asker = { clientId: 'gate way:1', clientSecret: 'secret: +%&=?' }

const client = (id: string, secret: string) => ({
  client_id: id,
  client_secret: secret,
  grant_types: ['client_credentials'],
  redirect_uris: [],
  response_types: [],
})

/** A real OpenID provider, of a library that others run, whose access tokens only it can read. */
export async function startOpaqueProvider(t: Test) {
  let handle: ReturnType<Provider['callback']> = () => {}
  const server = createServer((request, response) => handle(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const url = `http://127.0.0.1:${portOf(server)}`
  handle = new Provider(url, {
    clients: [
      { ...client('reader', 'reader-secret'), scope: 'orders:read' },
      client(asker.clientId, asker.clientSecret),
    ],
    scopes: ['orders:read'],
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      introspection: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        getResourceServerInfo: () => ({
          scope: 'orders:read',
          audience: resource,
          accessTokenFormat: 'opaque',
        }),
      },
    },
  }).callback()

  const post = (path: string, form: Readonly<Record<string, string>>) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { Authorization: `Basic ${btoa('reader:reader-secret')}` },
      body: new URLSearchParams(form),
    })

  return {
    url,
    newToken: async (scope = 'orders:read') => {
      const response = await post('/token', { grant_type: 'client_credentials', scope })
      if (response.status !== 200) throw new Error(await response.text())
      return ((await response.json()) as { readonly access_token: string }).access_token
    },
    revoke: async (token: string) => (await post('/token/revocation', { token })).status,
  }
}

/** The config of a gateway that asks it. @param secretFile the path of a file with the secret of `asker` */
export function opaqueConfig(url: string, secretFile: string) {
  const route = { upstream: 'backend', auth: 'any', issuers: ['corp'] }
  return {
    issuers: [
      {
        name: 'corp',
        issuer: url,
        audience: resource,
        introspection: {
          url: `${url}/token/introspection`,
          clientId: asker.clientId,
          clientSecret: { file: secretFile },
        },
        // What a client gets for itself has no subject.
        subject: 'client_id',
        scopes: 'scope',
      },
    ],
    routes: [
      { ...route, name: 'orders', path: '/orders' },
      { ...route, name: 'read', path: '/read', scopes: ['orders:read'] },
    ],
  }
}
