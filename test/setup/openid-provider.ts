import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { exportJWK, generateKeyPair } from 'jose'
import Provider from 'oidc-provider'
import type { Test } from 'tap'
import { portOf } from './net.ts'

/** What the provider says of a person; `sub` is what they type to sign in there. */
export interface PersonClaims {
  readonly email?: string
  readonly email_verified?: boolean | string
  readonly given_name?: string
  readonly family_name?: string
}

export interface OpenIdProvider {
  readonly url: string
  /** By `sub`. */
  readonly people: Map<string, PersonClaims>
  /** What it was asked for, as method and path. */
  readonly requests: readonly string[]
  /** Requests are answered by this instead; undefined = by the provider. */
  answer: ((response: ServerResponse) => void) | undefined
  /** Changes the ID tokens that are issued; undefined = they are as they should be. */
  forge: ((idToken: string) => Promise<string>) | undefined
  /** What its ID tokens are signed with (ES256). */
  readonly signingKey: CryptoKey
}

export const clientId = 'gatehouse'
export const clientSecret = 'gatehouse-secret'

/** Where its pages for people begin. */
const pagePath = '/interaction/'

/**
 * A real OpenID provider, of a library that others run, with a plain page to sign in. It takes any redirect URI.
 * @param host its name in its URL; browsers take `localhost` for another site than 127.0.0.1
 */
export async function startOpenIdProvider(t: Test, host = '127.0.0.1'): Promise<OpenIdProvider> {
  let handle: ReturnType<Provider['callback']> = () => {}
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url?.split('?')[0]}`)
    if (self.answer) self.answer(response)
    else handle(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const url = `http://${host}:${portOf(server)}`
  const people = new Map<string, PersonClaims>()
  const { privateKey: signingKey } = await generateKeyPair('ES256', { extractable: true })
  const self: OpenIdProvider = { url, people, requests, answer: undefined, forge: undefined, signingKey }
  const provider = await createProvider(self)
  provider.use(async (context, next) => {
    await next()
    // The cast is sound: this is what the endpoint answers (OpenID Connect Core 1.0, 3.1.3.3).
    const body = context.body as { id_token?: string } | undefined
    if (context.path === '/token' && self.forge && body?.id_token)
      body.id_token = await self.forge(body.id_token)
  })
  const callback = provider.callback()
  handle = (request, response) =>
    request.url?.startsWith(pagePath) ? answerPage(provider, request, response) : callback(request, response)
  return self
}

interface GrantContext {
  readonly oidc: {
    readonly session?: {
      readonly accountId?: string
      grantIdFor(client: string): string | undefined
    }
  }
}

async function createProvider({ url, people, signingKey }: OpenIdProvider): Promise<Provider> {
  const provider = new Provider(url, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: ['https://gatehouse.example.com/'],
        id_token_signed_response_alg: 'ES256',
      },
    ],
    jwks: { keys: [{ ...(await exportJWK(signingKey)), kid: 'only', alg: 'ES256', use: 'sig' }] },
    cookies: { keys: ['a key of the provider'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['given_name', 'family_name'] },
    interactions: { url: (_context: unknown, { uid }: { readonly uid: string }) => pagePath + uid },
    features: { devInteractions: { enabled: false } },
    ttl: { Grant: 3_600, Session: 3_600, AccessToken: 3_600, IdToken: 3_600, Interaction: 3_600 },
    pkce: { required: () => true },
    findAccount: (_context: unknown, sub: string) => ({
      accountId: sub,
      claims: async () => ({ sub, ...people.get(sub) }),
    }),
    loadExistingGrant: async ({ oidc }: GrantContext) => {
      const known = oidc.session?.grantIdFor(clientId)
      if (known !== undefined) return provider.Grant.find(known)
      const grant = new provider.Grant({ clientId, accountId: oidc.session?.accountId ?? '' })
      grant.addOIDCScope('openid email profile')
      await grant.save()
      return grant
    },
  })
  // The port of a gateway is known only once it has started.
  for (const name of ['redirectUriAllowed', 'postLogoutRedirectUriAllowed'] as const)
    Object.assign(provider.Client.prototype, { [name]: () => true })
  return provider
}

/** Asks who signs in; `nobody` declines. */
async function answerPage(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method !== 'POST') {
    response.setHeader('Content-Type', 'text/html')
    response.end(
      '<form method="post"><label>User <input name="login"></label><button>Continue</button></form>',
    )
    return
  }
  const login = new URLSearchParams(await text(request)).get('login') ?? ''
  const result = login === 'nobody' ? { error: 'access_denied' } : { login: { accountId: login } }
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false })
}
