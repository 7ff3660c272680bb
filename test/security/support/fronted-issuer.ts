import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Test } from 'tap'
import { ask } from '../../gateway/support/ask.ts'
import { startServer } from '../../setup/backend.ts'
import { startBoth } from '../../setup/both.ts'

export const form = 'Content-Type: application/x-www-form-urlencoded'
export const loopback = 'http://127.0.0.1/callback'
export const app = 'https://app.example.com/back?tab=1'
export const privateUse = 'com.example.app:/callback'
const origin = 'https://api.example.com'

/** The identifier of the server in front of an issuer. */
export const frontOf = (name: string) => `${origin}/api/v1/issuers/${name}`
export const pathOf = (endpoint: string, name = 'corp') => `/api/v1/issuers/${name}/${endpoint}`

/** What an authorization request has. */
export const request = {
  response_type: 'code',
  client_id: 'mcp',
  redirect_uri: 'http://127.0.0.1:4000/callback',
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  code_challenge_method: 'S256',
  state: 'of the client',
}

type Answer = (form: string, response: ServerResponse, request: IncomingMessage) => void

/** An issuer of which a test decides what its token endpoint answers. */
async function startIssuer(t: Test, metadata: Readonly<Record<string, unknown>>) {
  const state: { answer: Answer; asked: string[]; metadata: Readonly<Record<string, unknown>> } = {
    answer: (_form, response) => reply(response, 400, { error: 'invalid_grant' }),
    asked: [],
    metadata,
  }
  const url = await startServer(t, (request, response) => {
    if (request.url === '/.well-known/openid-configuration')
      return reply(response, 200, {
        issuer: url,
        jwks_uri: `${url}/jwks`,
        authorization_endpoint: `${url}/authorize?tenant=1`,
        token_endpoint: `${url}/token`,
        ...state.metadata,
      })
    if (request.url === '/jwks') return reply(response, 200, { keys: [] })
    void text(request).then((body) => {
      state.asked.push(body)
      state.answer(body, response, request)
    })
  })
  return { url, state }
}

export function reply(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
}

/** A gateway in front of two issuers, `corp` and `other`, of which the first names itself in its responses. */
export async function startFronted(t: Test, config: Readonly<Record<string, unknown>> = {}) {
  const corp = await startIssuer(t, { authorization_response_iss_parameter_supported: true })
  const other = await startIssuer(t, {})
  const issuerOf = (name: string, issuer: string) => ({
    name,
    issuer,
    audience: 'orders',
    registration: { clientId: 'mcp', redirectUris: [loopback, app, privateUse] },
  })
  const both = await startBoth(t, {
    config: {
      publicUrl: origin,
      cors: { origins: ['https://inspector.example.com'] },
      issuers: [
        issuerOf('corp', corp.url),
        issuerOf('other', other.url),
        {
          name: 'plain',
          issuer: 'https://plain.example.com',
          audience: 'orders',
          jwks: { url: `${corp.url}/jwks` },
        },
      ],
      routes: [
        { name: 'mcp', path: '/mcp', upstream: 'backend', auth: 'any', issuers: ['corp', 'plain'] },
        { name: 'rest', path: '/', upstream: 'backend', auth: 'none' },
      ],
      ...config,
    },
  })
  const { url } = both.gateway
  const visit = (endpoint: string, parameters: Readonly<Record<string, string>>, name = 'corp') =>
    ask(t, url, `GET ${pathOf(endpoint, name)}?${new URLSearchParams(parameters)}`)
  const post = (endpoint: string, type: string, body: string, headers: readonly string[] = []) =>
    ask(t, url, `POST ${pathOf(endpoint)}`, [type, ...headers], body)
  const register = (body: unknown, headers: readonly string[] = []) =>
    post('register', 'Content-Type: application/json', JSON.stringify(body), headers)
  const token = (parameters: Readonly<Record<string, string>>, headers: readonly string[] = []) =>
    post('token', form, new URLSearchParams(parameters).toString(), headers)
  return { ...both, corp, other, visit, post, register, token }
}

export const code = { grant_type: 'authorization_code', client_id: 'mcp', code: 'c0de', code_verifier: 'v' }
