import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeJwt, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose'
import t from 'tap'
import type { AuditAction } from '#store/audit-entry.ts'
import { tempFolder } from '../cli/run.ts'
import { startBackend } from '../setup/backend.ts'
import { startGateway, type TestGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { clientId, clientSecret, startOpenIdProvider } from '../setup/openid-provider.ts'
import { startRedis } from '../setup/redis.ts'
import { openPlainBrowser, type PlainBrowser } from './support/plain-browser.ts'

const publicUrl = 'http://portal.test'

t.test('people sign in at a real OpenID provider, and attacks on the way are refused', async (t) => {
  const provider = await startOpenIdProvider(t)
  const backend = await startBackend(t)
  const redis = await startRedis(t)
  const secretFile = join(tempFolder(t), 'client-secret')
  writeFileSync(secretFile, clientSecret)
  const oidc = { issuer: provider.url, clientId, clientSecret: { file: secretFile }, label: 'Example ID' }
  const instance = (more: object = {}) =>
    startGateway(t, {
      backend: backend.url,
      driver: 'redis',
      redis,
      config: { publicUrl, portal: { oidc: { ...oidc, ...more } }, tokens: { clockTolerance: '0s' } },
    })
  const [gateway, open] = [await instance(), await instance({ provision: 'Reader', passwords: false })]
  const { url } = gateway
  const browse = ({ url }: TestGateway = gateway) => openPlainBrowser({ url, publicUrl })
  const startUrl = (next = '', at = url) => `${at}/portal/sign-in/oidc?next=${encodeURIComponent(next)}`
  const audit = async (action: AuditAction) =>
    (
      await gateway.operate(({ store }) =>
        store.findAudit({ filter: { action, who: undefined }, before: undefined, limit: 100 }),
      )
    ).entries

  function ada() {
    return provider.people.set('ada', { email: 'Ada@Example.com', email_verified: true })
  }
  ada()
  const account = await gateway.createAccount({ email: 'ada@example.com', isVerified: false })
  const find = () => gateway.operate(({ accounts }) => accounts.get(account.account.id))

  /** Comes back from the provider. @returns where the gateway leads then, or the page that says why not */
  async function signIn(browser: PlainBrowser, login: string, next = '', at = url) {
    const callback = await browser.toCallback(startUrl(next, at), provider, login)
    return browser.get(callback)
  }

  t.test('a person with a verified e-mail signs in to the account, which is linked', async (t) => {
    const browser = browse()
    const page = await browser.get(`${url}/portal/sign-in?next=/usage`)
    t.match(page.text, 'href="/portal/sign-in/oidc?next=%2Fusage">Sign in with Example ID</a>')
    const back = await signIn(browser, 'ada', '/sessions?limit=3')
    t.match(back, { status: 200, next: `${url}/portal/sessions?limit=3` })
    t.match((await browser.get(`${url}/portal/profile`)).text, 'ada@example.com')
    t.match(await find(), {
      isVerified: true,
      portal: { identities: [{ issuer: provider.url, subject: 'ada' }] },
    })
    t.notOk(
      [...browser.cookies.keys()].some((name) => name.includes('gatehouse-sign-in')),
      'the cookie of the sign-in is gone',
    )
  })

  /** Who is signed in at the provider as one person cannot confirm as another without signing out there. */
  function forgetProvider({ cookies }: PlainBrowser) {
    for (const [key, { host }] of cookies) if (host === new URL(provider.url).host) cookies.delete(key)
  }

  t.test('what was changed on the way is refused, and signs nobody in', async (t) => {
    const authorize = async (browser: PlainBrowser) => {
      const { next = '' } = await browser.get(startUrl('/usage'))
      return new URL(next)
    }
    const asked = await authorize(browse())
    t.match(Object.fromEntries(asked.searchParams), {
      response_type: 'code',
      client_id: clientId,
      redirect_uri: `${publicUrl}/portal/sign-in/oidc/callback`,
      scope: 'openid email profile',
      code_challenge_method: 'S256',
      code_challenge: /^[\w-]{43}$/,
      state: /^[\w-]{43}$/,
      nonce: /^[\w-]{43}$/,
    })

    async function isRefused(browser: PlainBrowser, callback: string, name: string): Promise<string> {
      const page = await browser.get(callback)
      t.match(page, { status: 403, next: undefined }, name)
      t.match(page.text, 'href="/portal/sign-in">Back to sign-in', `${name}: the way out`)
      t.notOk(
        [...browser.cookies.keys()].some((key) => key.endsWith('gatehouse-portal')),
        `${name}: nobody is signed in`,
      )
      return page.text
    }
    /** A callback that differs from the right one, in the browser that it is for. */
    async function changed(name: string, change: (url: URL, browser: PlainBrowser) => void) {
      const browser = browse()
      const url = new URL(await browser.toCallback(startUrl(), provider, 'ada'))
      change(url, browser)
      return isRefused(browser, url.href, name)
    }
    /** An authorization request that differs from ours, as a person in the middle would send it. */
    async function asking(name: string, parameter: string, value: string) {
      const browser = browse()
      const url = await authorize(browser)
      url.searchParams.set(parameter, value)
      return isRefused(browser, await browser.toCallback(url.href, provider, 'ada'), name)
    }

    await changed('another state', ({ searchParams }) => searchParams.set('state', 'x'.repeat(43)))
    await changed('no state', ({ searchParams }) => searchParams.delete('state'))
    await changed('two states', ({ searchParams }) => searchParams.append('state', 'y'))
    await changed('another code', ({ searchParams }) => searchParams.set('code', 'x'.repeat(43)))
    await changed('no code', ({ searchParams }) => searchParams.delete('code'))
    await changed('another issuer', ({ searchParams }) => searchParams.set('iss', 'https://evil.example'))
    await changed('no issuer, of a provider that names it', ({ searchParams }) => searchParams.delete('iss'))
    t.match(
      await changed('no cookie', (_url, { cookies }) => cookies.clear()),
      'started in another browser, or more than 10 minutes ago',
    )
    await changed('a cookie with one bit changed', (_url, { cookies }) => {
      for (const [key, cookie] of cookies) {
        const bytes = Buffer.from(cookie.value, 'base64url')
        bytes[20] = (bytes[20] ?? 0) ^ 1
        if (cookie.path.includes('/sign-in'))
          cookies.set(key, { ...cookie, value: bytes.toString('base64url') })
      }
    })
    await asking('another nonce', 'nonce', 'x'.repeat(43))
    await asking('a challenge of another verifier', 'code_challenge', 'x'.repeat(43))
    t.match(await asking('a request that the provider refuses', 'max_age', '-1'), 'invalid_request')
    const declined = browse()
    const noCode = await declined.toCallback(startUrl(), provider, 'nobody')
    t.match(await isRefused(declined, noCode, 'a person who declines'), 'answered “access_denied”')

    // The code of one sign-in in that of another: login CSRF by an attacker who has both an account and a code.
    const [victim, attacker] = [browse(), browse()]
    const own = new URL(await victim.toCallback(startUrl(), provider, 'ada'))
    const foreign = new URL(await attacker.toCallback(startUrl(), provider, 'eve'))
    await isRefused(victim, foreign.href, 'the whole answer of another browser')
    own.searchParams.set('code', foreign.searchParams.get('code') ?? '')
    await isRefused(victim, own.href, 'the code of another browser')

    const replaying = browse()
    const callback = await replaying.toCallback(startUrl(), provider, 'ada')
    const before = new Map(replaying.cookies)
    t.equal((await replaying.get(callback)).status, 200)
    await isRefused(Object.assign(browse(), {}), callback, 'a callback again, elsewhere')
    const again = browse()
    for (const [key, cookie] of before) again.cookies.set(key, cookie)
    await isRefused(again, callback, 'a callback again, with its cookie: the provider takes a code once')
    for (const { text } of await Promise.all([again.get(`${url}/portal/sign-in/oidc/callback`)]))
      t.match(text, 'started in another browser', 'a callback without anything')
    t.equal((await again.post(callback, {})).status, 405)
  })

  t.test('an ID token that is not for this sign-in signs nobody in', async (t) => {
    const now = Math.floor(Date.now() / 1_000)
    const { privateKey: otherKey } = await generateKeyPair('ES256')
    const signed = (claims: JWTPayload, key: CryptoKey | Uint8Array = provider.signingKey, alg = 'ES256') =>
      new SignJWT(claims).setProtectedHeader({ alg, kid: 'only' }).sign(key)
    const forgeries: Readonly<
      Record<string, (claims: JWTPayload, token: string) => string | Promise<string>>
    > = {
      'another signature': (claims) => signed(claims, otherKey),
      'no signature': (_claims, token) => token.replace(/[^.]*$/, ''),
      'alg none': (claims) => new UnsecuredJWT(claims).encode(),
      'signed with the client secret': (claims) =>
        signed(claims, Buffer.from(clientSecret.repeat(2)), 'HS256'),
      'another issuer': (claims) => signed({ ...claims, iss: 'https://evil.example' }),
      'another audience': (claims) => signed({ ...claims, aud: 'other' }),
      'further audiences, for another party': (claims) =>
        signed({ ...claims, aud: [clientId, 'other'], azp: 'other' }),
      'another nonce': (claims) => signed({ ...claims, nonce: 'x'.repeat(43) }),
      'no nonce': ({ nonce: _, ...claims }) => signed(claims),
      expired: (claims) => signed({ ...claims, exp: now - 60 }),
      'no expiry': ({ exp: _, ...claims }) => signed(claims),
      'no subject': ({ sub: _, ...claims }) => signed(claims),
      'a subject that is no text': (claims) => signed({ ...claims, sub: 7 as never }),
      'another subject than at the userinfo endpoint': (claims) => signed({ ...claims, sub: 'eve' }),
      'no token': () => 'x',
    }
    t.teardown(() => {
      provider.forge = undefined
    })
    for (const [name, forge] of Object.entries(forgeries)) {
      provider.forge = async (token) => forge(decodeJwt(token), token)
      const browser = browse()
      const page = await signIn(browser, 'ada')
      t.match(page, { status: 403, next: undefined }, name)
      t.notOk(
        [...browser.cookies.keys()].some((key) => key.endsWith('gatehouse-portal')),
        name,
      )
    }
    provider.forge = async (token) => signed(decodeJwt(token))
    t.equal((await signIn(browse(), 'ada')).status, 200, 'one that is signed anew, but right')
  })

  t.test('a sign-in leads only to pages of the portal', async (t) => {
    const hostile = [
      'https://evil.example/',
      '//evil.example',
      '/\\evil.example',
      '/../evil',
      '/%2e%2e/evil',
      '/usage/..//evil.example',
      '/nowhere',
      'javascript:alert(1)',
      `/usage?${'x'.repeat(1_330)}`,
      '/usage#"><script>',
      '/sign-out',
    ]
    for (const next of hostile) {
      const back = await signIn(browse(), 'ada', next)
      t.match(back, { status: 200, next: `${url}/portal/integration` }, next)
    }
    const signedIn = browse()
    await signIn(signedIn, 'ada')
    const atOnce = await signedIn.get(startUrl('/profile'))
    t.match(atOnce, { status: 303, next: `${url}/portal/profile` }, 'who is signed in need not do it again')
  })

  t.test('several tabs sign in at once, and cookies of them do not pile up', async (t) => {
    const browser = browse()
    const callbacks = []
    for (let tab = 0; tab < 3; tab++)
      callbacks.push(await browser.toCallback(startUrl('/usage'), provider, 'ada'))
    for (const callback of callbacks) t.equal((await browser.get(callback)).status, 200)
    const patient = browse()
    for (let tab = 0; tab < 20; tab++) await patient.get(startUrl(`/usage?${'x'.repeat(490)}`))
    const bytes = [...patient.cookies.values()]
      .filter(({ path }) => path === '/portal/sign-in')
      .map(({ value }) => value.length)
    t.equal(bytes.length, 3)
    t.ok(Math.max(...bytes) < 1_500, `${Math.max(...bytes)} bytes`)
  })

  t.test('only a verified e-mail leads to an account, and a link is for ever', async (t) => {
    const refusals = async () => (await audit('sign-in-failed')).map(({ details }) => details.reason)
    const victim = await gateway.createAccount({ email: 'victim@example.com' })
    const refused = async (login: string, text: string, name: string) => {
      const page = await signIn(browse(), login)
      t.equal(page.status, 403, name)
      t.match(page.text, text, name)
    }
    provider.people.set('eve', { email: 'victim@example.com', email_verified: false })
    await refused('eve', 'Example ID has not verified your e-mail address. Verify it there', 'unverified')
    provider.people.set('eve', { email: 'victim@example.com' })
    await refused('eve', 'has not verified', 'nothing is said of it')
    provider.people.set('eve', { email_verified: true })
    await refused('eve', 'did not share your e-mail address', 'no e-mail')
    provider.people.set('eve', { email: 'eve@example.com', email_verified: true })
    await refused('eve', 'There is no account with your e-mail address', 'no account')
    provider.people.set('eve', { email: 'ada@example.com', email_verified: true })
    await refused('eve', 'belongs to another user of Example ID', 'the account of somebody else there')

    // Ada's e-mail at the provider becomes that of another account: she stays who she was.
    provider.people.set('ada', { email: 'victim@example.com', email_verified: true })
    const browser = browse()
    await signIn(browser, 'ada')
    t.match((await browser.get(`${url}/portal/profile`)).text, 'ada@example.com')
    provider.people.set('ada', {})
    t.equal((await signIn(browse(), 'ada')).status, 200, 'nor does it matter what is said of it later')
    ada()
    t.match(await refusals(), [
      'linked-otherwise',
      'no-account',
      'no-email',
      'email-unverified',
      'email-unverified',
    ])
    t.match((await audit('sign-in-failed')).at(-1), {
      details: { issuer: provider.url, subject: 'eve', email: 'victim@example.com', address: '127.0.0.1' },
    })

    provider.people.set('mallory', { email: 'victim@example.com', email_verified: 'true' })
    await gateway.operate(({ accounts }) => accounts.update(victim.account.id, { isDisabled: true }))
    const disabled = await signIn(browse(), 'mallory')
    t.match(disabled, { status: 403 })
    t.match(disabled.text, 'disabled')
    t.equal((await refusals())[0], 'account-disabled')
    t.equal((await audit('identity-linked')).length, 1, 'a disabled account is not linked')
  })

  t.test('an instance that makes accounts and takes no passwords, for sign-ins of another', async (t) => {
    provider.people.set('bob', {
      email: 'bob@example.com',
      email_verified: true,
      given_name: 'Bob',
      family_name: 'x'.repeat(200),
    })
    const browser = browse()
    const callback = await browser.toCallback(startUrl('/usage'), provider, 'bob')
    const elsewhere = browse(open)
    for (const [key, cookie] of browser.cookies) {
      const host = new URL(open.url).host
      elsewhere.cookies.set(key, { ...cookie, host })
    }
    const back = await elsewhere.get(callback.replace(url, open.url))
    t.match(back, { status: 200, next: `${open.url}/portal/usage` })
    const made = await open.operate(({ accounts }) => accounts.get('bob@example.com'))
    t.match(made, { firstName: 'Bob', lastName: '', role: 'Reader', isVerified: true })
    const entries = await audit('account-created')
    t.match(entries[0], { target: { email: 'bob@example.com' }, details: { role: 'Reader' } })
    t.match((await audit('signed-in'))[0], { details: { issuer: provider.url, subject: 'bob' } })

    provider.people.set('root', { email: 'root@example.com', email_verified: true })
    await open.createAccount({ email: 'root@example.com', role: 'Admin' })
    const admin = browse(open)
    const rootCallback = await admin.toCallback(startUrl('', open.url), provider, 'root')
    t.equal((await admin.get(rootCallback.replace(url, open.url))).status, 200)
    const accountPage = (await admin.get(`${open.url}/portal/accounts/${made.id}`)).text
    t.match(accountPage, 'People sign in with Example ID.')
    t.match(accountPage, `${provider.url}: bob`)
    t.notMatch(accountPage, 'Set-up link')
    t.notMatch((await admin.get(`${open.url}/portal/profile`)).text, 'Current password')
    const newAccount = await admin.post(`${open.url}/portal/accounts/new`, {
      csrf: /name="csrf" value="([^"]+)"/.exec(accountPage)?.[1] ?? '',
      email: 'carl@example.com',
      role: 'User',
    })
    t.match(newAccount.text, 'Account created')
    t.notMatch(newAccount.text, /[Ss]et-up link/)

    const at = `${open.url}/portal`
    const page = await browse(open).get(`${at}/sign-in`)
    t.notMatch(page.text, 'name="password"')
    const stranger = browse(open)
    const csrf = /name="csrf" value="([^"]+)"/.exec((await stranger.get(`${at}/setup`)).text)?.[1] ?? ''
    for (const path of ['/sign-in', '/setup', '/setup/check', '/forgot']) {
      const fields = {
        csrf,
        email: 'bob@example.com',
        password: 'correct horse battery',
        again: 'correct horse battery',
      }
      const { status, text } = await stranger.post(at + path, fields)
      t.equal(status, 403, path)
      t.match(text, 'Passwords are not accepted here: sign in with Example ID', path)
    }
  })

  t.test('two sign-ins of a new person at once make one account', async (t) => {
    provider.people.set('dan', { email: 'dan@example.com', email_verified: true })
    const start = async () => {
      const browser = browse(open)
      return { browser, callback: await browser.toCallback(startUrl('', open.url), provider, 'dan') }
    }
    const pending = [await start(), await start(), await start()]
    const pages = await Promise.all(
      pending.map(({ browser, callback }) => browser.get(callback.replace(url, open.url))),
    )
    t.strictSame(
      pages.map(({ status }) => status),
      [200, 200, 200],
    )
    t.equal(
      (await audit('account-created')).filter(({ target }) => target?.email === 'dan@example.com').length,
      1,
    )
  })

  t.test(
    'keys are shown to a person without a password who authenticates at the provider again',
    async (t) => {
      const browser = browse()
      await signIn(browser, 'ada')
      const startedAt = Date.now()
      const integration = await browser.get(`${url}/portal/integration`)
      t.match(integration.text, 'confirm with Example ID</a>')
      t.notMatch(integration.text, 'autocomplete="current-password"')
      const csrf = /name="csrf" value="([^"]+)"/.exec(integration.text)?.[1] ?? ''
      const reveal = async (at = browser) => {
        const page = await at.post(
          `${url}/portal/integration/secret-key/reveal`,
          { csrf },
          'application/json',
        )
        return JSON.parse(page.text)
      }
      t.match(await reveal(), {
        code: 'request-invalid',
        errors: [{ message: /First confirm with Example ID/ }],
      })

      const confirmUrl = `${url}/portal/confirm?next=/integration`
      const { next = '' } = await browser.get(confirmUrl)
      const asked = new URL(next)
      t.match(Object.fromEntries(asked.searchParams), { max_age: '0', prompt: 'login' })

      // A browser at which somebody else sits takes out what asks for the password: the provider knows Ada still.
      await until('the sign-in is old', () => (Date.now() - startedAt > 2_500 ? true : undefined))
      for (const maxAge of [undefined, '100000']) {
        const url = new URL((await browser.get(confirmUrl)).next ?? '')
        for (const name of ['max_age', 'prompt']) url.searchParams.delete(name)
        if (maxAge !== undefined) url.searchParams.set('max_age', maxAge)
        const page = await browser.get(await browser.toCallback(url.href, provider, 'ada'))
        t.match(page, { status: 403, next: undefined }, `max_age ${maxAge}`)
        t.match(page.text, 'did not ask you to sign in again, or does not say when you did')
        t.match(await reveal(), { code: 'request-invalid' })
      }
      provider.people.set('carol', { email: 'carol@example.com', email_verified: true })
      await gateway.createAccount({ email: 'carol@example.com' })
      await signIn(browse(), 'carol')
      forgetProvider(browser)
      const other = await browser.get(await browser.toCallback(confirmUrl, provider, 'carol'))
      t.equal(other.status, 403)
      t.match(other.text, 'You confirmed as somebody else')
      t.match((await audit('sign-in-failed'))[0], {
        target: { email: 'ada@example.com' },
        details: { reason: 'another-person', subject: 'carol' },
      })
      t.match(await reveal(), { code: 'request-invalid' })

      forgetProvider(browser)
      const back = await browser.get(await browser.toCallback(confirmUrl, provider, 'ada'))
      t.match(back, { status: 200, next: `${url}/portal/integration` })
      t.match((await browser.get(back.next ?? '')).text, 'You have just confirmed that it is you.')
      t.match(await reveal(), { key: account.secretKey })

      const stolen = browse()
      await signIn(stolen, 'ada')
      const confirmed = [...browser.cookies].find(([key]) => key.endsWith('gatehouse-confirmed'))
      t.ok(confirmed)
      if (confirmed) stolen.cookies.set(...confirmed)
      const page = await stolen.get(`${url}/portal/integration`)
      const fresh = /name="csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? ''
      const of = await stolen.post(
        `${url}/portal/integration/secret-key/reveal`,
        { csrf: fresh },
        'application/json',
      )
      t.match(
        JSON.parse(of.text),
        { code: 'request-invalid' },
        'it counts for the session that it was got with',
      )
    },
  )

  t.test('a sign-out leads to the provider, and an Admin unlinks an account', async (t) => {
    const browser = browse()
    await signIn(browser, 'ada')
    const page = await browser.get(`${url}/portal/usage`)
    const csrf = /name="csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? ''
    const left = await browser.post(`${url}/portal/sign-out`, { csrf })
    t.equal(left.status, 200)
    const logout = new URL(left.next ?? '')
    t.equal(logout.origin + logout.pathname, `${provider.url}/session/end`)
    t.match(Object.fromEntries(logout.searchParams), {
      client_id: clientId,
      id_token_hint: /^eyJ/,
      post_logout_redirect_uri: `${publicUrl}/portal/sign-in`,
    })
    t.match(await browser.get(`${url}/portal/usage`), { status: 303 }, 'here it is over already')

    await signIn(browser, 'ada')
    t.equal((await browser.get(`${url}/portal/usage`)).status, 200)
    const { id } = account.account
    await gateway.operate(({ store }) => store.unlinkIdentities(id))
    t.match(await browser.get(`${url}/portal/usage`), { status: 303 }, 'its portal sessions have ended')
    provider.people.set('eve', { email: 'ada@example.com', email_verified: true })
    const heir = browse()
    const { next: takeOver = '' } = await signIn(heir, 'eve')
    t.equal(takeOver, `${url}/portal/sign-in/take-over`, 'the next with its e-mail is asked')
    const asked = /name="csrf" value="([^"]+)"/.exec((await heir.get(takeOver)).text)?.[1] ?? ''
    t.equal((await heir.post(takeOver, { csrf: asked })).status, 303, 'and then linked')
    t.equal((await signIn(browse(), 'ada')).status, 403)
  })

  t.test('a provider that does not answer holds nothing up', async (t) => {
    const fresh = await instance()
    const held: (() => void)[] = []
    provider.answer = (response) => held.push(() => response.writeHead(503).end())
    const browser = browse(fresh)
    const waiting = browser.get(startUrl('', fresh.url))
    await until('the provider is asked', () => held.length > 0 || undefined)
    t.equal((await browse(fresh).get(`${fresh.url}/portal/sign-in`)).status, 200)
    t.equal((await fetch(`${fresh.opsUrl}/readyz`)).status, 200)
    for (const release of held) release()
    const page = await waiting
    t.equal(page.status, 503)
    t.ok(page.headers.get('retry-after'))
    t.match(page.text, 'The sign-in service is not responding')
    t.match(page.text, 'href="/portal/sign-in">Back to sign-in')
    const asked = held.length
    t.equal((await browser.get(startUrl('', fresh.url))).status, 503)
    t.equal(held.length, asked, 'it is not asked again at once')
    provider.answer = undefined
    await until('it is asked again', async () =>
      (await browser.get(startUrl('', fresh.url))).status === 303 ? true : undefined,
    )
    const callback = await browser.toCallback(startUrl('', fresh.url), provider, 'eve')
    provider.answer = (response) => response.destroy()
    const lost = await browser.get(callback.replace(url, fresh.url))
    t.equal(lost.status, 503, 'nor does it matter when it goes')
    provider.answer = undefined
  })

  t.test(
    'a sign-in may take 10 minutes, a confirmation counts for 5, and callbacks are limited',
    async (t) => {
      let later = 0
      const instance = await startGateway(t, {
        clock: () => Date.now() + later,
        config: {
          publicUrl,
          portal: { oidc: { ...oidc, provision: 'User' } },
          tokens: { clockTolerance: '0s' },
        },
      })
      const browser = openPlainBrowser({ url: instance.url, publicUrl })
      const at = (start: string) => {
        forgetProvider(browser)
        return browser.toCallback(start, provider, 'eve')
      }
      const begin = startUrl('', instance.url)
      const slow = await at(begin)
      later += 600_000
      t.match(await browser.get(slow), { status: 403, text: /more than 10 minutes ago/ })
      const inTime = await at(begin)
      later += 595_000
      t.equal((await browser.get(inTime)).status, 200)

      t.equal((await browser.get(await at(`${instance.url}/portal/confirm`))).status, 200)
      const isConfirmed = async () =>
        (await browser.get(`${instance.url}/portal/integration`)).text.includes('You have just confirmed')
      later += 290_000
      t.equal(await isConfirmed(), true)
      later += 10_000
      t.equal(await isConfirmed(), false)

      const { cookies } = browser
      for (const key of cookies.keys()) if (key.endsWith('gatehouse-portal')) cookies.delete(key)
      const { next = '' } = await browser.get(begin)
      const kept = new Map(cookies)
      const state = new URL(next).searchParams.get('state')
      const statuses = new Set<number>()
      for (let count = 0; count < 200 && !statuses.has(429); count++) {
        for (const [key, cookie] of kept) cookies.set(key, cookie)
        const page = await browser.get(`${instance.url}/portal/sign-in/oidc/callback?state=${state}`)
        statuses.add(page.status)
      }
      t.strictSame([...statuses], [403, 429], 'each that comes back could make the gateway ask the provider')
    },
  )

  t.test('no secret of a sign-in is in the log', async (t) => {
    const log = [...gateway.logLines, ...open.logLines].join('')
    t.notMatch(log, /eyJ|code=|state=|gatehouse-secret/)
    t.match(log, '/portal/sign-in/oidc/callback')
    t.match(log, 'email-unverified')
  })
})
