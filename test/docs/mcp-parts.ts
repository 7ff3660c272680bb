import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type {
  OAuthClientInformationMixed,
  OAuthClientMetadata,
  OAuthTokens,
} from '@modelcontextprotocol/sdk/shared/auth.js'
import Provider from 'oidc-provider'
import type { Test } from 'tap'
import { startServer } from '../setup/backend.ts'
import { portOf } from '../setup/net.ts'

export const scope = 'tools:use'
export const callback = 'http://127.0.0.1/callback'

/** The server of a library that others run, with one tool, which tells who calls. */
export function startTools(t: Test): Promise<string> {
  return startServer(t, (request, response) => void answer(request, response))

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const server = new McpServer({ name: 'tools', version: '1.0.0' })
    server.registerTool('whoami', {}, () => ({
      content: [{ type: 'text', text: `${request.headers['x-user-id']} ${request.headers.authorization}` }],
    }))
    const transport = new StreamableHTTPServerTransport({})
    // The cast is sound: its members may be undefined, which is all that differs.
    await server.connect(transport as Parameters<typeof server.connect>[0])
    await transport.handleRequest(request, response)
  }
}

/**
 * A real provider: whoever comes is signed in as ada and agrees.
 * @param clients undefined = clients register themselves; else they cannot
 */
export async function startProvider(t: Test, resource: string, clients?: readonly object[]): Promise<string> {
  let handle: (request: IncomingMessage, response: ServerResponse) => void = () => {}
  const server = createServer((request, response) => handle(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const url = `http://127.0.0.1:${portOf(server)}`
  const provider = new Provider(url, {
    ...(clients && { clients }),
    scopes: ['openid', 'offline_access', scope],
    clientDefaults: { id_token_signed_response_alg: 'RS256' },
    findAccount: (_context: unknown, accountId: string) => ({
      accountId,
      claims: () => ({ sub: accountId }),
    }),
    interactions: { url: (_context: unknown, { uid }: { readonly uid: string }) => `/interaction/${uid}` },
    features: {
      registration: { enabled: clients === undefined },
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context: unknown, indicator: string) => {
          if (indicator !== resource) throw new Error(`not a resource here: ${indicator}`)
          return { scope, audience: resource, accessTokenFormat: 'jwt', jwt: { sign: { alg: 'RS256' } } }
        },
      },
    },
  })
  const callProvider = provider.callback()
  handle = (request, response) => {
    if (request.url?.startsWith('/interaction/')) void agree(request, response)
    else callProvider(request, response)
  }

  async function agree(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { prompt, params } = await provider.interactionDetails(request, response)
    if (prompt.name === 'login') {
      await provider.interactionFinished(request, response, { login: { accountId: 'ada' } })
      return
    }
    const grant = new provider.Grant({ accountId: 'ada', clientId: params.client_id })
    grant.addOIDCScope(`${scope} offline_access`)
    grant.addResourceScope(resource, scope)
    await provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } })
  }

  return url
}

/**
 * What a person does in a browser: follows redirects with cookies, and the link of a page that asks whether to continue,
 * until the client's own address.
 * @returns that, with the answer
 */
export async function returnOf(start: URL): Promise<URL> {
  const cookies = new Map<string, string>()
  let url = start
  for (let steps = 0; steps < 12 && !url.href.startsWith(callback); steps++) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { redirect: 'manual', headers: { Cookie: cookie } })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    const page = await response.text()
    const [, link] = /<a href="([^"]+)"[^>]*>Continue</.exec(page) ?? []
    url = new URL(response.headers.get('location') ?? link?.replaceAll('&amp;', '&') ?? `about:${page}`, url)
  }
  return url
}

/** The code of a sign-in that `returnOf` walks through. */
export async function codeOf(start = new URL('about:nowhere')): Promise<string> {
  const url = await returnOf(start)
  return url.searchParams.get('code') ?? `no code: ${url}`
}

/** The state of one client, as a program would keep it. */
export function newClient() {
  const kept: {
    information?: OAuthClientInformationMixed
    tokens?: OAuthTokens
    verifier: string
    authorizationUrl?: URL
  } = { verifier: '' }
  const clientMetadata: OAuthClientMetadata = {
    client_name: 'example',
    redirect_uris: [callback],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  }
  const provider: OAuthClientProvider = {
    redirectUrl: callback,
    clientMetadata,
    clientInformation: () => kept.information,
    saveClientInformation: (information) => {
      kept.information = information
    },
    tokens: () => kept.tokens,
    saveTokens: (tokens) => {
      kept.tokens = tokens
    },
    redirectToAuthorization: (url) => {
      kept.authorizationUrl = url
    },
    saveCodeVerifier: (verifier) => {
      kept.verifier = verifier
    },
    codeVerifier: () => kept.verifier,
  }
  return { kept, provider }
}
