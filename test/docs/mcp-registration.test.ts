import { auth } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  dynamicClientRegistration,
  None,
  randomPKCECodeVerifier,
  refreshTokenGrant,
} from 'openid-client'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { ask } from '../gateway/support/ask.ts'
import { startGateway } from '../setup/gateway.ts'
import { freePort } from '../setup/net.ts'
import { callback, codeOf, newClient, returnOf, scope, startProvider, startTools } from './mcp-parts.ts'
import { snippetsOf } from './snippets.ts'

const clientId = 'mcp-clients'

/** The gateway with the config of the page, in front of a provider at which nobody can register. */
async function startFront(t: Test) {
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  const resource = `${origin}/mcp`
  const client = {
    client_id: clientId,
    redirect_uris: [`${origin}/api/v1/issuers/corp/callback`],
    token_endpoint_auth_method: 'none',
    application_type: 'native',
    grant_types: ['authorization_code', 'refresh_token'],
  }
  const [issuer, tools] = await Promise.all([startProvider(t, resource, [client]), startTools(t)])
  const [snippet] = snippetsOf('docs/mcp.md').filter(
    ({ heading, language }) => heading === 'Issuers that register no clients' && language === 'yaml',
  )
  const text = (snippet?.text ?? '')
    .replaceAll('https://api.example.com', origin)
    .replaceAll('https://id.example.com', issuer)
    .replaceAll('http://127.0.0.1:3000', tools)
    .replaceAll('http://localhost/callback', callback)
  const gateway = await startGateway(t, { config: { ...(parse(text) as object), listen: { port } } })
  return { origin, resource, issuer, gateway, front: `${origin}/api/v1/issuers/corp` }
}

t.test('an issuer that registers no clients', async (t) => {
  const { origin, resource, issuer, gateway, front } = await startFront(t)

  t.test(
    'the client of the official SDK registers at the gateway, and its tool call has a token',
    async (t) => {
      const { registration_endpoint } = (await (
        await fetch(`${issuer}/.well-known/openid-configuration`)
      ).json()) as { readonly registration_endpoint?: string }
      t.equal(registration_endpoint, undefined, 'the provider registers nobody')
      const { kept, provider } = newClient()
      const connect = async () => {
        const client = new Client({ name: 'example', version: '1.0.0' })
        const transport = new StreamableHTTPClientTransport(new URL(resource), { authProvider: provider })
        await client.connect(transport as Parameters<typeof client.connect>[0])
        return client
      }
      await t.rejects(connect(), { name: /Unauthorized|Error/ }, 'it has to sign in first')
      t.match(kept.information, { client_id: clientId, redirect_uris: [callback], client_secret: undefined })
      t.ok(kept.authorizationUrl?.href.startsWith(`${front}/authorize?`))
      const authorizationCode = await codeOf(kept.authorizationUrl)
      t.equal(await auth(provider, { serverUrl: resource, authorizationCode }), 'AUTHORIZED')
      const client = await connect()
      const { content } = (await client.callTool({ name: 'whoami' })) as { readonly content: unknown }
      t.strictSame(content, [{ type: 'text', text: 'corp:ada undefined' }])
      await client.close()
    },
  )

  t.test('a client that checks issuers strictly signs in, and refreshes its token', async (t) => {
    // openid-client compares the issuer of the metadata, and `iss` of the response (RFC 8414 3.3, RFC 9207 2.4).
    const client = await dynamicClientRegistration(new URL(front), { redirect_uris: [callback] }, None(), {
      algorithm: 'oauth2',
      execute: [allowInsecureRequests],
    })
    t.match(client.serverMetadata(), { issuer: front, authorization_response_iss_parameter_supported: true })
    const pkceCodeVerifier = randomPKCECodeVerifier()
    const url = buildAuthorizationUrl(client, {
      redirect_uri: callback,
      scope: `${scope} offline_access`,
      prompt: 'consent',
      resource,
      state: 'a state / of its own',
      code_challenge: await calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
    })
    const answer = await returnOf(url)
    t.equal(answer.searchParams.get('iss'), front)
    const tokens = await authorizationCodeGrant(
      client,
      answer,
      { pkceCodeVerifier, expectedState: 'a state / of its own' },
      { resource },
    )
    t.equal(tokens.id_token, undefined)
    t.ok(tokens.refresh_token)
    const refreshed = await refreshTokenGrant(client, tokens.refresh_token ?? '', { resource })
    t.not(refreshed.access_token, tokens.access_token)
    const call = await ask(t, gateway.url, 'POST /mcp', [
      `Authorization: Bearer ${refreshed.access_token}`,
      'Content-Length: 0',
    ])
    t.notOk([401, 403].includes(call.status), `${call.status} is the answer of the server behind`)
    const again = await authorizationCodeGrant(
      client,
      answer,
      { pkceCodeVerifier, expectedState: 'a state / of its own' },
      { resource },
    ).catch((error: unknown) => error)
    t.match(again, { error: 'invalid_grant' }, 'a code is good for one token')
  })

  t.test('the metadata of the route names the gateway first, then the issuer', async (t) => {
    const { json } = await ask(t, gateway.url, 'GET /.well-known/oauth-protected-resource/mcp')
    t.match(json(), { authorization_servers: [front, issuer, origin] })
  })
})
