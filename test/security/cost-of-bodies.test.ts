import t, { type Test } from 'tap'
import { newIssuerKey, startIssuer } from '../identity/issuers/issuer-server.ts'
import { startGateway } from '../setup/gateway.ts'
import {
  type Bounds,
  body,
  exchange,
  head,
  requestBytes,
  signedInMaxMs,
  tooDear,
  tryAll,
} from './support/cost.ts'
import { startWithAll } from './support/gateway-with-all.ts'
import { structures, textStructures } from './support/json-structures.ts'

/** Tries a JSON body with each structure: as a whole, and as each of the members. */
async function tryJson(
  t: Test,
  members: readonly string[],
  send: (json: string) => Promise<unknown>,
  bounds: Bounds = body,
): Promise<void> {
  const dear: string[] = []
  for (const [name, structure] of Object.entries(structures)) {
    const bodies: Readonly<Record<string, (length: number, end: string) => string>> = {
      'the body': structure,
      ...Object.fromEntries(
        members.map((member) => [
          member,
          (length: number, end: string) => `{"${member}":${structure(length, end)}}`,
        ]),
      ),
    }
    for (const [where, write] of Object.entries(bodies)) {
      const why = await tooDear((length, end) => send(write(length, end)), bounds)
      if (why !== undefined) dear.push(`${where}: ${name}: ${why}`)
    }
  }
  t.strictSame(dear, [])
  await tryAll(t, members, bounds, (member, text) => send(JSON.stringify({ [member]: text })))
  await tryAll(t, ['the name of a member'], bounds, (_, text) => send(JSON.stringify({ [text]: '' })))
}

/** Sends a body of JSON. */
function sendJson(url: string, line: string, json: string, lines: readonly string[] = []): Promise<unknown> {
  const body = Buffer.from(json)
  return exchange(
    url,
    requestBytes(
      [
        `${line} HTTP/1.1`,
        'Host: gateway.test',
        'Content-Type: application/json',
        `Content-Length: ${body.length}`,
        ...lines,
      ],
      body,
    ),
  )
}

t.test('no body sent to the endpoints for tokens and keys keeps the event loop for long', async (t) => {
  const { url } = await startGateway(t)
  await tryJson(t, ['SecretKey', 'APIKey'], (json) =>
    sendJson(url, 'POST /api/v1/accounts/access-token', json),
  )
  await tryJson(t, ['token'], (json) => sendJson(url, 'POST /api/v1/accounts/refresh-token', json))
  await tryJson(t, ['token'], (json) => sendJson(url, 'POST /api/v1/accounts/revoke-token', json))
  await tryJson(t, ['SecretKey', 'key'], (json) => sendJson(url, 'POST /api/v1/keys/revoke', json))
  await tryAll(t, ['Cookie: refreshToken=', 'Content-Type: '], head, (line, text) =>
    exchange(
      url,
      requestBytes(
        ['POST /api/v1/accounts/refresh-token HTTP/1.1', 'Host: a', line + text, 'Content-Length: 2'],
        '{}',
      ),
    ),
  )
})

t.test('no registration of a client keeps the event loop for long', async (t) => {
  const { url } = await startWithAll(t)
  const register = (json: string) => sendJson(url, 'POST /api/v1/issuers/corp/register', json)
  await tryJson(t, ['redirect_uris'], register)
  const uris = {
    'one URI': '',
    'one on this machine': 'http://localhost/callback?',
    'one of an application': 'a.b:',
  }
  await tryAll(t, Object.keys(uris), body, (name, text) =>
    register(JSON.stringify({ redirect_uris: [uris[name as keyof typeof uris] + text] })),
  )
  await tryAll(t, ['many'], body, (_, text) =>
    register(
      JSON.stringify({ redirect_uris: Array(100).fill(`http://localhost/callback?${text.slice(0, 600)}`) }),
    ),
  )
})

t.test('no bearer token keeps the event loop for long', async (t) => {
  const issuer = await startIssuer(t, [await newIssuerKey('one')])
  const { url } = await startGateway(t, {
    config: {
      issuers: [{ name: 'corp', issuer: issuer.url, audience: 'orders', algorithms: ['ES256'] }],
      routes: [{ name: 'any', path: '/any', upstream: 'backend', auth: 'any', issuers: ['corp'] }],
    },
  })
  const dear: string[] = []
  const part = (json: string) => Buffer.from(json).toString('base64url')
  const send = (header: string, payload: string) =>
    exchange(
      url,
      requestBytes([
        'GET /any HTTP/1.1',
        'Host: a',
        `Authorization: Bearer ${part(header)}.${part(payload)}.${'A'.repeat(86)}`,
      ]),
    )
  const header = '{"alg":"ES256","kid":"one"}'
  for (const [name, structure] of Object.entries({ ...structures, ...textStructures() })) {
    const tokens: Readonly<Record<string, (json: string) => Promise<unknown>>> = {
      header: (json) => send(`{"alg":"ES256","a":${json}}`, `{"iss":"${issuer.url}"}`),
      payload: (json) => send(header, `{"iss":"${issuer.url}","aud":"orders","sub":${json}}`),
      'payload of our own': (json) =>
        send('{"alg":"ES256","typ":"at+jwt"}', `{"iss":"http://localhost:8080","sub":${json}}`),
    }
    for (const [where, attempt] of Object.entries(tokens)) {
      const why = await tooDear((length, end) => attempt(structure(length, end)), { length: 11_400 })
      if (why !== undefined) dear.push(`${where}: ${name}: ${why}`)
    }
  }
  t.strictSame(dear, [])
})

t.test('nothing that an Admin sends to the admin API keeps the event loop for long', async (t) => {
  const gateway = await startGateway(t)
  const { account, secretKey } = await gateway.createAccount({ role: 'Admin' })
  const path = `/api/v1/admin/accounts/${account.id}`
  const bodies = {
    'POST /api/v1/admin/accounts': ['email', 'firstName', 'role', 'plan', 'isVerified'],
    [`PATCH ${path}`]: ['email', 'lastName', 'role', 'plan'],
    [`POST ${path}/keys`]: ['name', 'scopes', 'addresses', 'expiresAt'],
    'POST /api/v1/admin/subjects': ['id', 'issuer', 'subject', 'reason'],
  }
  for (const [line, members] of Object.entries(bodies))
    await tryJson(t, members, (json) => sendJson(gateway.url, line, json, [`SecretKey: ${secretKey}`]), {
      ...body,
      maxMs: signedInMaxMs,
    })
  const queries = [
    '/api/v1/accounts/usage?',
    '/api/v1/accounts/usage?from=',
    `${path}/usage?`,
    '/api/v1/admin/audit?cursor=',
  ]
  const targets = [
    'accounts?q=',
    'accounts?cursor=',
    'audit?who=',
    'accounts/',
    `accounts/${account.id}/keys/`,
  ]
  await tryAll(
    t,
    [...queries, ...targets.map((target) => `/api/v1/admin/${target}`)],
    { ...head, maxMs: signedInMaxMs },
    (target, text) =>
      exchange(
        gateway.url,
        requestBytes([`GET ${target}${text} HTTP/1.1`, 'Host: gateway.test', `SecretKey: ${secretKey}`]),
      ),
  )
})
