import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { CreatedAccount } from '#accounts/accounts.ts'
import { tempFolder } from '../cli/run.ts'
import { createCookieJar, givePassword, password, signInAt } from '../gateway/support/cookie-jar.ts'
import { startBoth } from '../setup/both.ts'
import { clientId, clientSecret, startOpenIdProvider } from '../setup/openid-provider.ts'
import { openPlainBrowser, type Page, type PlainBrowser } from './support/plain-browser.ts'

const publicUrl = 'http://portal.test'

async function start(t: Test, options: object = {}) {
  const provider = await startOpenIdProvider(t)
  const secretFile = join(tempFolder(t), 'client-secret')
  writeFileSync(secretFile, clientSecret)
  const oidc = {
    issuer: provider.url,
    clientId,
    clientSecret: { file: secretFile },
    label: 'Example ID',
    ...options,
  }
  const gateway = await startBoth(t, {
    config: { publicUrl, portal: { oidc }, tokens: { clockTolerance: '0s' } },
  })
  const { url } = gateway
  provider.people.set('victim', { email: 'victim@example.com', email_verified: true })

  /** Comes back from the provider. @returns the page that it leads to */
  async function signIn(browser: PlainBrowser, from = `${url}/portal/sign-in/oidc`): Promise<Page> {
    const back = await browser.get(await browser.toCallback(from, provider, 'victim'))
    return back.next === undefined ? back : browser.get(back.next)
  }

  const find = ({ account }: CreatedAccount) => gateway.operate(({ accounts }) => accounts.get(account.id))
  const byKey = async ({ secretKey }: CreatedAccount) =>
    (await fetch(`${url}/any`, { headers: { SecretKey: secretKey } })).status
  const browse = () => openPlainBrowser({ url, publicUrl })
  return { gateway, url, provider, signIn, find, byKey, browse }
}

const csrfOf = ({ text }: Page) => /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? ''

t.test('an account that somebody else has used with my address is mine only without them', async (t) => {
  const { gateway, url, signIn, find, byKey, browse } = await start(t)
  // Whoever has it can sign in, and holds keys and tokens.
  const made = await gateway.createAccount({ email: 'victim@example.com', isVerified: false })
  await givePassword(t, gateway, made.account.id)
  const { RefreshToken } = await gateway.tokens(made)
  t.equal(await byKey(made), 200)

  const browser = browse()
  const asked = await signIn(browser)
  t.match(asked, { status: 200 })
  t.match(asked.text, 'Is this your account?')
  t.match(await find(made), { isVerified: false, portal: { identities: [] } }, 'nothing is done yet')
  t.match(await browser.get(`${url}/portal/integration`), { status: 303 }, 'nor is anybody signed in')

  const forged = await browser.post(`${url}/portal/sign-in/take-over`, { csrf: 'x' })
  t.equal(forged.status, 403, 'only by the form')
  const stranger = browse()
  const page = await stranger.get(`${url}/portal/sign-in`)
  const without = await stranger.post(`${url}/portal/sign-in/take-over`, { csrf: csrfOf(page) })
  t.equal(without.status, 403, 'only who comes from the provider')

  const done = await browser.post(`${url}/portal/sign-in/take-over`, { csrf: csrfOf(asked) })
  t.match(done, { status: 303, next: `${url}/portal/integration` })
  t.match(await browser.get(`${url}/portal/integration`), { status: 200 })
  const account = await find(made)
  t.match(account, { isVerified: true, portal: { password: undefined, identities: [{ subject: 'victim' }] } })
  t.equal(await byKey(made), 401, 'its keys have ended')
  const refresh = await gateway.post('/api/v1/accounts/refresh-token', { token: RefreshToken })
  t.equal(refresh.status, 401, 'its sessions too')
  const pair = { SecretKey: made.secretKey, APIKey: made.apiKey }
  t.equal((await gateway.post('/api/v1/accounts/access-token', pair)).status, 401)
  const late = createCookieJar(t, url)
  await signInAt(late, '/portal/sign-in', 'victim@example.com')
  t.notOk([...late.cookies.keys()].includes('gatehouse-portal'), 'and its password')
  const again = browse()
  t.match((await signIn(again)).text, 'Integration', 'from then on the person signs in')
})

t.test('who knows the password keeps everything', async (t) => {
  const { gateway, url, signIn, find, byKey, browse } = await start(t)
  const made = await gateway.createAccount({ email: 'victim@example.com' })
  await givePassword(t, gateway, made.account.id)
  const browser = browse()
  const asked = await signIn(browser)
  const [, signInPath = ''] = /href="([^"]*)">sign in with it once/.exec(asked.text) ?? []
  const form = await browser.get(url + signInPath)
  const [, next = ''] = /name="next" value="([^"]*)"/.exec(form.text) ?? []
  const fields = { csrf: csrfOf(form), next, email: 'victim@example.com', password }
  const signedIn = await browser.post(`${url}/portal/sign-in`, fields)
  t.equal(signedIn.next, `${url}/portal/confirm`)
  t.match(await signIn(browser, signedIn.next), { status: 200 })
  const { portal } = await find(made)
  t.ok(portal.password)
  t.match(portal.identities[0], { subject: 'victim' })
  t.equal(await byKey(made), 200)
  t.match((await signIn(browse())).text, 'Integration')
})

t.test('an account that nobody has used is linked at once, and its links end', async (t) => {
  const { gateway, signIn, find, byKey, browse } = await start(t)
  const made = await gateway.createAccount({ email: 'victim@example.com', isVerified: false })
  await gateway.operate(({ setupLinks }) => setupLinks.create(made.account.id))
  t.match((await signIn(browse())).text, 'Integration')
  t.match(await find(made), { portal: { identities: [{ subject: 'victim' }], setupLink: undefined } })
  t.equal(await byKey(made), 200, 'programs that have its keys go on')
})

t.test('without passwords a used account can be taken over', async (t) => {
  const { gateway, signIn, browse } = await start(t, { passwords: false })
  const { account } = await gateway.createAccount({ email: 'victim@example.com' })
  const set = { password: 'hash', proof: undefined, endsSessions: true }
  await gateway.operate(({ store }) => store.setPassword(account.id, set))
  const asked = await signIn(browse())
  t.match(asked.text, 'Take it over:')
  t.notMatch(asked.text, 'sign in with it once')
})

t.test('the session of an account links nobody with another e-mail', async (t) => {
  const { gateway, url, provider, find, browse } = await start(t)
  const made = await gateway.createAccount({ email: 'victim@example.com' })
  await givePassword(t, gateway, made.account.id)
  provider.people.set('eve', { email: 'eve@example.com', email_verified: true })
  provider.people.set('mallory', { email: 'victim@example.com', email_verified: false })
  for (const login of ['eve', 'mallory']) {
    const browser = browse()
    const form = await browser.get(`${url}/portal/sign-in`)
    const fields = { csrf: csrfOf(form), next: '', email: 'victim@example.com', password }
    await browser.post(`${url}/portal/sign-in`, fields)
    const back = await browser.get(await browser.toCallback(`${url}/portal/confirm`, provider, login))
    t.equal(back.status, 403, login)
  }
  t.equal((await find(made)).portal.identities.length, 0)
})
