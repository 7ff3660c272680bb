import t from 'tap'
import { run } from '../cli/run.ts'
import {
  app,
  code,
  frontOf,
  pathOf,
  privateUse,
  reply,
  request,
  startFronted,
} from './support/fronted-issuer.ts'

const state = (redirectUri: unknown, own: unknown = 'of the client') =>
  Buffer.from(JSON.stringify([redirectUri, own])).toString('base64url')

t.test('sign-ins at an issuer by way of the gateway', async (t) => {
  const { gateway, corp, other, visit } = await startFronted(t)

  t.test('a client is led to the issuer with what it asks for, and no more', async (t) => {
    const { status, headers } = await visit('authorize', {
      ...request,
      scope: 'tools:use',
      resource: 'https://api.example.com/mcp',
      audience: 'another',
      claims: '{}',
      nonce: 'n',
    })
    t.equal(status, 303)
    t.match(headers, { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
    const { origin, pathname, searchParams } = new URL(headers.location ?? '')
    t.equal(origin + pathname, `${corp.url}/authorize`)
    t.strictSame(Object.fromEntries(searchParams), {
      tenant: '1',
      scope: 'tools:use',
      resource: 'https://api.example.com/mcp',
      code_challenge: request.code_challenge,
      code_challenge_method: 'S256',
      response_type: 'code',
      client_id: 'mcp',
      redirect_uri: `${frontOf('corp')}/callback`,
      state: state(request.redirect_uri),
    })
  })

  t.test('a client or redirect URI that is not known gets no redirect', async (t) => {
    for (const wrong of [
      { client_id: 'other' },
      { client_id: '' },
      { redirect_uri: 'https://evil.example.com/' },
      { redirect_uri: 'http://127.0.0.1:4000/callback#x' },
      { redirect_uri: '' },
    ]) {
      const { status, headers, body } = await visit('authorize', { ...request, ...wrong })
      t.equal(status, 400)
      t.match(headers, { location: undefined, 'content-type': /^text\/html/ })
      t.match(headers['content-security-policy'], /default-src 'none'.*frame-ancestors 'none'/)
      t.notMatch(body, /evil/)
    }
    const twice = `${new URLSearchParams(request)}&redirect_uri=https://evil.example.com/`
    const { status, headers } = await fetch(`${gateway.url}${pathOf('authorize')}?${twice}`, {
      redirect: 'manual',
    })
    t.strictSame([status, headers.get('location')], [400, null])
  })

  t.test('a request that could not end well is told so to the client', async (t) => {
    for (const [wrong, error] of [
      [{ response_type: 'token' }, 'unsupported_response_type'],
      [{ code_challenge: '' }, 'invalid_request'],
      [{ code_challenge_method: 'plain' }, 'invalid_request'],
      [{ response_mode: 'fragment' }, 'invalid_request'],
      [{ request: 'eyJ' }, 'request_not_supported'],
      [{ request_uri: 'https://evil.example.com/' }, 'request_not_supported'],
      [{ state: 'x'.repeat(2_049) }, 'invalid_request'],
    ] as const) {
      const { status, headers } = await visit('authorize', { ...request, ...wrong })
      const url = new URL(headers.location ?? '')
      t.strictSame([status, url.host, url.pathname], [303, '127.0.0.1:4000', '/callback'])
      t.match(Object.fromEntries(url.searchParams), { error, iss: frontOf('corp') })
    }
    const longest = await visit('authorize', { ...request, state: 'x'.repeat(2_048) })
    t.ok(longest.headers.location?.startsWith(corp.url), 'a state at its limit')
  })

  t.test('a code is shown to the person, and goes only where the client is registered', async (t) => {
    const answer = { code: 'c0de"><script>', iss: corp.url }
    for (const [redirectUri, who] of [
      [request.redirect_uri, '127.0.0.1:4000'],
      [app, 'app.example.com'],
      [privateUse, 'com.example.app:'],
    ] as const) {
      const { status, headers, body } = await visit('callback', { ...answer, state: state(redirectUri) })
      t.equal(status, 200)
      t.match(headers, {
        location: undefined,
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-frame-options': 'DENY',
        'content-security-policy': /default-src 'none'.*frame-ancestors 'none'/,
      })
      t.match(body, `<strong>${who}</strong>`)
      t.notMatch(body, /http-equiv|<script/, 'it does not continue by itself')
      const [, link = ''] = /<a href="([^"]+)"/.exec(body) ?? []
      const url = new URL(link.replaceAll('&amp;', '&'))
      t.equal(url.protocol, new URL(redirectUri).protocol)
      t.match(Object.fromEntries(url.searchParams), {
        code: answer.code,
        state: 'of the client',
        iss: frontOf('corp'),
        ...(redirectUri === app && { tab: '1' }),
      })
    }
    const refused = await visit('callback', {
      error: 'access_denied',
      error_description: 'No.',
      iss: corp.url,
      state: state(app, null),
    })
    const url = new URL(refused.headers.location ?? '')
    t.strictSame(Object.fromEntries(url.searchParams), {
      tab: '1',
      error: 'access_denied',
      error_description: 'No.',
      iss: frontOf('corp'),
    })
  })

  t.test('a return address that was made up leads nowhere else', async (t) => {
    for (const made of [
      '',
      'x',
      '%',
      Buffer.from('{}').toString('base64url'),
      Buffer.from('[]').toString('base64url'),
      state('https://evil.example.com/'),
      state('javascript:alert(1)'),
      state([app]),
      state(app, 1),
      state(app, ['x']),
    ]) {
      const { status, headers, body } = await visit('callback', { code: 'c', iss: corp.url, state: made })
      t.equal(status, 400, made)
      t.equal(headers.location, undefined)
      t.notMatch(body, /evil|href="javascript/)
    }
  })

  t.test('an answer of one issuer is never passed on as one of another', async (t) => {
    const answer = { code: 'c', state: state(app) }
    const statusOf = async (iss: Readonly<Record<string, string>>, name: string) =>
      (await visit('callback', { ...answer, ...iss }, name)).status
    t.equal(await statusOf({ iss: other.url }, 'corp'), 400)
    t.equal(await statusOf({ iss: `${corp.url}/` }, 'corp'), 400, 'another spelling')
    t.equal(await statusOf({}, 'corp'), 400, 'it has said that it always names itself')
    t.equal(await statusOf({ iss: corp.url }, 'other'), 400)
    t.equal(await statusOf({}, 'other'), 200, 'one that never names itself')
    t.equal(await statusOf({ iss: other.url }, 'other'), 200)
  })

  t.test('explain knows the paths', async (t) => {
    const explained = await run(t, [
      ...['explain', 'POST', `${gateway.url}${pathOf('register')}`, '--json', '--config', gateway.configFile],
    ])
    t.match(explained.json(), { decision: 'answer', route: '_gateway' })
  })
})

t.test('tokens of an issuer by way of the gateway', async (t) => {
  const { gateway, corp, token, visit } = await startFronted(t, {
    limits: { failures: { limit: 5, per: '1m' } },
  })

  t.test(
    'a code is redeemed with the redirect URI that the issuer knows, and the token comes back',
    async (t) => {
      corp.state.answer = (_form, response) =>
        reply(response, 200, {
          access_token: 'a-token',
          token_type: 'Bearer',
          expires_in: 60,
          refresh_token: 'r-token',
          scope: 'tools:use',
          id_token: 'of another issuer',
          more: 'x',
        })
      const { status, headers, json } = await token({
        ...code,
        redirect_uri: request.redirect_uri,
        resource: 'https://api.example.com/mcp',
        assertion: 'x',
      })
      t.equal(status, 200)
      t.match(headers, { 'cache-control': 'no-store', 'content-type': /^application\/json/ })
      t.strictSame(json(), {
        access_token: 'a-token',
        token_type: 'Bearer',
        expires_in: 60,
        refresh_token: 'r-token',
        scope: 'tools:use',
      })
      t.strictSame(Object.fromEntries(new URLSearchParams(corp.state.asked.pop())), {
        ...code,
        redirect_uri: `${frontOf('corp')}/callback`,
        resource: 'https://api.example.com/mcp',
      })
      await token({ grant_type: 'refresh_token', client_id: 'mcp', refresh_token: 'r', scope: 's' })
      t.strictSame(Object.fromEntries(new URLSearchParams(corp.state.asked.pop())), {
        grant_type: 'refresh_token',
        client_id: 'mcp',
        refresh_token: 'r',
        scope: 's',
      })
      await visit('callback', { code: 'c0de', iss: corp.url, state: state(app) })
      t.notMatch(gateway.logLines.join(''), /c0de|a-token|r-token/)
    },
  )

  t.test('what no client of the gateway asks never reaches the issuer', async (t) => {
    const asked = corp.state.asked.length
    for (const [parameters, headers, error] of [
      [{ ...code, client_id: 'other' }, [], 'invalid_client'],
      [{ ...code, client_id: '' }, [], 'invalid_request'],
      [{ ...code, client_secret: 'x' }, [], 'invalid_client'],
      [code, ['Authorization: Basic bWNwOng='], 'invalid_client'],
      [{ ...code, code: '' }, [], 'invalid_request'],
      [{ ...code, code_verifier: '' }, [], 'invalid_request'],
      [{ ...code, grant_type: 'client_credentials' }, [], 'unsupported_grant_type'],
      [{ ...code, grant_type: 'password' }, [], 'unsupported_grant_type'],
      [{ ...code, grant_type: 'refresh_token' }, [], 'invalid_request'],
    ] as const) {
      const { status, headers: answered, json } = await token(parameters, headers)
      t.equal(status, error === 'invalid_client' ? 401 : 400)
      t.equal(json().error, error)
      t.equal(answered['www-authenticate'], undefined, 'a browser would ask for a password')
    }
    t.equal(corp.state.asked.length, asked)
  })

  t.test('an issuer that fails is no refusal', async (t) => {
    for (const answer of [
      (response: Parameters<typeof reply>[0]) => reply(response, 500, { error: 'server_error' }),
      (response: Parameters<typeof reply>[0]) => reply(response, 200, { token: 'x' }),
      (response: Parameters<typeof reply>[0]) => void response.end('<html>'),
      (response: Parameters<typeof reply>[0]) =>
        void response.writeHead(302, { Location: `${corp.url}/jwks` }).end(),
      (response: Parameters<typeof reply>[0]) => reply(response, 200, { access_token: 'x'.repeat(70_000) }),
      (response: Parameters<typeof reply>[0]) => void response.destroy(),
    ]) {
      corp.state.answer = (_form, response) => answer(response)
      const { status, headers, body, json } = await token(code)
      t.equal(status, 503)
      t.equal(json().error, 'temporarily_unavailable')
      t.ok(headers['retry-after'])
      t.notMatch(body, corp.url)
    }
  })

  t.test('guesses of one network do not reach the issuer beyond the failure limit', async (t) => {
    corp.state.answer = (_form, response) =>
      reply(response, 400, { error: 'invalid_grant', error_description: 'no', hint: 'x' })
    const asked = corp.state.asked.length
    const refused = await token(code)
    t.match(refused.status, 400)
    t.strictSame(refused.json(), { error: 'invalid_grant', error_description: 'no' })
    const statuses = await Promise.all(Array.from({ length: 20 }, async () => (await token(code)).status))
    t.ok(
      statuses.every((status) => [400, 429, 503].includes(status)),
      String(statuses),
    )
    t.ok(corp.state.asked.length - asked <= 6, `${corp.state.asked.length - asked} questions`)
    t.equal((await token(code)).status, 429)
  })
})

t.test('an issuer that cannot be discovered leads nobody anywhere', async (t) => {
  const { corp, visit } = await startFronted(t)
  corp.state.metadata = { authorization_endpoint: 'http://issuer.example.com/authorize' }
  const { status, headers, body } = await visit('authorize', request)
  t.strictSame([status, headers.location], [503, undefined])
  t.match(body, 'issuer-unavailable')
})
