import * as client from 'openid-client'
import t, { type Test } from 'tap'
import { startBoth } from '../setup/both.ts'
import { freePort } from '../setup/net.ts'
import { newProofClient } from './support/proofs.ts'

const tokenPath = '/api/v1/oauth/token'

/** A gateway that clients discover at its own URL. */
async function start(t: Test, config: Readonly<Record<string, unknown>> = {}) {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const { backend, gateway } = await startBoth(t, { config: { publicUrl: url, listen: { port }, ...config } })
  const discover = (id: string, auth: client.ClientAuth) =>
    client.discovery(new URL(url), id, undefined, auth, {
      algorithm: 'oauth2',
      execute: [client.allowInsecureRequests],
    })
  const ask = async (
    form: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>> = {},
  ) => {
    const response = await fetch(url + tokenPath, {
      method: 'POST',
      headers,
      body: new URLSearchParams(form),
    })
    return { status: response.status, headers: response.headers, json: (await response.json()) as Answer }
  }
  return { backend, gateway, url, discover, ask }
}

type Answer = Readonly<Partial<Record<'access_token' | 'refresh_token' | 'token_type' | 'error', string>>>

for (const nonce of [false, true])
  t.test(
    `openid-client gets and uses tokens that are bound to its key${nonce ? ', with nonces' : ''}`,
    async (t) => {
      const { backend, gateway, url, discover } = await start(t, { dpop: { nonce } })
      const { account, apiKey, secretKey } = await gateway.createAccount()
      const config = await discover(apiKey, client.ClientSecretBasic(secretKey))
      const { dpop_signing_alg_values_supported: algorithms = [] } = config.serverMetadata()
      for (const alg of algorithms) {
        const DPoP = client.getDPoPHandle(
          config,
          await client.randomDPoPKeyPair(alg === 'EdDSA' ? 'Ed25519' : alg),
        )
        const tokens = await client.clientCredentialsGrant(config, {}, { DPoP })
        t.equal(tokens.token_type, 'dpop', alg)
        for (const path of ['/bearer/a?b=c', '/bearer/%7Eada']) {
          const target = new URL(url + path)
          const answer = await client.fetchProtectedResource(
            config,
            tokens.access_token,
            target,
            'GET',
            null,
            undefined,
            { DPoP },
          )
          t.equal(answer.status, 200, `${alg} ${path}`)
          t.equal(backend.last().headers['x-user-id'], account.id)
        }
        const stolen = await fetch(`${url}/bearer`, {
          headers: { Authorization: `Bearer ${tokens.access_token}` },
        })
        t.equal(stolen.status, 401)
      }
      const introspected = await client.tokenIntrospection(config, 'nothing').catch(() => undefined)
      t.notOk(introspected?.active)
    },
  )

t.test('what a bound token is bound to is told by introspection, and it is revoked as any', async (t) => {
  const { gateway, url, discover, ask } = await start(t)
  const admin = await gateway.createAccount({ role: 'Admin' })
  const config = await discover(admin.apiKey, client.ClientSecretBasic(admin.secretKey))
  const key = await newProofClient()
  const form = { grant_type: 'client_credentials', client_id: admin.apiKey, client_secret: admin.secretKey }
  const proof = () => key.prove({ url: url + tokenPath, method: 'POST' })
  const { json } = await ask(form, { DPoP: await proof() })
  const token = json.access_token ?? ''
  t.match(await client.tokenIntrospection(config, token), {
    active: true,
    token_type: 'DPoP',
    cnf: { jkt: key.jkt },
  })
  const use = async () => {
    const headers = { Authorization: `DPoP ${token}`, DPoP: await key.prove({ url: `${url}/any`, token }) }
    return (await fetch(`${url}/any`, { headers })).status
  }
  t.equal(await use(), 200)
  await client.tokenRevocation(config, token)
  t.equal(await use(), 401)
})

t.test('refresh tokens of public clients are bound to their key, for good', async (t) => {
  const { gateway, url, ask } = await start(t)
  const created = await gateway.createAccount()
  const { RefreshToken } = await gateway.tokens(created)
  const [mine, other] = [await newProofClient(), await newProofClient()]
  const refresh = async (token: string, by?: typeof mine, more: Readonly<Record<string, string>> = {}) => {
    const proof = by && (await by.prove({ url: url + tokenPath, method: 'POST' }))
    const form = { grant_type: 'refresh_token', refresh_token: token, ...more }
    return (await ask(form, proof === undefined ? {} : { DPoP: proof })).json
  }
  const first = await refresh(RefreshToken, mine)
  t.equal(first.token_type, 'DPoP')
  const bound = first.refresh_token ?? ''
  t.equal((await refresh(bound)).error, 'invalid_grant', 'without a proof')
  t.equal((await refresh(bound, other)).error, 'invalid_grant', 'with another key')
  const [text = ''] = bound.split('.')
  t.equal((await refresh(text)).error, 'invalid_grant', 'without what it is bound to')
  t.equal((await refresh(`${text}.${other.jkt}`, other)).error, 'invalid_grant', 'bound to another key')
  const json = await gateway.post('/api/v1/accounts/refresh-token', { token: bound })
  t.equal(json.status, 401, 'where no proof is taken')
  const second = await refresh(bound, mine)
  t.equal(second.token_type, 'DPoP', 'none of the attempts ended its session')
  const revoked = await gateway.post('/api/v1/accounts/revoke-token', { token: second.refresh_token })
  t.equal(revoked.status, 200)
  t.equal((await refresh(second.refresh_token ?? '', mine)).error, 'invalid_grant', 'it was revoked')
})

t.test('refresh tokens of a client with a secret are not bound, its access tokens are', async (t) => {
  const { gateway, url, ask } = await start(t)
  const { apiKey, secretKey, ...created } = await gateway.createAccount()
  const { RefreshToken } = await gateway.tokens({ apiKey, secretKey, ...created })
  const key = await newProofClient()
  const secret = { client_id: apiKey, client_secret: secretKey }
  const form = { grant_type: 'refresh_token', refresh_token: RefreshToken, ...secret }
  const { json } = await ask(form, { DPoP: await key.prove({ url: url + tokenPath, method: 'POST' }) })
  t.equal(json.token_type, 'DPoP')
  const next = { grant_type: 'refresh_token', refresh_token: json.refresh_token ?? '', ...secret }
  t.equal((await ask(next)).json.token_type, 'Bearer')
})

t.test('a wrong proof gets no token, and the errors of RFC 9449', async (t) => {
  const { gateway, url, ask } = await start(t)
  const { apiKey, secretKey } = await gateway.createAccount()
  const key = await newProofClient()
  const form = { grant_type: 'client_credentials', client_id: apiKey, client_secret: secretKey }
  const right = { url: url + tokenPath, method: 'POST' }
  for (const request of [
    { ...right, method: 'GET' },
    { ...right, url: `${url}/bearer` },
  ]) {
    const { status, json } = await ask(form, { DPoP: await key.prove(request) })
    t.match([status, json.error], [400, 'invalid_dpop_proof'])
  }
  const proof = await key.prove(right)
  const wrong = await ask({ ...form, client_secret: 'wrong' }, { DPoP: proof })
  t.match([wrong.status, wrong.json.error], [401, 'invalid_client'])
  t.equal((await ask(form, { DPoP: proof })).status, 200, 'a stranger uses up no proof')
  t.equal((await ask(form, { DPoP: proof })).json.error, 'invalid_dpop_proof', 'but it counts once')
})

t.test('with a nonce, a token request is told it', async (t) => {
  const { gateway, url, ask } = await start(t, { dpop: { nonce: true } })
  const { apiKey, secretKey } = await gateway.createAccount()
  const key = await newProofClient()
  const form = { grant_type: 'client_credentials', client_id: apiKey, client_secret: secretKey }
  const request = { url: url + tokenPath, method: 'POST' }
  const asked = await ask(form, { DPoP: await key.prove(request) })
  t.match([asked.status, asked.json.error], [400, 'use_dpop_nonce'])
  const nonce = asked.headers.get('dpop-nonce')
  t.equal((await ask(form, { DPoP: await key.prove(request, { claims: { nonce } }) })).status, 200)
})

t.test('the admin API takes a bound token with its proof only', async (t) => {
  const { gateway, url, ask } = await start(t)
  const admin = await gateway.createAccount({ role: 'Admin' })
  const key = await newProofClient()
  const form = { grant_type: 'client_credentials', client_id: admin.apiKey, client_secret: admin.secretKey }
  const { json } = await ask(form, { DPoP: await key.prove({ url: url + tokenPath, method: 'POST' }) })
  const token = json.access_token ?? ''
  const path = `${url}/api/v1/admin/accounts`
  const headers = { Authorization: `DPoP ${token}`, DPoP: await key.prove({ url: path, token }) }
  t.equal((await fetch(path, { headers })).status, 200)
  t.equal((await fetch(path, { headers })).status, 401, 'a proof counts once')
  t.equal((await fetch(path, { headers: { Authorization: `Bearer ${token}` } })).status, 401)
})
