import t from 'tap'
import { newProofClient } from '../../gateway/support/proofs.ts'
import { startApp } from './start-app.ts'

t.test('an app issues tokens that are bound to a key, and takes them with its proofs alone', async (t) => {
  const { url, createAccount } = await startApp(t, {
    config: { publicUrl: 'http://app.test', dpop: { proofLifetime: '30s' } },
    routes: (app) => {
      app.get('/api/me', { onRequest: app.gatehouse.require() }, (request) => request.principal)
      app.register(async (scope) => {
        scope.addHook('onRequest', app.gatehouse.require())
        const users = { onRequest: app.gatehouse.require({ roles: ['User'] }) }
        scope.get('/api/user', users, (request) => request.principal)
        const admins = { onRequest: app.gatehouse.require({ roles: ['Admin'] }) }
        scope.get('/api/admin', admins, (request) => request.principal)
      })
    },
  })
  const { account, apiKey, secretKey } = await createAccount()
  const key = await newProofClient()
  const tokenUrl = `${url}/api/v1/oauth/token`
  const form = { grant_type: 'client_credentials', client_id: apiKey, client_secret: secretKey }
  const granted = await fetch(tokenUrl, {
    method: 'POST',
    headers: { DPoP: await key.prove({ url: tokenUrl, method: 'POST' }) },
    body: new URLSearchParams(form),
  })
  const { access_token: token = '', token_type: type } = (await granted.json()) as Record<string, string>
  t.equal(type, 'DPoP')
  const me = `${url}/api/me`
  const headers = { Authorization: `DPoP ${token}`, DPoP: await key.prove({ url: me, token }) }
  t.match(await (await fetch(me, { headers })).json(), { accountId: account.id })
  t.equal((await fetch(me, { headers })).status, 401)
  const prove = async (path: string) => ({
    Authorization: `DPoP ${token}`,
    DPoP: await key.prove({ url: url + path, token }),
  })
  const proven = await prove('/api/user')
  t.equal((await fetch(`${url}/api/user`, { headers: proven })).status, 200, 'two hooks, one proof')
  t.equal((await fetch(`${url}/api/user`, { headers: proven })).status, 401, 'which still counts once')
  const forbidden = await fetch(`${url}/api/admin`, { headers: await prove('/api/admin') })
  t.match([forbidden.status, await forbidden.json()], [403, { code: 'role-forbidden' }], 'both hooks demand')
  const stolen = await fetch(me, { headers: { Authorization: `Bearer ${token}` } })
  t.match([stolen.status, await stolen.json()], [401, { code: 'proof-missing' }])
})
