import t from 'tap'
import { startBoth } from '../setup/both.ts'
import { rawRequest } from '../setup/raw-client.ts'
import { ask } from './support/ask.ts'
import { assertProblem } from './support/problem.ts'

const securityTxt = '/.well-known/security.txt'
const changePassword = '/.well-known/change-password'
const routes = [{ name: 'all', path: '/', upstream: 'backend', auth: 'none' }]
const notAllowed = { status: 405, code: 'method-not-allowed' }

t.test('security.txt is that of the config, for everybody', async (t) => {
  const { gateway, backend } = await startBoth(t, {
    config: { routes, securityTxt: { contact: ['mailto:security@example.com'], expires: '2027-06-30' } },
  })
  const answer = await ask(t, gateway.url, `GET ${securityTxt}`)
  t.equal(answer.status, 200)
  t.match(answer.headers, {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'public, max-age=300',
  })
  t.equal(answer.body, 'Contact: mailto:security@example.com\nExpires: 2027-06-30T23:59:59Z\n')
  const head = await ask(t, gateway.url, `HEAD ${securityTxt}`)
  t.match([head.status, head.body], [200, ''])
  const post = await ask(t, gateway.url, `POST ${securityTxt}`, [], 'x')
  assertProblem(t, post, notAllowed)
  t.equal(post.headers.allow, 'GET, HEAD')
  t.equal(backend.seen.length, 0)
})

t.test('without one in the config its path is that of a route', async (t) => {
  const { gateway, backend } = await startBoth(t, { config: { routes } })
  t.equal((await ask(t, gateway.url, `GET ${securityTxt}`)).body, 'ok')
  t.equal(backend.last().url, securityTxt)
})

t.test('change-password leads to the page of the portal', async (t) => {
  const { gateway, backend } = await startBoth(t, { config: { routes, portal: { path: '/me' } } })
  const answer = await ask(t, gateway.url, `GET ${changePassword}`)
  t.match([answer.status, answer.headers.location], [303, '/me/profile'])
  t.equal((await ask(t, gateway.url, `HEAD ${changePassword}`)).status, 303)
  assertProblem(t, await ask(t, gateway.url, `POST ${changePassword}`, [], 'x'), notAllowed)
  const page = await ask(t, gateway.url, `GET ${answer.headers.location}`, ['Accept: text/html'])
  t.equal(page.headers.location, '/me/sign-in?next=%2Fprofile', 'and from there through the sign-in')
  t.equal(backend.seen.length, 0)
})

t.test('without passwords in a portal, change-password is the path of a route', async (t) => {
  const oidc = { issuer: 'http://127.0.0.1:9', clientId: 'gatehouse' }
  for (const portal of [{ enabled: false }, { oidc: { ...oidc, passwords: false } }]) {
    const { gateway, backend } = await startBoth(t, { config: { routes, portal } })
    t.equal((await ask(t, gateway.url, `GET ${changePassword}`)).body, 'ok')
    t.equal(backend.last().url, changePassword)
  }
})

t.test('a portal on its own host has change-password there only', async (t) => {
  const { gateway, backend } = await startBoth(t, {
    config: { routes, publicUrl: 'https://api.example.com', portal: { host: 'portal.example.com' } },
  })
  const at = (host: string) => rawRequest(t, gateway.url, [`GET ${changePassword} HTTP/1.1`, `Host: ${host}`])
  t.equal((await at('portal.example.com')).headers.location, '/portal/profile')
  t.equal((await at('api.example.com')).body, 'ok')
  t.equal(backend.seen.length, 1)
})
