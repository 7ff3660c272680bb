import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { tempFolder } from '../cli/run.ts'
import { startGateway, type TestGateway } from '../setup/gateway.ts'
import { clientId, clientSecret, type OpenIdProvider, startOpenIdProvider } from '../setup/openid-provider.ts'
import { openPlainBrowser, type PlainBrowser } from './support/plain-browser.ts'

const publicUrl = 'http://portal.test'

interface Both {
  readonly gateway: TestGateway
  /** The provider that was there first, without a name. */
  readonly first: OpenIdProvider
  readonly corp: OpenIdProvider
  browse(): PlainBrowser
  /** Signs in there. @returns where the gateway leads then, or the page that says why not */
  signIn(browser: PlainBrowser, at: 'first' | 'corp', login: string): ReturnType<PlainBrowser['get']>
  startUrl(at: 'first' | 'corp'): string
}

/** A gateway with two real providers. @param more options of the second one */
async function startBothProviders(t: Test, more: object = {}): Promise<Both> {
  const [first, corp] = [await startOpenIdProvider(t), await startOpenIdProvider(t, 'localhost')]
  const secretFile = join(tempFolder(t), 'client-secret')
  writeFileSync(secretFile, clientSecret)
  const client = { clientId, clientSecret: { file: secretFile } }
  const oidc = [
    { ...client, issuer: first.url, label: 'Example ID' },
    { ...client, issuer: corp.url, label: 'Corp', name: 'corp', ...more },
  ]
  const gateway = await startGateway(t, { config: { publicUrl, portal: { oidc } } })
  const { url } = gateway
  const browse = () => openPlainBrowser({ url, publicUrl })
  const startUrl: Both['startUrl'] = (at) =>
    `${url}/portal/sign-in/oidc${at === 'corp' ? '?provider=corp' : ''}`
  const signIn: Both['signIn'] = async (browser, at, login) => {
    const provider = at === 'corp' ? corp : first
    return browser.get(await browser.toCallback(startUrl(at), provider, login))
  }
  return { gateway, first, corp, browse, startUrl, signIn }
}

const isTokenRequest = (request: string) => request === 'POST /token'

async function whoIs(browser: PlainBrowser, url: string): Promise<string | undefined> {
  const { text } = await browser.get(`${url}/portal/profile`)
  return /<span class="muted">([^<]+)<\/span>/.exec(text)?.[1]
}

t.test('each provider has a button and a callback of its own', async (t) => {
  const { gateway, browse, startUrl } = await startBothProviders(t)
  const browser = browse()
  const { text } = await browser.get(`${gateway.url}/portal/sign-in?next=/usage`)
  t.match(text, 'href="/portal/sign-in/oidc?next=%2Fusage">Sign in with Example ID</a>')
  t.match(text, 'href="/portal/sign-in/oidc?provider=corp&amp;next=%2Fusage">Sign in with Corp</a>')
  const callbackOf = async (at: 'first' | 'corp') =>
    new URL((await browser.get(startUrl(at))).next ?? '').searchParams.get('redirect_uri')
  t.equal(
    await callbackOf('first'),
    `${publicUrl}/portal/sign-in/oidc/callback`,
    'as when it was the only one',
  )
  t.equal(await callbackOf('corp'), `${publicUrl}/portal/sign-in/oidc/callback/corp`)
  for (const path of ['sign-in/oidc?provider=nobody', 'sign-in/oidc?provider=__proto__'])
    t.equal((await browser.get(`${gateway.url}/portal/${path}`)).status, 404, path)
  t.equal((await browser.get(`${gateway.url}/portal/sign-in/oidc/callback/nobody?state=x`)).status, 403)
})

t.test('an account has one owner at each provider, who is known by issuer and sub', async (t) => {
  const { gateway, first, corp, browse, signIn } = await startBothProviders(t)
  const { url } = gateway
  first.people.set('ada', { email: 'ada@example.com', email_verified: true })
  corp.people.set('a.lovelace', { email: 'Ada@example.com', email_verified: true })
  const { account } = await gateway.createAccount({ email: 'ada@example.com', isVerified: false })
  await gateway.createAccount({ email: 'bob@example.com' })
  for (const [at, login] of [
    ['first', 'ada'],
    ['corp', 'a.lovelace'],
    ['first', 'ada'],
  ] as const) {
    const browser = browse()
    t.match(await signIn(browser, at, login), { status: 200, next: `${url}/portal/integration` })
    t.equal(await whoIs(browser, url), 'ada@example.com', at)
  }
  const { portal } = await gateway.operate(({ accounts }) => accounts.get(account.id))
  t.strictSame(portal.identities, [
    { issuer: first.url, subject: 'ada' },
    { issuer: corp.url, subject: 'a.lovelace' },
  ])

  // The same `sub` at another provider is somebody else.
  corp.people.set('ada', { email: 'bob@example.com', email_verified: true })
  const bob = browse()
  t.equal((await signIn(bob, 'corp', 'ada')).status, 200)
  t.equal(await whoIs(bob, url), 'bob@example.com')

  // Whoever is given the e-mail of somebody else at one provider does not get the account by signing in there.
  for (const [at, provider] of [
    ['first', first],
    ['corp', corp],
  ] as const) {
    provider.people.set('heir', { email: 'ada@example.com', email_verified: true })
    const refused = await signIn(browse(), at, 'heir')
    t.match(refused, { status: 403, text: /belongs to another user of (?:Example ID|Corp)/ }, at)
  }

  corp.people.set('unverified', { email: 'carol@example.com', email_verified: false })
  t.match(await signIn(browse(), 'corp', 'unverified'), { status: 403, text: /Corp has not verified/ })
})

t.test('what one provider answers never gets to another', async (t) => {
  const { gateway, first, corp, browse, startUrl } = await startBothProviders(t)
  const { url } = gateway
  first.people.set('ada', { email: 'ada@example.com', email_verified: true })
  corp.people.set('ada', { email: 'ada@example.com', email_verified: true })
  await gateway.createAccount({ email: 'ada@example.com' })
  const asked = () => [...first.requests, ...corp.requests].filter(isTokenRequest).length

  async function isRefused(browser: PlainBrowser, callback: string, name: string) {
    t.match(await browser.get(callback), { status: 403, next: undefined }, name)
    t.equal(asked(), 0, `${name}: no code is sent anywhere`)
    t.equal((await browser.get(`${url}/portal/usage`)).status, 303, `${name}: nobody is signed in`)
  }

  for (const [at, provider, there] of [
    ['first', first, '/callback/corp'],
    ['corp', corp, '/callback'],
  ] as const) {
    const browser = browse()
    const callback = new URL(await browser.toCallback(startUrl(at), provider, 'ada'))
    const moved = callback.href.replace(/\/callback(?:\/corp)?(?=\?)/, there)
    await isRefused(browser, moved, `begun at ${at}, back at ${there}`)
    await isRefused(browser, callback.href, 'nor afterwards, as it is used up')
  }

  // A provider leads its visitors on to the other one, with the state that it was given.
  const browser = browse()
  const begun = new URL((await browser.get(startUrl('corp'))).next ?? '')
  const led = new URL((await browse().get(startUrl('first'))).next ?? '')
  for (const name of ['state', 'nonce', 'code_challenge'])
    led.searchParams.set(name, begun.searchParams.get(name) ?? '')
  await isRefused(browser, await browser.toCallback(led.href, first, 'ada'), 'led on to the other')
  led.searchParams.set('redirect_uri', begun.searchParams.get('redirect_uri') ?? '')
  const again = browse()
  const other = new URL((await again.get(startUrl('corp'))).next ?? '')
  for (const name of ['state', 'nonce', 'code_challenge'])
    led.searchParams.set(name, other.searchParams.get(name) ?? '')
  const answer = new URL(await again.toCallback(led.href, first, 'ada'))
  t.equal(answer.searchParams.get('iss'), first.url)
  t.equal(answer.pathname, '/portal/sign-in/oidc/callback/corp')
  await isRefused(again, answer.href, 'with the issuer of the other (RFC 9207)')
})

t.test('while one provider is down people sign in at the other', async (t) => {
  const { gateway, first, corp, browse, signIn, startUrl } = await startBothProviders(t)
  corp.people.set('ada', { email: 'ada@example.com', email_verified: true })
  first.people.set('ada', { email: 'ada@example.com', email_verified: true })
  await gateway.createAccount({ email: 'ada@example.com' })
  first.answer = (response) => response.destroy()
  const browser = browse()
  const down = await browser.get(startUrl('first'))
  t.match(down, { status: 503, text: /The sign-in service is not responding/ })
  t.match(down.text, 'href="/portal/sign-in">Back to sign-in')
  t.match((await browser.get(`${gateway.url}/portal/sign-in`)).text, 'Sign in with Example ID')
  t.equal((await signIn(browser, 'corp', 'ada')).status, 200)
  t.equal(await whoIs(browser, gateway.url), 'ada@example.com')
})

t.test('people confirm and sign out at the provider that they choose', async (t) => {
  const { gateway, first, corp, browse, signIn } = await startBothProviders(t)
  const { url } = gateway
  for (const { people } of [first, corp])
    people.set('ada', { email: 'ada@example.com', email_verified: true })
  await gateway.createAccount({ email: 'ada@example.com' })
  await signIn(browse(), 'first', 'ada')
  const browser = browse()
  await signIn(browser, 'corp', 'ada')
  const integration = await browser.get(`${url}/portal/integration`)
  const links = [...integration.text.matchAll(/href="(\/portal\/confirm[^"]*)">confirm with ([^<]+)</g)]
  t.strictSame(
    [...new Set(links.map(([, href, label]) => `${label} ${href?.replaceAll('&amp;', '&')}`))],
    [
      'Example ID /portal/confirm?next=%2Fintegration',
      'Corp /portal/confirm?provider=corp&next=%2Fintegration',
    ],
  )
  const csrf = /name="csrf" value="([^"]+)"/.exec(integration.text)?.[1] ?? ''
  const reveal = await browser.post(
    `${url}/portal/integration/secret-key/reveal`,
    { csrf },
    'application/json',
  )
  t.match(JSON.parse(reveal.text), { errors: [{ message: /First confirm with Example ID or Corp/ }] })
  for (const key of browser.cookies.keys()) if (!key.includes('/portal')) browser.cookies.delete(key)
  const confirm = `${url}/portal/confirm?provider=corp&next=/integration`
  t.match(await browser.get(await browser.toCallback(confirm, corp, 'ada')), { status: 200 })
  t.match((await browser.get(`${url}/portal/integration`)).text, 'You have just confirmed that it is you.')

  const left = await browser.post(`${url}/portal/sign-out`, { csrf })
  const logout = new URL(left.next ?? '')
  t.equal(logout.origin, new URL(corp.url).origin, 'the session began there')
  t.match(logout.searchParams.get('id_token_hint'), /^eyJ/)
})

t.test('who takes an account over keeps to the provider that asked', async (t) => {
  const { gateway, corp, browse, signIn } = await startBothProviders(t)
  const { url } = gateway
  corp.people.set('ada', { email: 'ada@example.com', email_verified: true })
  const { account } = await gateway.createAccount({ email: 'ada@example.com', isVerified: false })
  const set = { password: 'hash', proof: undefined, endsSessions: true }
  await gateway.operate(({ store }) => store.setPassword(account.id, set))
  const browser = browse()
  const { next = '' } = await signIn(browser, 'corp', 'ada')
  t.equal(next, `${url}/portal/sign-in/take-over`)
  const { text } = await browser.get(next)
  t.match(text, 'has been used without Corp before')
  t.match(text, 'href="/portal/sign-in?next=%2Fconfirm%3Fprovider%3Dcorp"')
  const csrf = /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? ''
  t.equal((await browser.post(next, { csrf })).status, 303)
  t.equal(await whoIs(browser, url), 'ada@example.com')
  const { portal } = await gateway.operate(({ accounts }) => accounts.get(account.id))
  t.strictSame(portal.identities, [{ issuer: corp.url, subject: 'ada' }])
})

t.test('roles of new accounts are those of the provider, and passwords are refused for all', async (t) => {
  const { gateway, first, corp, browse, signIn } = await startBothProviders(t, {
    provision: 'Reader',
    passwords: false,
  })
  for (const { people } of [first, corp])
    people.set('eve', { email: 'eve@example.com', email_verified: true })
  t.match(await signIn(browse(), 'first', 'eve'), { status: 403, text: /no account with your e-mail/ })
  t.equal((await signIn(browse(), 'corp', 'eve')).status, 200)
  const account = await gateway.operate(({ accounts }) => accounts.get('eve@example.com'))
  t.equal(account.role, 'Reader')
  const page = await browse().get(`${gateway.url}/portal/sign-in`)
  t.notMatch(page.text, 'name="password"')
  t.match(page.text, /Example ID[\s\S]*Corp/)
})
