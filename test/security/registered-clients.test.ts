import t from 'tap'
import { ask } from '../gateway/support/ask.ts'
import { app, frontOf, loopback, pathOf, privateUse, startFronted } from './support/fronted-issuer.ts'

const json = 'Content-Type: application/json'
const bodyBytesMax = 65_536
const wellKnown = '/.well-known/oauth-authorization-server'

t.test('registration at the gateway for an issuer', async (t) => {
  const { backend, gateway, corp, register, post } = await startFronted(t)

  t.test(
    'a client gets what the operator has registered, and nothing of what it says of itself',
    async (t) => {
      const asked = ['http://127.0.0.1:51234/callback', loopback, app, privateUse]
      const { status, headers, body, json } = await register({
        redirect_uris: asked,
        client_name: '<script>alert(1)</script>',
        client_id: 'of its own',
        client_secret: 'x',
        token_endpoint_auth_method: 'client_secret_basic',
        grant_types: ['password'],
        logo_uri: 'https://evil.example.com/',
      })
      t.equal(status, 201)
      t.strictSame(json(), {
        client_id: 'mcp',
        redirect_uris: asked,
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
      })
      t.match(headers, { 'content-type': /^application\/json/, 'cache-control': 'no-store' })
      t.notMatch(body, /evil|script|secret/)
      t.strictSame(corp.state.asked, [], 'the issuer is not asked')
    },
  )

  for (const uri of [
    'https://evil.example.com/callback',
    'https://app.example.com/back',
    'https://app.example.com/back?tab=1&to=https://evil.example.com',
    'https://app.example.com:8443/back?tab=1',
    'https://app.example.com.evil.example.com/back?tab=1',
    'https://user@app.example.com/back?tab=1',
    'https://app.example.com/back?tab=1#',
    'HTTPS://app.example.com/back?tab=1',
    ' https://app.example.com/back?tab=1',
    'http://127.0.0.1/other',
    'http://127.0.0.1/callback/../other',
    'http://127.0.0.1:80@evil.example.com/callback',
    'http://127.0.0.1.evil.example.com/callback',
    'http://127.0.0.2/callback',
    'http://localhost/callback',
    'https://127.0.0.1/callback',
    'http://10.0.0.1/callback',
    'com.example.other:/callback',
    'javascript:alert(1)//com.example.app:/callback',
    '',
    `${app}${'x'.repeat(60_000)}`,
    1,
    null,
    [app],
  ]) {
    const refused = await register({ redirect_uris: [loopback, uri] })
    t.equal(refused.status, 400, String(uri).slice(0, 80))
    t.strictSame(refused.json(), {
      error: 'invalid_redirect_uri',
      error_description:
        'redirect_uris[1] is not among those that the operator of this gateway allows (issuers[].registration.redirectUris).',
    })
  }
  for (const redirect_uris of [undefined, [], 'x', {}, Array(101).fill(loopback)])
    t.match(await register({ redirect_uris }).then(({ json }) => json()), { error: 'invalid_redirect_uri' })

  t.test('a body is read to its limit, and refused beyond it before it is read', async (t) => {
    const bodyOf = (length: number) => {
      const start = `{"redirect_uris":["${loopback}"],"client_name":"`
      return `${start}${'x'.repeat(length - start.length - 2)}"}`
    }
    t.equal((await post('register', json, bodyOf(bodyBytesMax))).status, 201)
    for (const length of [bodyBytesMax + 1, 100 * bodyBytesMax]) {
      const { status, json: problem } = await ask(t, gateway.url, `POST ${pathOf('register')}`, [
        json,
        `Content-Length: ${length}`,
      ])
      t.equal(status, 413)
      t.equal(problem().error, 'invalid_client_metadata')
    }
    for (const [type, body] of [
      ['Content-Type: text/plain', '{}'],
      [json, '{'],
      [json, `{"redirect_uris":["${loopback}"],"redirect_uris":["https://evil.example.com/"]}`],
    ] as const) {
      const { status, headers, json: problem } = await post('register', type, body)
      t.equal(status, 400)
      t.equal(problem().error, 'invalid_client_metadata')
      t.match(headers['content-type'], /^application\/json/)
    }
  })

  t.test('pages of allowed origins may read metadata, register and get tokens; others may not', async (t) => {
    const origin = 'Origin: https://inspector.example.com'
    const allow = { 'access-control-allow-origin': 'https://inspector.example.com' }
    const metadata = await ask(t, gateway.url, `GET ${wellKnown}${pathOf('', 'corp').slice(0, -1)}`, [origin])
    t.match(metadata, { status: 200, headers: { ...allow, 'cache-control': 'public, max-age=300' } })
    t.match((await register({ redirect_uris: [loopback] }, [origin])).headers, allow)
    for (const endpoint of ['register', 'token']) {
      const preflight = await ask(t, gateway.url, `OPTIONS ${pathOf(endpoint)}`, [
        origin,
        'Access-Control-Request-Method: POST',
        'Access-Control-Request-Headers: content-type, mcp-protocol-version',
      ])
      t.match(preflight, {
        status: 204,
        headers: {
          ...allow,
          'access-control-allow-methods': 'POST',
          'access-control-allow-headers': 'content-type, mcp-protocol-version',
        },
      })
    }
    const foreign = await register({ redirect_uris: [loopback] }, ['Origin: https://evil.example.com'])
    t.equal(foreign.headers['access-control-allow-origin'], undefined)
  })

  t.test('each issuer with registration has a server of its own, and no other has one', async (t) => {
    const metadataOf = (name: string) =>
      ask(t, gateway.url, `GET ${wellKnown}${pathOf('', name).slice(0, -1)}`)
    for (const name of ['corp', 'other']) {
      const front = frontOf(name)
      t.strictSame((await metadataOf(name)).json(), {
        issuer: front,
        authorization_endpoint: `${front}/authorize`,
        token_endpoint: `${front}/token`,
        registration_endpoint: `${front}/register`,
        response_types_supported: ['code'],
        response_modes_supported: ['query'],
        grant_types_supported: ['authorization_code', 'refresh_token'],
        token_endpoint_auth_methods_supported: ['none'],
        code_challenge_methods_supported: ['S256'],
        authorization_response_iss_parameter_supported: true,
      })
    }
    const before = backend.seen.length
    for (const name of ['plain', 'unknown', 'Corp', '__proto__']) {
      t.equal(
        (await metadataOf(name)).body,
        'ok',
        `${name} is no issuer with registration: the route answers`,
      )
      for (const endpoint of ['register', 'token'])
        t.equal((await ask(t, gateway.url, `POST ${pathOf(endpoint, name)}`, [json], '{}')).body, 'ok')
    }
    t.equal(backend.seen.length, before + 12)
    for (const [endpoint, allow] of [
      ['register', 'POST'],
      ['token', 'POST'],
      ['authorize', 'GET, HEAD'],
      ['callback', 'GET, HEAD'],
    ] as const) {
      const method = allow === 'POST' ? 'GET' : 'POST'
      const { status, headers } = await ask(t, gateway.url, `${method} ${pathOf(endpoint)}`)
      t.match({ status, allow: headers.allow }, { status: 405, allow })
    }
    const { json: resource } = await ask(t, gateway.url, 'GET /.well-known/oauth-protected-resource/mcp')
    t.match(resource(), {
      authorization_servers: [
        frontOf('corp'),
        corp.url,
        'https://plain.example.com',
        'https://api.example.com',
      ],
    })
  })
})
