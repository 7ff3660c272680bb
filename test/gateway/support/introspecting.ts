import { join } from 'node:path'
import type { Test } from 'tap'
import { startIntrospectionServer } from '../../identity/issuers/introspection-server.ts'
import { startBoth } from '../../setup/both.ts'
import { ask } from './ask.ts'

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
  route('ours', { auth: 'any', issuers: [] }),
  route('admin', { roles: ['Admin'] }),
  route('scoped', { scopes: ['orders:read'] }),
]

/** What an issuer says of a token that passes. */
export const right = { sub: 'ada', aud: 'orders', token_type: 'Bearer' }
/** Known to the issuer. */
export const known = 'opaque-token-of-ada'

/** A gateway that asks a real introspection endpoint. @param options of the issuer */
export async function startIntrospecting(t: Test, options: Options = {}, config: Options = {}) {
  const server = await startIntrospectionServer(t, { [known]: right })
  const file = join(t.testdir({ secret: 'a secret: ä+%' }), 'secret')
  const both = await startBoth(t, {
    config: {
      issuers: [
        {
          name: 'corp',
          issuer: server.url,
          audience: 'orders',
          introspection: { url: `${server.url}/introspect`, clientId: 'gate:way', clientSecret: { file } },
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
  const codeWith = async (path: string, ...headers: readonly string[]) => {
    const { status, json } = await ask(t, both.gateway.url, `GET ${path}`, headers)
    return status === 200 ? '200' : `${status} ${(json() as { readonly code: string }).code}`
  }
  const codeOf = (path: string, token: string) => codeWith(path, `Authorization: Bearer ${token}`)
  return { ...both, server, codeWith, codeOf }
}
