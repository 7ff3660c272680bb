import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { auth, type OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type {
  OAuthClientInformationMixed,
  OAuthClientMetadata,
  OAuthTokens,
} from '@modelcontextprotocol/sdk/shared/auth.js'
import Provider from 'oidc-provider'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { startServer } from '../setup/backend.ts'
import { startGateway } from '../setup/gateway.ts'
import { freePort, portOf, until } from '../setup/net.ts'
import { snippetsOf } from './snippets.ts'

const scope = 'tools:use'
const callback = 'http://127.0.0.1/callback'

/** The server of a library that others run, with one tool, which tells who calls. */
function startTools(t: Test): Promise<string> {
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

/** A real provider: clients register themselves, and whoever comes is signed in as ada and agrees. */
async function startProvider(t: Test, resource: string): Promise<string> {
  let handle: (request: IncomingMessage, response: ServerResponse) => void = () => {}
  const server = createServer((request, response) => handle(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const url = `http://127.0.0.1:${portOf(server)}`
  const provider = new Provider(url, {
    scopes: ['openid', 'offline_access', scope],
    clientDefaults: { id_token_signed_response_alg: 'RS256' },
    findAccount: (_context: unknown, accountId: string) => ({
      accountId,
      claims: () => ({ sub: accountId }),
    }),
    interactions: { url: (_context: unknown, { uid }: { readonly uid: string }) => `/interaction/${uid}` },
    features: {
      registration: { enabled: true },
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
    grant.addOIDCScope(scope)
    grant.addResourceScope(resource, scope)
    await provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } })
  }

  return url
}

/** What a browser does: follows redirects with cookies, until the client's own address. */
async function walk(start: URL): Promise<string> {
  const cookies = new Map<string, string>()
  let url = start
  for (let steps = 0; steps < 10 && !url.href.startsWith(callback); steps++) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { redirect: 'manual', headers: { Cookie: cookie } })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    url = new URL(response.headers.get('location') ?? `about:${await response.text()}`, url)
  }
  return url.searchParams.get('code') ?? `no code: ${url}`
}

/** The state of one client, as a program would keep it. */
function newClient() {
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

t.test(
  'a client of MCP finds its way from a 401 to a token to a call, with the config of the page',
  async (t) => {
    const port = await freePort()
    const origin = `http://127.0.0.1:${port}`
    const resource = `${origin}/mcp`
    const [issuer, tools] = await Promise.all([startProvider(t, resource), startTools(t)])
    const [snippet] = snippetsOf('docs/mcp.md').filter(({ language }) => language === 'yaml')
    const text = (snippet?.text ?? '')
      .replaceAll('https://api.example.com', origin)
      .replaceAll('https://id.example.com', issuer)
      .replaceAll('http://127.0.0.1:3000', tools)
    const gateway = await startGateway(t, { config: { ...(parse(text) as object), listen: { port } } })

    const { kept, provider } = newClient()
    const connect = async () => {
      const client = new Client({ name: 'example', version: '1.0.0' })
      const transport = new StreamableHTTPClientTransport(new URL(resource), { authProvider: provider })
      await client.connect(transport as Parameters<typeof client.connect>[0])
      return client
    }
    await t.rejects(connect(), { name: /Unauthorized|Error/ }, 'it has to sign in first')
    t.ok(kept.information, 'it has registered itself')
    t.match(Object.fromEntries(kept.authorizationUrl?.searchParams ?? []), {
      resource,
      scope: /tools:use/,
      code_challenge_method: 'S256',
    })
    const code = await walk(kept.authorizationUrl ?? new URL('about:nowhere'))
    t.equal(await auth(provider, { serverUrl: resource, authorizationCode: code }), 'AUTHORIZED')

    const client = await connect()
    const { content } = (await client.callTool({ name: 'whoami' })) as { readonly content: unknown }
    t.strictSame(content, [{ type: 'text', text: 'corp:ada undefined' }])
    await gateway.operate(({ subjects }) => subjects.block({ issuer: 'corp', subject: 'ada' }))
    const isRefused = () =>
      client.callTool({ name: 'whoami' }).then(
        () => false,
        (error) => /subject-blocked/.test(String(error)),
      )
    await until('the gateway has read of it', isRefused)
    await client.close()
  },
)
