import t from 'tap'
import { run } from '../cli/run.ts'
import { newIssuerKey, rightClaims, signToken, startIssuer } from '../identity/issuers/issuer-server.ts'
import { until } from '../setup/net.ts'
import { askDecision } from './decide/support.ts'
import { importKey } from './support/further-keys.ts'
import { known, right, startIntrospecting } from './support/introspecting.ts'
import { parseExposition } from './support/metrics.ts'
import { newProofClient } from './support/proofs.ts'

t.test('an opaque token passes the routes of its issuer, and no other; it is asked about once', async (t) => {
  const { server, backend, codeOf } = await startIntrospecting(t)
  for (const path of ['/orders', '/any', '/optional', '/orders']) t.equal(await codeOf(path, known), '200')
  t.match(backend.last().headers, { 'x-user-id': 'corp:ada', 'x-user-role': 'User' })
  t.equal(backend.last().headers.authorization, undefined)
  t.strictSame(server.asked(), [known])
  const [asked] = server.seen
  t.match(asked, { method: 'POST', url: '/introspect' })
  t.match(asked?.headers['content-type'], /^application\/x-www-form-urlencoded/)
  t.equal(new URLSearchParams(asked?.body).get('token_type_hint'), 'access_token')
  const [scheme, credentials = ''] = asked?.headers.authorization?.split(' ') ?? []
  t.equal(scheme, 'Basic')
  t.equal(
    Buffer.from(credentials, 'base64').toString(),
    'gate%3Away:a+secret%3A+%C3%A4%2B%25',
    'form-encoded first (RFC 6749 2.3.1)',
  )
  for (const path of ['/ours', '/api/v1/admin/accounts', '/api/v1/accounts/usage'])
    t.equal(await codeOf(path, known), '401 token-invalid', path)
  t.equal(await codeOf('/orders', 'another-token'), '401 token-invalid')
  t.strictSame(server.asked(), [known, 'another-token'])
})

t.test('the members of an answer are read as the claims of a token', async (t) => {
  const { server, backend, codeOf } = await startIntrospecting(t, { require: { tenant: ['acme'] } })
  const exp = Math.floor(Date.now() / 1_000) + 60
  for (const [members, path, expected] of [
    [{}, '/orders', '401 token-invalid'],
    [{ tenant: 'other' }, '/orders', '401 token-invalid'],
    [{ tenant: 'acme' }, '/orders', '200'],
    [{ tenant: 'acme', sub: undefined }, '/orders', '401 token-invalid'],
    [{ tenant: 'acme', sub: 7 }, '/orders', '401 token-invalid'],
    [{ tenant: 'acme', aud: 'shop' }, '/orders', '401 token-invalid'],
    [{ tenant: 'acme', aud: undefined }, '/orders', '401 token-invalid'],
    [{ tenant: 'acme', aud: ['shop', 'orders'] }, '/orders', '200'],
    [{ tenant: 'acme', iss: 'https://other.example.com' }, '/orders', '401 token-invalid'],
    [{ tenant: 'acme', iss: server.url, exp, nbf: null }, '/orders', '200'],
    [{ tenant: 'acme', exp: 1 }, '/orders', '401 token-expired'],
    [{ tenant: 'acme', exp: 'soon' }, '/orders', '401 token-invalid'],
    [{ tenant: 'acme', nbf: exp }, '/orders', '401 token-invalid'],
    [{ tenant: 'acme', groups: ['ops'] }, '/admin', '200'],
    [{ tenant: 'acme', groups: 'staff' }, '/admin', '403 role-forbidden'],
    [{ tenant: 'acme', scope: 'orders:read openid' }, '/scoped', '200'],
    [{ tenant: 'acme', scope: 'openid' }, '/scoped', '403 scope-forbidden'],
    [{ tenant: 'acme', scope: 'openid' }, '/orders', '403 scope-forbidden'],
    [{ tenant: 'acme', token_type: 'refresh_token' }, '/orders', '401 token-invalid'],
    [{ tenant: 'acme', token_type: undefined, token_use: 'refresh_token' }, '/orders', '401 token-invalid'],
    [{ tenant: 'acme', token_type: undefined, token_use: 'access_token' }, '/orders', '200'],
    [{ tenant: 'acme', token_type: undefined, typ: 'Refresh' }, '/orders', '401 token-invalid'],
    [{ tenant: 'acme', token_type: undefined, typ: 'Bearer' }, '/orders', '200'],
    [{ tenant: 'acme', token_type: 'DPoP' }, '/orders', '401 token-invalid'],
    [{ tenant: 'acme', cnf: { jkt: 'x'.repeat(43) }, token_type: 'DPoP' }, '/orders', '401 proof-missing'],
    [{ tenant: 'acme', active: false }, '/orders', '401 token-invalid'],
  ] as const) {
    const token = `token-${server.state.tokens.size}`
    server.state.tokens.set(token, { ...right, ...members })
    t.equal(await codeOf(path, token), expected, `${path} ${JSON.stringify(members)}`)
  }
  t.equal(backend.last().headers['x-user-id'], 'corp:ada')
})

t.test('a JWT of an issuer without keys is asked about, one with keys is verified by them', async (t) => {
  const key = await newIssuerKey('one')
  const { url: keysUrl } = await startIssuer(t, [key])
  const sign = (url: string, claims = {}) => signToken(key, rightClaims(url, claims))

  const asked = await startIntrospecting(t)
  const jwt = await sign(asked.server.url)
  t.equal(await asked.codeOf('/orders', jwt), '401 token-invalid')
  const other = await sign(asked.server.url, { sub: 'bob' })
  asked.server.state.tokens.set(other, { ...right, sub: 'bob' })
  t.equal(await asked.codeOf('/orders', other), '200')
  t.equal(asked.backend.last().headers['x-user-id'], 'corp:bob')
  t.strictSame(asked.server.asked(), [jwt, other])
  t.equal(await asked.codeOf('/orders', await sign('https://other.example.com')), '401 token-invalid')
  t.strictSame(asked.server.asked(), [jwt, other], 'nobody is told the token of another issuer')

  const both = await startIntrospecting(t, {
    jwks: { url: `${keysUrl}/jwks` },
    algorithms: ['ES256'],
  })
  t.equal(await both.codeOf('/orders', await sign(both.server.url)), '200')
  t.equal(await both.codeOf('/orders', await sign(both.server.url, { exp: 1 })), '401 token-expired')
  t.strictSame(both.server.asked(), [], 'signed tokens are not asked about')
  t.equal(await both.codeOf('/orders', known), '200')
  t.strictSame(both.server.asked(), [known])
})

t.test(
  'where keys come as bearer tokens too, they are looked up here before an issuer is asked',
  async (t) => {
    const keys = { sealingKey: { file: 'sealing.key' }, accept: ['bearer'] }
    const { gateway, server, backend, codeOf } = await startIntrospecting(t, {}, { keys })
    const { account, secretKey } = await gateway.createAccount()
    const identity = () => backend.last().headers['x-user-id']
    t.equal(await codeOf('/any', secretKey), '200')
    t.equal(identity(), account.id)
    t.equal(await codeOf('/orders', secretKey), '401 scheme-not-accepted')
    t.equal(await codeOf('/any', `${secretKey}x`), '401 secret-key-invalid')
    t.strictSame(server.asked(), [], 'what has the form of our keys is told to nobody')
    for (const path of ['/any', '/orders', '/any']) {
      t.equal(await codeOf(path, known), '200', path)
      t.equal(identity(), 'corp:ada')
    }
    t.equal(await codeOf('/ours', known), '401 secret-key-invalid')
    t.equal(await codeOf('/any', 'AKIA-of-nobody'), '401 token-invalid')
    t.strictSame(server.asked(), [known, 'AKIA-of-nobody'])

    await importKey(gateway, account.id, 'AKIA-made-elsewhere')
    server.state.tokens.set('AKIA-made-elsewhere', right)
    await until('the key is known', async () => (await codeOf('/ours', 'AKIA-made-elsewhere')) === '200')
    t.equal(await codeOf('/any', 'AKIA-made-elsewhere'), '200')
    t.equal(identity(), account.id, 'a key of ours comes first')
    t.strictSame(server.asked(), [known, 'AKIA-of-nobody'])
    t.equal(await codeOf('/any', known), '200')
    t.equal(identity(), 'corp:ada')
    t.equal(await codeOf('/orders', 'AKIA-made-elsewhere'), '200', 'a route that takes no keys')
    t.equal(identity(), 'corp:ada')
  },
)

t.test('an opaque token that is bound to a key passes with its proof alone', async (t) => {
  const { server, codeWith } = await startIntrospecting(t)
  const key = await newProofClient()
  server.state.tokens.set('bound', { ...right, token_type: 'DPoP', cnf: { jkt: key.jkt } })
  const url = 'http://gateway.test/orders'
  const scheme = 'Authorization: DPoP bound'
  t.equal(await codeWith('/orders', 'Authorization: Bearer bound'), '401 proof-missing')
  t.equal(await codeWith('/orders', scheme), '401 proof-invalid')
  const proof = await key.prove({ url, token: 'bound' })
  t.equal(await codeWith('/orders', scheme, `DPoP: ${proof}`), '200')
  t.equal(await codeWith('/orders', scheme, `DPoP: ${proof}`), '401 proof-invalid', 'once')
  const ofAnother = await key.prove({ url, token: known })
  t.equal(await codeWith('/orders', scheme, `DPoP: ${ofAnother}`), '401 proof-invalid')
  t.strictSame(server.asked(), ['bound'])
})

t.test('the decide listener, explain, blocks and metrics know opaque tokens', async (t) => {
  const decide = { decide: { port: 0 }, trustedProxies: ['127.0.0.1'] }
  const { gateway, server, codeOf } = await startIntrospecting(t, {}, decide)
  const headers = [`Authorization: Bearer ${known}`]
  const decided = await askDecision(t, gateway, { uri: '/orders', headers })
  t.match(decided, { status: 200, headers: { 'x-user-id': 'corp:ada' } })

  const explain = async (token: string) => {
    const args = ['explain', 'GET', '/orders', '-H', `Authorization: Bearer ${token}`, '--json']
    const { stdout, json } = await run(t, [...args, '--config', gateway.configFile])
    t.notMatch(stdout, token)
    t.notMatch(stdout, 'a secret')
    return json()
  }
  t.match(await explain(known), { decision: 'forward' })
  t.match(await explain('unknown-token'), { decision: 'refuse', status: 401, code: 'token-invalid' })

  const block = ['subjects', 'block', 'corp', 'ada', '--config', gateway.configFile]
  t.equal((await run(t, block)).status, 0)
  await until('it is blocked', async () => (await codeOf('/orders', known)) === '403 subject-blocked')

  t.equal(await codeOf('/orders', 'unknown-token'), '401 token-invalid')
  server.state.answer = (_, response) => response.destroy()
  t.equal(await codeOf('/orders', 'third-token'), '503 issuer-unavailable')
  const metrics = parseExposition(await (await fetch(`${gateway.opsUrl}/metrics`)).text())
  const questions = (outcome: string) =>
    metrics.value('gatehouse_issuer_questions_total', { issuer: 'corp', outcome })
  t.strictSame([questions('active'), questions('inactive'), questions('failed')], [1, 1, 1])
  t.equal(metrics.value('gatehouse_issuer_up', { issuer: 'corp' }), 0)
  t.notOk(metrics.samples.some(({ name }) => name === 'gatehouse_issuer_keys'))
})
